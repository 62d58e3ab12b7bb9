// Translates whole texts: submits their units one by one, and joins their results to one, as
// join.cc joins those of a line's sentences.
#include "tools/text/translator/whole_text.h"

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "engine/core/errors.h"
#include "engine/core/exception_status.h"
#include "engine/core/gather.h"
#include "engine/core/status_macros.h"
#include "nibu/translator.h"
#include "tools/text/lines/join.h"
#include "tools/text/marked/text_reader.h"
#include "tools/text/translator/pending_line.h"
#include "tools/text/translator/plan.h"
#include "tools/text/translator/unit_cutter.h"

namespace nibu {

namespace {

// The distance between the keys of a text's units. It is 2^64 divided by the golden ratio, which
// spreads the keys evenly, so that they rarely equal those of other texts.
constexpr uint64_t kUnitKeys = 0x9E3779B97F4A7C15;

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
// `sources`, `targets`: the numbers of tokens, or words if these are aligned, of the units before
// it; its own are added to `targets`.
void Append(const Hypothesis& unit, bool align_words, size_t sources, size_t* targets,
            Hypothesis* joined) {
  for (const auto& [source, target] : unit.alignment) {
    joined->alignment.emplace_back(sources + source, *targets + target);
  }
  const std::vector<size_t> words =
      align_words ? internal::WordsOf(unit.tokens) : std::vector<size_t>();
  *targets += !align_words ? unit.tokens.size() : words.empty() ? 0 : words.back() + 1;
  for (std::vector<float> row : unit.attention) {
    row.insert(row.begin(), sources, 0.0F);
    joined->attention.push_back(std::move(row));
  }
  joined->tokens.insert(joined->tokens.end(), unit.tokens.begin(), unit.tokens.end());
  joined->token_scores.insert(joined->token_scores.end(), unit.token_scores.begin(),
                              unit.token_scores.end());
  joined->log_prob += unit.log_prob;
  joined->length += unit.length;
  joined->finished = joined->finished && unit.finished;
  joined->end_token = unit.end_token;
  joined->repetition = joined->repetition || unit.repetition;
  joined->warnings |= unit.warnings;
}

absl::StatusOr<std::shared_ptr<WholeText>> ReadWhole(absl::string_view text, const Options& options,
                                                     const std::vector<std::string>& prefixes) {
  auto read = std::make_shared<WholeText>();
  TextReader reader(options);
  reader.Add(text);
  reader.End();
  // Samples are drawn for each unit, and markup depends on the units before.
  const bool has_repeats = options.markup == Markup::kNone && options.sampling_topk == 1;
  std::unordered_map<std::string, size_t> known;
  for (TextUnit unit; reader.Next(&unit);) {
    const size_t i = read->units.size();
    const std::string prefix = i < prefixes.size() ? prefixes[i] : "";
    const std::string key = absl::StrCat(unit.source(), "\n", prefix);
    read->same.push_back(has_repeats ? known.try_emplace(key, i).first->second : i);
    read->units.push_back(std::move(unit));
  }
  for (size_t i = read->units.size(); i < prefixes.size(); ++i) {
    if (!prefixes[i].empty()) return internal::Invalid("the prefix has more lines than the text");
  }
  read->ends_line = absl::EndsWith(text, "\n");
  read->ends_open = reader.is_open();
  return read;
}

// Joins the n-th hypotheses of all units. The score is computed anew from the joined length, since
// length normalization does not add up; only the coverage penalties do.
Hypothesis JoinNth(const WholeText& text, const std::vector<Result>& results,
                   const internal::LinePlan& plan, size_t n) {
  const bool align_words = plan.options.alignment_level == AlignmentLevel::kWords;
  Hypothesis joined;
  size_t sources = 0;
  size_t targets = 0;
  float rest = 0;        // the sum of the coverage penalties
  size_t scored = 0;     // number of units with tokens
  float only_score = 0;  // the score of the last of them
  for (size_t i = 0; i < text.units.size(); ++i) {
    const TextUnit& unit = text.units[i];
    const Hypothesis* const nth = NthOf(results[i], n);
    joined.text += unit.Write(nth == nullptr ? "" : nth->text);
    const bool is_last = i + 1 == text.units.size();
    if (unit.ends_line() && (!is_last || text.ends_line)) joined.text += '\n';
    if (nth == nullptr) continue;
    Append(*nth, align_words, sources, &targets, &joined);
    sources += results[i].source_labels.size();
    if (nth->length == 0) continue;
    ++scored;
    only_score = nth->score;
    rest += nth->score - internal::HypothesisScore(plan.decoding, nth->log_prob, nth->length);
  }
  for (std::vector<float>& row : joined.attention) row.resize(sources);
  if (plan.decoding.coverage_penalty == 0) rest = 0;
  joined.score =
      scored == 1 ? only_score
                  : internal::HypothesisScore(plan.decoding, joined.log_prob, joined.length) + rest;
  return joined;
}

}  // namespace

absl::StatusOr<Result> JoinUnits(const WholeText& text, std::vector<Result> results,
                                 const internal::LinePlan& plan) try {
  Result joined;
  size_t targets = 0;  // rows of the attention matrix
  for (size_t i = 0; i < text.units.size(); ++i) {
    if (text.same[i] != i) results[i] = results[text.same[i]];
    joined.source_tokens += results[i].source_tokens;
    joined.too_long |= results[i].too_long;
    absl::c_copy(results[i].source_labels, std::back_inserter(joined.source_labels));
    if (results[i].hypotheses.empty()) continue;
    targets += results[i].hypotheses[0].attention.size();
  }
  const size_t sources = joined.source_labels.size();
  if (targets > 0 && sources > kMostWeights / targets) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the attention of ", targets, " tokens to ", sources,
                     " is too much; give a shorter text, or alignment=hard"));
  }
  joined.source_language = text.language;
  joined.ends_open = text.ends_open;
  const size_t count = CountHypotheses(results);
  for (size_t n = 0; n < count; ++n) {
    joined.hypotheses.push_back(JoinNth(text, results, plan, n));
  }
  // As in a line, alternatives keep their order, and terms of a glossary come before scores.
  const auto has_text = [](const Result& result) { return !result.hypotheses.empty(); };
  const bool has_order = plan.decoding.return_alternatives || !plan.glossary.empty();
  if (absl::c_count_if(results, has_text) > 1 && !has_order) {
    absl::c_stable_sort(joined.hypotheses,
                        [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; });
  }
  joined.target_tokens = static_cast<int>(joined.hypotheses[0].tokens.size());
  return joined;
} catch (...) {
  return internal::StatusOfException();
}

