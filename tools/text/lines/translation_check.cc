// Compares the lengths, sentence ends and numbers of a sentence and its translation.
#include "tools/text/lines/translation_check.h"

#include <cmath>
#include <iterator>
#include <map>

#include "absl/algorithm/container.h"
#include "absl/base/macros.h"
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

// Returns whether the target has only currencies of the source. Either side may write all of them
// as words.
bool SameCurrencies(const std::vector<int32_t>& source, const std::vector<int32_t>& target) {
  return source.empty() || absl::c_all_of(target, [&](int32_t currency) {
           return absl::c_linear_search(source, currency);
         });
}

}  // namespace

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
  warnings.set(Warning::kNumbers, !SameNumbers(source, from.numbers, target, to.numbers, said) ||
                                      !SameCurrencies(from.currencies, to.currencies));
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
