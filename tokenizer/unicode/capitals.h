// Finds words in capitals, and changes the case of letters as a language does.
#ifndef NIBU_TOKENIZER_UNICODE_CAPITALS_H_
#define NIBU_TOKENIZER_UNICODE_CAPITALS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "tokenizer/unicode/text_span.h"

namespace nibu::internal {

// Return a text in lower case or in capitals, by the rules of a language: Turkish writes i as İ. An
// empty language stands for the rules that hold for all others. Bytes that are not UTF-8 become
// U+FFFD.
std::string ToLower(absl::string_view text, const std::string& language = "");
std::string ToUpper(absl::string_view text, const std::string& language);

// Returns the words of a text, which are runs of letters and marks, that are written in capitals.
std::vector<TextSpan> CapitalWords(absl::string_view text);

// Returns whether a text has letters in lower case.
bool HasSmallLetters(absl::string_view text);

}  // namespace nibu::internal

#endif  // NIBU_TOKENIZER_UNICODE_CAPITALS_H_