absl::StatusOr<Ticket> Translator::SubmitWhole(absl::string_view text,
                                               std::shared_ptr<const Plan> plan, Request request,
                                               std::string language, Done done,
                                               std::chrono::nanoseconds queue_timeout) {
  // A text without units is refused like others.
  NIBU_RETURN_IF_ERROR(engines_->Use().status());
  const Options& options = plan->lines->options;
  if (request.on_step != nullptr) {
    return internal::Invalid("a whole text does not tell of its steps; give its lines");
  }
  if (request.target.has_value() ||
      (!request.target_prefix.empty() && options.text != TextKind::kLines)) {
    return internal::Invalid("a whole text has neither a target nor a prefix; give its lines");
  }
  const std::vector<std::string> prefixes = absl::StrSplit(request.target_prefix, '\n');
  NIBU_ASSIGN_OR_RETURN(const auto whole,
                        ReadWhole(text, internal::ReadingOptions(*plan->lines), prefixes));
  whole->language = std::move(language);
  const size_t count = whole->units.size();
  // The last of the results is missing until all units have been submitted. If one is refused,
  // nothing is delivered.
  const auto all = std::make_shared<internal::Gather<Result>>(
      count + 1, [whole, plan, key = request.key, done = std::move(done)](auto results) {
        const internal::CallbackScope here;
        try {
          done(key, results.ok() ? JoinUnits(*whole, *std::move(results), *plan->lines)
                                 : absl::StatusOr<Result>(results.status()));
        } catch (...) {  // see Done
        }
      });
  auto state = std::make_shared<Ticket::State>(Ticket::State());
  Ticket ticket;
  ticket.state_ = state;
  absl::Cleanup cancel = [&] { Cancel(ticket); };
  for (size_t i = 0; i < count; ++i) {
    if (whole->same[i] != i || !whole->units[i].has_text()) continue;
    // Each unit has a key of its own, so that samples of equal units differ.
    Request of_unit = {request.priority, request.deadline, request.key + i * kUnitKeys,
                       i < prefixes.size() ? prefixes[i] : ""};
    NIBU_ASSIGN_OR_RETURN(
        const Ticket unit,
        SubmitLine(
            whole->units[i].parts_->marked, plan, std::move(of_unit), "",
            [all, i](uint64_t, absl::StatusOr<Result> result) { all->Add(i, std::move(result)); },
            queue_timeout));
    state->lines.push_back(unit.state_->lines[0]);
  }
  std::move(cancel).Cancel();
  for (size_t i = 0; i < count; ++i) {
    if (whole->same[i] != i || !whole->units[i].has_text()) all->Add(i, Result());
  }
  all->Add(count, Result());
  return ticket;
}

}  // namespace nibu
