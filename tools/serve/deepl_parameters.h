// Reads parameters as DeepL does, with its errors. Only DeepL's own files include this one.
#ifndef NIBU_TOOLS_SERVE_DEEPL_PARAMETERS_H_
#define NIBU_TOOLS_SERVE_DEEPL_PARAMETERS_H_

#include <string>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "nlohmann/json.hpp"
#include "tools/serve/parameters.h"
#include "tools/text/model/catalog.h"

namespace nibu::internal {

inline absl::Status OddValue(absl::string_view name) {
  return Invalid("Value for '", name, "' not supported.");
}

// Returns a parameter as text, or "" if it is missing. Booleans are "1" and "0".
inline absl::StatusOr<std::string> TextOf(const Parameters& parameters, const char* name) {
  const nlohmann::json* const value = parameters.Find(name);
  if (value == nullptr || value->is_null()) return "";
  if (value->is_boolean()) return value->get<bool>() ? "1" : "0";
  if (value->is_number_integer()) return value->dump();
  if (!value->is_string()) return OddValue(name);
  return value->get<std::string>();
}

// Checks that a parameter is missing or one of these words.
inline absl::StatusOr<std::string> WordOf(const Parameters& parameters, const char* name,
                                          absl::Span<const absl::string_view> words) {
  NIBU_ASSIGN_OR_RETURN(std::string word, TextOf(parameters, name));
  if (word.empty() || absl::c_linear_search(words, absl::AsciiStrToLower(word))) {
    return absl::AsciiStrToLower(word);
  }
  return OddValue(name);
}

inline absl::StatusOr<bool> FlagOf(const Parameters& parameters, const char* name) {
  NIBU_ASSIGN_OR_RETURN(const std::string word,
                        WordOf(parameters, name, {"0", "1", "true", "false"}));
  return word == "1" || word == "true";
}

// Returns the language of a parameter, which may have a region, as in "EN-GB".
inline absl::StatusOr<std::string> LanguageOf(const Parameters& parameters, const char* name,
                                              const Catalog& catalog) {
  NIBU_ASSIGN_OR_RETURN(const std::string code, TextOf(parameters, name));
  const ServedLanguage* const language = catalog.FindLanguage(absl::AsciiStrToLower(code));
  if (language == nullptr) return OddValue(name);
  return language->code;
}

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_SERVE_DEEPL_PARAMETERS_H_
