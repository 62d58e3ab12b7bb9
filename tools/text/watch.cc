#include "tools/text/watch.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "tokenizer/text_measure.h"

namespace nibu {
namespace {

using Number = TextMeasure::Number;

struct Size {
  double tokens;
  double characters;
};

// Lengths of sentences scatter with the root of the length (Gale and Church 1993): how many roots a
// target may be off. Measured by WatchTest.
constexpr Size kShort = {1.85, 3.3};
constexpr Size kShortOfSentences = {0.1, 0.4};  // where fewer sentences end than in the source
constexpr Size kLong = {2.2, 3.5};
constexpr Size kLongSlack = {4, 20};  // "Hi." may become a sentence

bool IsShort(const Size& source, const Size& target, const Size& roots) {
  return target.tokens < source.tokens - roots.tokens * std::sqrt(source.tokens) &&
         target.characters < source.characters - roots.characters * std::sqrt(source.characters);
}

bool IsLong(const Size& source, const Size& target) {
  const auto most = [](double length, double roots, double slack) {
    return length + roots * std::sqrt(length + slack);
  };
  return target.tokens > most(source.tokens, kLong.tokens, kLongSlack.tokens) &&
         target.characters > most(source.characters, kLong.characters, kLongSlack.characters);
}

// May well be a word on the other side.
bool IsSaid(const Number& number) {
  const std::string& digits = number.digits;
  return number.alone &&
         (digits.size() == 1 || (digits.size() == 2 && (digits <= "12" || digits[1] == '0')));
}

// How often there is each digit, however they are grouped: 1,000 or 1 000, month or day first.
std::array<size_t, 10> Digits(const std::vector<Number>& numbers, bool without_said) {
  std::array<size_t, 10> count{};
  for (const Number& number : numbers) {
    if (without_said && IsSaid(number)) continue;
    for (const char digit : number.digits) ++count[static_cast<size_t>(digit - '0')];
  }
  return count;
}

bool SameNumbers(std::vector<Number> source, std::vector<Number> target) {
  std::sort(source.begin(), source.end());
  std::sort(target.begin(), target.end());
  std::vector<Number> lost;
  std::vector<Number> added;
  std::set_difference(source.begin(), source.end(), target.begin(), target.end(),
                      std::back_inserter(lost));
  std::set_difference(target.begin(), target.end(), source.begin(), source.end(),
                      std::back_inserter(added));
  return Digits(lost, false) == Digits(added, false) ||
         Digits(lost, true) == Digits(added, false) || Digits(lost, false) == Digits(added, true);
}

}  // namespace

std::vector<std::string> WarningNames(const Warnings& warnings) {
  std::vector<std::string> names;
  for (size_t i = 0; i < warnings.size(); ++i) {
    if (warnings[i]) names.emplace_back(kWarningNames[i]);
  }
  return names;
}

std::string RoughText(absl::Span<const std::string> pieces, bool tokenized) {
  if (tokenized) return absl::StrJoin(pieces, " ");
  std::string text;
  for (const std::string& piece : pieces) {
    if (!absl::StartsWith(piece, "<0x")) text += piece;
  }
  absl::StrReplaceAll({{"\u2581", " "}}, &text);
  return text.substr(absl::StartsWith(text, " ") ? 1 : 0);
}

Warnings Watch(absl::string_view source, float expected_tokens, absl::string_view target,
               const Hypothesis& hypothesis) {
  const TextMeasure from = Measure(source);
  const TextMeasure to = Measure(target);
  const Size of = {expected_tokens, from.characters};
  const Size size = {static_cast<double>(hypothesis.tokens.size()), to.characters};
  const bool ends_less = to.sentence_ends > 0 && to.sentence_ends < from.sentence_ends;
  Warnings warnings;
  warnings.set(Warning::kShort, target.empty() || IsShort(of, size, kShort) ||
                                    (ends_less && IsShort(of, size, kShortOfSentences)));
  warnings.set(Warning::kLong, IsLong(of, size));
  warnings.set(Warning::kRepetition, hypothesis.repetition);
  warnings.set(Warning::kUnfinished, !hypothesis.finished);
  warnings.set(Warning::kNumbers, !SameNumbers(from.numbers, to.numbers));
  return warnings;
}

bool HasEachOnce(absl::Span<const std::string> parts, absl::string_view text) {
  return std::all_of(parts.begin(), parts.end(), [&](const std::string& part) {
    auto missing = std::count(parts.begin(), parts.end(), part);
    for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) {
      --missing;
    }
    return missing == 0;
  });
}

}  // namespace nibu
