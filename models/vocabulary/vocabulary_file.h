// Vocabularies as lists of tokens, and SentencePiece models.
#ifndef NIBU_MODELS_VOCABULARY_VOCABULARY_FILE_H_
#define NIBU_MODELS_VOCABULARY_VOCABULARY_FILE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "models/assembly/opened_model.h"
#include "models/files/folder.h"
#include "nlohmann/json.hpp"

namespace nibu::internal {

// "FILE: FOUND tokens, expected EXPECTED, the size in WHERE; ..."
absl::Status WrongVocabularySize(const std::string& file, size_t found, int expected,
                                 absl::string_view where);

// The tokens of {token: id} in the order of their ids. InvalidArgument unless these are 0 ... size
// - 1, each once. `where` says in messages what the size comes from.
absl::StatusOr<std::vector<std::string>> TokensById(const nlohmann::json& json,
                                                    const std::string& file, int size,
                                                    absl::string_view where);

// The id of a token that `file` must have.
absl::StatusOr<int> FindToken(const std::vector<std::string>& tokens, const std::string& token,
                              const std::string& file);

// Returns whether there are tokens such as ">>de<<", with which OPUS-MT models of several target
// languages are told theirs.
bool HasLanguageTokens(const std::vector<std::string>& tokens);

// The pieces of a SentencePiece model in the order of their ids, without SentencePiece. The file is
// a protocol buffer (engine/core/wire_format.h), ModelProto. Field 1, repeated, is a piece: field 1
// its text, 2 its score, 3 its type (1 normal, 2 unknown, 3 control, ...). The n-th piece has id n.
// https://github.com/google/sentencepiece/blob/master/src/sentencepiece_model.proto
// InvalidArgument naming `file` for anything else.
absl::StatusOr<std::vector<std::string>> ReadSentencePieces(absl::string_view bytes,
                                                            const std::string& file);

// Copies the SentencePiece models of a folder, which have these names, into the vocabulary.
// Returns false, and changes nothing, if one of them is not there.
absl::StatusOr<bool> TakeSentencePieces(const Folder& folder, const char* source,
                                        const char* target, ModelVocabulary* vocabulary);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_VOCABULARY_VOCABULARY_FILE_H_
