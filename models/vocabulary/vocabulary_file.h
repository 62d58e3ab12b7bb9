// Reads vocabularies as lists of tokens, and the pieces of SentencePiece models.
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

// Returns the error "FILE: FOUND tokens, expected EXPECTED, the size in WHERE; ...".
absl::Status WrongVocabularySize(const std::string& file, size_t found, int expected,
                                 absl::string_view where);

// Returns the name of an id that has no token.
std::string UnusedToken(size_t id);

// Returns the tokens of an object {token: id} in the order of their ids. InvalidArgument unless the
// ids are 0 ... size - 1, each once; if the vocabulary `may_be_padded`, the last ones may be
// missing, whose tokens are UnusedToken's. `where` names the origin of the size in messages.
absl::StatusOr<std::vector<std::string>> TokensById(const nlohmann::json& json,
                                                    const std::string& file, int size,
                                                    absl::string_view where,
                                                    bool may_be_padded = false);

// Returns the tokens of a text with a token a line, in their order. InvalidArgument naming file and
// line: a line is empty, or a token is there twice.
absl::StatusOr<std::vector<std::string>> ReadTokenLines(absl::string_view text,
                                                        const std::string& file);

// Returns the id of a token. InvalidArgument naming `file`: it is not among `tokens`.
absl::StatusOr<int> FindToken(const std::vector<std::string>& tokens, const std::string& token,
                              const std::string& file);

// Returns the languages of tokens such as ">>de<<" (OPUS-MT) and "<2de>" (MADLAD-400), which tell a
// model with several target languages which one to translate into, in the order of their codes.
std::vector<ModelLanguages::Language> LanguageTokens(const std::vector<std::string>& tokens);

// Returns the pieces of a SentencePiece model in the order of their ids, without SentencePiece. The
// file is the protocol buffer ModelProto (engine/core/wire_format.h). Its field 1, repeated, is a
// piece: field 1 is its text, 2 its score, 3 its type (1 normal, 2 unknown, 3 control, ...). The
// n-th piece, counted from 0, has id n.
// https://github.com/google/sentencepiece/blob/master/src/sentencepiece_model.proto
// InvalidArgument or Unimplemented naming `file`: it is no such model.
absl::StatusOr<std::vector<std::string>> ReadSentencePieces(absl::string_view bytes,
                                                            const std::string& file);

// Copies the SentencePiece models, or the merges of subword-nmt, with the names `source` and
// `target` from a folder into the vocabulary. Returns false, and changes nothing, if one of them is
// not there.
absl::StatusOr<bool> TakeSentencePieces(const Folder& folder, const char* source,
                                        const char* target, ModelVocabulary* vocabulary);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_VOCABULARY_VOCABULARY_FILE_H_
