// Compares the lengths, sentence ends and numbers of a sentence and its translation.
#include "tools/text/lines/translation_check.h"

#include <re2/re2.h>

#include <cmath>
#include <iterator>
#include <map>

#include "absl/algorithm/container.h"
#include "absl/base/macros.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "tokenizer/unicode/characters.h"
#include "tokenizer/unicode/text_measure.h"

namespace nibu::internal {
namespace {

using Number = TextMeasure::Number;

struct Size {
  double tokens;
  double characters;
};

// A target may be off by so many square roots of the expected length, since lengths of translations
// scatter with the root of the length (Gale and Church 1993). WarningsTest.Few* measures how many
// lines are warned of.
constexpr Size kShortSize = {1.85, 3.3};
constexpr Size kShortOfSentences = {0.1, 0.4};  // if fewer sentences end than in the source
constexpr Size kLong = {2.2, 3.5};
constexpr Size kLongSlack = {4, 20};  // "Hi." may become a sentence

// Returns whether both lengths of `size` exceed those of `other` by more than roots *
// sqrt(scattered).
bool IsGreater(const Size& size, const Size& other, const Size& roots, const Size& scattered) {
  return size.tokens - other.tokens > roots.tokens * std::sqrt(scattered.tokens) &&
         size.characters - other.characters > roots.characters * std::sqrt(scattered.characters);
}

// Returns whether a number is written as a word on the other side, whose text is `other`.
bool IsSaid(const Number& number, absl::string_view other, const NumberWords* words) {
  if (words != nullptr && words->AreKnown()) {
    return number.alone && words->Say(number.digits, other);
  }
  const std::string& digits = number.digits;
  return number.alone &&
         (digits.size() == 1 || (digits.size() == 2 && (digits <= "12" || digits[1] == '0')));
}

// Returns whether both sides have each digit equally often. So numbers may be grouped differently
// (1,000 or 1 000), and dates may begin with the month or the day. Digits of numbers that the other
// side writes as words may be missing there.
bool SameNumbers(absl::string_view source, const std::vector<Number>& source_numbers,
                 absl::string_view target, const std::vector<Number>& target_numbers,
                 const SaidNumbers& said) {
  std::map<Number, int> surplus;  // how much more often the source has a number; may be below 0
  for (const Number& number : source_numbers) ++surplus[number];
  for (const Number& number : target_numbers) --surplus[number];
  using Digits = std::array<int, 10>;
  Digits all{};
  Digits said_in_source{};
  Digits said_in_target{};
  for (const auto& [number, count] : surplus) {
    const bool is_said = count > 0   ? IsSaid(number, target, said.target)
                         : count < 0 ? IsSaid(number, source, said.source)
                                     : false;
    for (const char digit : number.digits) {
      const auto i = static_cast<size_t>(digit - '0');
      all[i] += count;
      if (is_said) (count > 0 ? said_in_target : said_in_source)[i] += count;
    }
  }
  return all == Digits{} || all == said_in_source || all == said_in_target;
}

// Returns whether the target has only currencies of the source, and some of them, in signs or in
// words. Either side may write all of them as words.
bool SameCurrencies(const std::vector<int32_t>& source, absl::string_view text,
                    const std::vector<int32_t>& target, const NumberWords* words) {
  const auto is_in_source = [&](int32_t sign) { return absl::c_linear_search(source, sign); };
  if (source.empty() || !absl::c_all_of(target, is_in_source)) return source.empty();
  return !target.empty() || words == nullptr || words->SayCurrency(source[0], text);
}

// Returns the text with its hours of the afternoon counted from midnight ("7:45 p.m.": "19:45"), as
// languages without "p.m." write them.
std::string WithoutAfternoons(absl::string_view text) {
  static const RE2& afternoon = *new RE2(R"(\b(\d{1,2})((?:[:.]\d\d)?)(\s?(?i:p\.?\s?m\b\.?)))");
  std::string counted;
  re2::StringPiece rest(text.data(), text.size());
  re2::StringPiece all[4];
  while (afternoon.Match(rest, 0, rest.size(), RE2::UNANCHORED, all, 4)) {
    int hour = 0;
    const bool is_hour = absl::SimpleAtoi(absl::string_view(all[1].data(), all[1].size()), &hour);
    counted.append(rest.data(), all[1].data());
    absl::StrAppend(&counted, is_hour && hour < 12 ? hour + 12 : hour);
    counted.append(all[2].data(), all[0].data() + all[0].size());
    rest.remove_prefix(all[0].data() + all[0].size() - rest.data());
  }
  return counted.append(rest.data(), rest.size());
}

bool HasSameNumbers(absl::string_view source, const TextMeasure& from, absl::string_view target,
                    const TextMeasure& to, const SaidNumbers& said) {
  if (!SameCurrencies(from.currencies, target, to.currencies, said.target)) return false;
  if (SameNumbers(source, from.numbers, target, to.numbers, said)) return true;
  const std::string counted = WithoutAfternoons(source);
  return counted != source &&
         SameNumbers(counted, Measure(counted).numbers, target, to.numbers, said);
}

// Returns how often a digit stands right behind a letter of a script with spaces.
int CountGluedDigits(absl::string_view text) {
  int count = 0;
  for (size_t i = 1; i < text.size(); ++i) {
    count += absl::ascii_isalpha(text[i - 1]) && absl::ascii_isdigit(text[i]) ? 1 : 0;
  }
  return count;
}

}  // namespace

bool HasSameNumbers(absl::string_view source, absl::string_view target, const SaidNumbers& said) {
  // A model may forget the space in front of a number: "bis30 Dollar".
  if (CountGluedDigits(target) > CountGluedDigits(source)) return false;
  return HasSameNumbers(source, Measure(source), target, Measure(target), said);
}

Warnings CheckTranslation(absl::string_view source, float expected_tokens, absl::string_view target,
                          const Hypothesis& hypothesis, const SaidNumbers& said) {
  const TextMeasure from = Measure(source);
  const TextMeasure to = Measure(target);
  const Size of = {expected_tokens, from.characters};
  const Size with_slack = {of.tokens + kLongSlack.tokens, of.characters + kLongSlack.characters};
  const Size size = {static_cast<double>(hypothesis.tokens.size()), to.characters};
  const bool ends_less = to.sentence_ends > 0 && to.sentence_ends < from.sentence_ends;
  Warnings warnings;
  warnings.set(Warning::kShort, target.empty() || IsGreater(of, size, kShortSize, of) ||
                                    (ends_less && IsGreater(of, size, kShortOfSentences, of)));
  warnings.set(Warning::kLong, IsGreater(size, of, kLong, with_slack));
  warnings.set(Warning::kRepetition, hypothesis.repetition);
  warnings.set(Warning::kUnfinished, !hypothesis.finished);
  warnings.set(Warning::kNumbers, !HasSameNumbers(source, from, target, to, said));
  return warnings;
}

bool HasEachOnce(absl::Span<const std::string> parts, absl::string_view text) {
  ABSL_ASSERT(!absl::c_linear_search(parts, ""));
  const std::string all = absl::StrJoin(parts, "\n");
  return absl::c_all_of(parts, [&](const std::string& part) {
    const std::vector<absl::string_view> around = absl::StrSplit(text, part);
    const std::vector<absl::string_view> wanted = absl::StrSplit(all, part);  // parts may overlap
    return around.size() == wanted.size();
  });
}

}  // namespace nibu::internal
