// Joins the results of a text's units, as join.cc joins those of a line's sentences.

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "engine/core/errors.h"
#include "engine/core/exception_status.h"
#include "engine/search/beam_search.h"
#include "nibu/translator.h"
#include "tools/text/join.h"
#include "tools/text/line_reader.h"
#include "tools/text/plan.h"

namespace nibu {
namespace {

// The most weights of a text's attention matrix: target tokens times source tokens.
constexpr size_t kMostWeights = size_t{1} << 26;

// Returns the number of hypotheses that all units have. A unit with a single one repeats it.
size_t CountHypotheses(const std::vector<Result>& results) {
  size_t count = 0;
  for (const Result& result : results) {
    const size_t own = result.hypotheses.size();
    if (own > 1) count = count == 0 ? own : std::min(count, own);
  }
  return std::max<size_t>(count, 1);
}

// Returns a unit's n-th hypothesis, or its last one; null for a unit without text.
const Hypothesis* NthOf(const Result& result, size_t n) {
  const std::vector<Hypothesis>& all = result.hypotheses;
  return all.empty() ? nullptr : &all[std::min(n, all.size() - 1)];
}

// Appends a unit's tokens with their scores and alignment to `joined`, whose score is set later.
// `targets`: the number of tokens, or words if these are aligned, of the units before it.
void Append(const Hypothesis& unit, bool align_words, size_t* targets, Hypothesis* joined) {
  for (const auto& [source, target] : unit.alignment) {
    joined->alignment.emplace_back(joined->source_length + source, *targets + target);
  }
  const std::vector<size_t> words =
      align_words ? internal::WordsOf(unit.tokens) : std::vector<size_t>();
  *targets += !align_words ? unit.tokens.size() : words.empty() ? 0 : words.back() + 1;
  for (std::vector<float> row : unit.attention) {
    row.insert(row.begin(), joined->source_length, 0.0F);
    joined->attention.push_back(std::move(row));
  }
  joined->tokens.insert(joined->tokens.end(), unit.tokens.begin(), unit.tokens.end());
  joined->token_scores.insert(joined->token_scores.end(), unit.token_scores.begin(),
                              unit.token_scores.end());
  joined->log_prob += unit.log_prob;
  joined->length += unit.length;
  joined->source_length += unit.source_length;
  joined->finished = joined->finished && unit.finished;
  joined->end_token = unit.end_token;
  joined->repetition = joined->repetition || unit.repetition;
  joined->warnings |= unit.warnings;
}

// Joins the n-th hypotheses of all units. The score is computed anew from the joined length, since
// length normalization does not add up; only the coverage penalties do.
Hypothesis JoinNth(const Translation& translation, const internal::TextOptions& options, size_t n) {
  const internal::DecodingOptions& decoding = options.decoding;
  Hypothesis joined;
  size_t targets = 0;
  float rest = 0;        // the sum of the coverage penalties
  size_t scored = 0;     // number of units with tokens
  float only_score = 0;  // the score of the last of them
  for (size_t i = 0; i < translation.units.size(); ++i) {
    const TextUnit& unit = translation.units[i];
    const Hypothesis* const nth = NthOf(translation.results[i], n);
    joined.text += unit.Write(nth == nullptr ? "" : nth->text);
    const bool is_last = i + 1 == translation.units.size();
    if (unit.ends_line() && (!is_last || translation.ends_line)) joined.text += '\n';
    if (nth == nullptr) continue;
    Append(*nth, options.align_words, &targets, &joined);
    if (nth->length == 0) continue;
    ++scored;
    only_score = nth->score;
    rest += nth->score - internal::HypothesisScore(decoding, nth->log_prob, nth->length);
  }
  for (std::vector<float>& row : joined.attention) row.resize(joined.source_length);
  if (decoding.coverage_penalty == 0) rest = 0;
  joined.score = scored == 1
                     ? only_score
                     : internal::HypothesisScore(decoding, joined.log_prob, joined.length) + rest;
  return joined;
}

}  // namespace

absl::StatusOr<Result> JoinUnits(const Translation& translation, const Plan& plan) try {
  const internal::TextOptions& options = plan.text->options;
  Result joined;
  size_t sources = 0;  // columns and rows of the attention matrix
  size_t targets = 0;
  for (const Result& result : translation.results) {
    joined.source_tokens += result.source_tokens;
    joined.too_long |= result.too_long;
    if (result.hypotheses.empty()) continue;
    sources += result.hypotheses[0].source_length;
    targets += result.hypotheses[0].attention.size();
  }
  if (targets > 0 && sources > kMostWeights / targets) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the attention of ", targets, " tokens to ", sources,
                     " is too much; give a shorter text, or alignment=hard"));
  }
  joined.source_language = translation.source_language;
  const size_t count = CountHypotheses(translation.results);
  for (size_t n = 0; n < count; ++n) {
    joined.hypotheses.push_back(JoinNth(translation, options, n));
  }
  // As in a line, alternatives keep their order, and terms of a glossary come before scores.
  const auto has_text = [](const Result& result) { return !result.hypotheses.empty(); };
  const bool has_order = options.decoding.return_alternatives || !options.glossary.empty();
  if (absl::c_count_if(translation.results, has_text) > 1 && !has_order) {
    absl::c_stable_sort(joined.hypotheses,
                        [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; });
  }
  joined.target_tokens = static_cast<int>(joined.hypotheses[0].tokens.size());
  return joined;
} catch (...) {
  return internal::StatusOfException();
}

}  // namespace nibu
