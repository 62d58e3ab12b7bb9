#include "models/vocabulary/vocabulary_file.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "models/files/errors.h"

namespace nibu {

absl::Status WrongVocabularySize(const std::string& file, size_t found, int expected,
                                 absl::string_view where) {
  return Invalid(file, ": ", found, " tokens, expected ", expected, ", the size in ", where,
                 "; vocabulary and model do not belong together");
}

absl::StatusOr<std::vector<std::string>> TokensById(const nlohmann::json& json,
                                                    const std::string& file, int size,
                                                    absl::string_view where) {
  if (!json.is_object()) {
    return Invalid(file, ": not an object of token: id");
  }
  if (size < 0 || json.size() != static_cast<size_t>(size)) {
    return WrongVocabularySize(file, json.size(), size, where);
  }
  std::vector<std::string> tokens(static_cast<size_t>(size));
  std::vector<bool> seen(static_cast<size_t>(size), false);
  for (const auto& [token, id] : json.items()) {
    if (!id.is_number_integer() || id < 0 || id >= size) {
      return Invalid(file, ": the id of token \"", token, "\" is not a number from 0 to ",
                     size - 1);
    }
    const auto i = id.get<size_t>();
    if (seen[i]) {
      return Invalid(file, ": id ", i, " belongs to both \"", tokens[i], "\" and \"", token, "\"");
    }
    seen[i] = true;
    tokens[i] = token;
  }
  return tokens;
}

absl::StatusOr<int> FindToken(const std::vector<std::string>& tokens, const std::string& token,
                              const std::string& file) {
  const auto it = std::find(tokens.begin(), tokens.end(), token);
  if (it == tokens.end()) {
    return Invalid(file, ": the token \"", token, "\" is missing");
  }
  return static_cast<int>(it - tokens.begin());
}

}  // namespace nibu
