// Reads the tokens that were added to a SentencePiece model's own, as transformers saves them:
//
//   tokenizer.json           "added_tokens": [{"id": 32100, "content": "{", "special": false,
//                            "lstrip": false, "rstrip": false, "single_word": false,
//                            "normalized": true}, ...]
//   tokenizer_config.json    "added_tokens_decoder": {"32100": {"content": "{", ...}, ...}
//   added_tokens.json        {"{": 32100, ...}; older tokenizers have this file alone
//   special_tokens_map.json  "additional_special_tokens": ["<term>", ...]; those are special
//
// https://huggingface.co/docs/tokenizers/api/added-tokens
#ifndef NIBU_MODELS_VOCABULARY_ADDED_TOKENS_H_
#define NIBU_MODELS_VOCABULARY_ADDED_TOKENS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/assembly/opened_model.h"
#include "models/files/json.h"
#include "nlohmann/json.hpp"

namespace nibu::internal {

// A token of one of the files above.
struct ListedToken {
  std::string file;
  std::string text;
  AddedToken rules;  // with its id, which need not be in the vocabulary
};

// Returns the text of a token, which is written as "</s>" or {"content": "</s>", ...}; null for
// anything else.
const std::string* TokenContent(const nlohmann::json& token);

// Returns all tokens that the files list, in the order of the files above, so that a token may be
// there several times. InvalidArgument naming file and key: it is not as described above.
absl::StatusOr<std::vector<ListedToken>> ReadAddedTokens(const std::string& directory);

// Returns the tokens of the field "added_tokens_decoder", if there is one.
absl::StatusOr<std::vector<ListedToken>> ReadAddedTokensDecoder(const ConfigFile& config);

// Returns the value of "added_tokens_decoder" for a vocabulary's added tokens.
nlohmann::json AddedTokensDecoder(const ModelVocabulary& vocabulary);

// Adds the tokens that the files of a Hugging Face directory, or one converted from it, list to the
// vocabulary: it gets their names where it has none for their ids, and they are generated like
// others. Left out are those that frame a text (<s>, </s>, <pad>, <unk>, and languages), which no
// text should be able to contain, and those that the vocabulary has under other names or not at
// all.
absl::Status AddTokensOfFiles(const std::string& directory, OpenedModel* model);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_VOCABULARY_ADDED_TOKENS_H_
