// Vocabularies as lists of tokens.
#ifndef NIBU_MODELS_VOCABULARY_VOCABULARY_FILE_H_
#define NIBU_MODELS_VOCABULARY_VOCABULARY_FILE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"

namespace nibu {

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

}  // namespace nibu

#endif  // NIBU_MODELS_VOCABULARY_VOCABULARY_FILE_H_
