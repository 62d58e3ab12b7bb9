#include "tokenizer/language_token.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace nibu {

bool IsLanguageToken(absl::string_view token) {
  return token.size() > 4 && absl::StartsWith(token, ">>") && absl::EndsWith(token, "<<") &&
         token.find_first_of(" \t") == absl::string_view::npos;
}

std::string TakeLanguageToken(const Vocabulary& vocabulary, absl::string_view* text) {
  const absl::string_view line = absl::StripLeadingAsciiWhitespace(*text);
  if (!absl::StartsWith(line, ">>")) return "";
  const size_t end = line.find("<<");
  if (end == absl::string_view::npos) return "";
  const absl::string_view token = line.substr(0, end + 2);
  if (!IsLanguageToken(token) || !vocabulary.Contains(token)) return "";
  *text = absl::StripLeadingAsciiWhitespace(line.substr(end + 2));
  return std::string(token);
}

}  // namespace nibu
