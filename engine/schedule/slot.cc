// A sentence that a worker decodes. slot.h describes its step and the rows that it has.
#include "engine/schedule/slot.h"

#include <limits>

#include "absl/base/macros.h"

namespace nibu::internal {
namespace {

// Returns the tokens that a sentence's shortlist must have so that its request can be answered.
std::vector<int> NeededTokens(const Request& request) {
  std::vector<int> needed = request.plan->ends();
  const auto add = [&needed](const std::vector<int>& tokens) {
    needed.insert(needed.end(), tokens.begin(), tokens.end());
  };
  add(request.target_prefix);
  for (const Constraint& constraint : request.constraints) {
    for (const auto& phrase : constraint) add(phrase);
  }
  if (request.target.has_value()) add(*request.target);
  return needed;
}

}  // namespace

void Slot::Begin(std::shared_ptr<Job> job, const Drafter* drafter, int vocab_target) {
  start_ = std::chrono::steady_clock::now();
  job_ = std::move(job);
  const SearchTask& pass = task();
  const DecodingOptions& options = pass.options();
  // No guesses for a target, which is scored in one step anyway; with on_step, since Verify reports
  // no tokens; with a biased prefix, since follows_prefix, which PrefixBias reads, is that of the
  // hypothesis without the guesses (RowContext::open).
  is_drafted_ = drafter != nullptr && job_->rows == 1 && pass.target == nullptr &&
                !job_->steps.is_on() && !pass.is_biased();
  search_.Reset(pass);
  job_->steps.ReportPrefix(&search_);
  // The rows of the first step.
  tokens_ = pass.plan->frame().decoder_start;
  forced_ = tokens_.size() - 1 + pass.forced();
  if (pass.target != nullptr) {
    tokens_.insert(tokens_.end(), pass.target->begin(), pass.target->end() - 1);
  }
  tokens_.insert(tokens_.end(), pass.prefix.begin(),
                 pass.prefix.begin() + static_cast<long>(pass.forced()));
  // If the prefix fills the whole length, the step still runs, but needs no logits.
  if (search_.done()) forced_ = tokens_.size();
  if (options.shortlist != nullptr && pass.has_rules) {
    output_.tokens =
        options.shortlist->Candidates(job_->source, vocab_target, NeededTokens(job_->request));
  }
  if (is_drafted_) {
    std::vector<int> before = drafter->StartFor(*pass.plan);
    before.insert(before.end(), pass.prefix.begin(), pass.prefix.end());
    draft_.Start(before, job_->source, output_.tokens);
  }
}

void Slot::StartState(size_t m, const ModelConfig& config, PagePool* pool) {
  states_[m].Start(config, pool, static_cast<int>(job_->source.size()),
                   static_cast<int>(job_->rows), is_drafted_ ? Drafter::kMostGuesses : 0);
}

void Slot::Release() {
  for (DecoderState& state : states_) state.Release();
  draft_.Release();
  output_ = {};
  attention_.clear();
}

bool Slot::is_consecutive() const {
  return job_->rows == 1 || search_.length() == static_cast<int>(task().forced());
}

absl::Span<const int> Slot::Ahead(size_t i) const {
  if (!is_consecutive()) return {};
  return absl::MakeConstSpan(tokens_).subspan(forced_ + 1, i - forced_);
}

void Slot::Guess(Drafter* drafter) {
  ABSL_ASSERT(is_drafted());
  // The step yields one token more than it has right guesses, which must not exceed the steps left.
  const int most = search_.steps_left() - 1;
  task().plan->FindEdits(search_.Context(0, {}, &history_), &edits_);
  drafter->Guess(&draft_, most, edits_, &tokens_);
}

// Step 3. The first model's attention is the sentence's. The other models of an ensemble begin with
// a start token of their own, unless options.frame gives the start tokens.
Decoder::Input Slot::Input(size_t m, const ModelConfig& config) {
  DecoderState& state = states_[m];
  const DecodingOptions& options = task().options();
  Decoder::Input input{&state, tokens_, is_consecutive()};
  if (m > 0) {
    if (state.length() == 0 && !options.frame.has_value()) {
      std::vector<int>& start = starts_[m - 1];
      start = tokens_;
      start[0] = config.decoder_start;
      input.tokens = start;
    }
  } else if (options.needs_attention()) {
    const auto positions = static_cast<size_t>(state.source_length());
    // The first step has rows for the start tokens and the prefix, too, from row 0 on.
    const auto before = state.length() == 0 ? 0 : static_cast<size_t>(search_.attention_row());
    attention_.resize((before + tokens_.size()) * positions);
    input.attention = attention_.data() + before * positions;
    const int layer = options.alignment_layer.value_or(config.alignment_layer);
    input.attention_layer = layer < 0 ? layer + config.layers_decoder : layer;
    input.attention_heads = options.alignment_heads.value_or(config.alignment_heads);
  }
  return input;
}

// Step 2. Greedy search without scores does not need log-probabilities: logits have the same order.
void Slot::Ask(size_t first_row, absl::Span<SearchRow> rows,
               std::vector<OutputLayer::Query>* queries) {
  ABSL_ASSERT(rows.size() == asked());
  const DecodingOptions& options = task().options();
  const bool is_scored = task().target != nullptr;
  for (size_t i = forced_; i < tokens_.size(); ++i) {
    SearchRow& row = rows[i - forced_];
    const absl::Span<const int> ahead = Ahead(i);
    const size_t hypothesis = is_consecutive() ? 0 : i;
    task().plan->FindEdits(search_.Context(hypothesis, ahead, &history_), &row.edits());
    const int k = is_scored ? 1 : search_.candidates(ahead.size());
    row.Start(k, is_scored || k > 1 || options.return_scores || options.return_alternatives ||
                     options.on_repetition == OnRepetition::kRetry);
    queries->push_back({static_cast<int>(first_row + i), &row, output()});
  }
}

// Step 4.
void Slot::Advance(absl::Span<SearchRow> rows) {
  ABSL_ASSERT(asked() > 0 && rows.size() == asked());
  candidates_.clear();
  for (SearchRow& row : rows) candidates_.push_back(row.Finish());
  if (task().target != nullptr) return TakeScores(rows);
  if (is_drafted_) return Verify();
  search_.Advance(candidates_);
  job_->steps.ReportNewest(&search_);
  if (search_.done()) return;
  forced_ = 0;
  tokens_.clear();
  parents_.clear();
  for (const BeamSearch::Live& live : search_.live()) {
    tokens_.push_back(live.token);
    parents_.push_back(live.parent);
  }
  for (DecoderState& state : states_) state.Reorder(parents_);
}

// Row i has the logits of target token i. A token that no model has a logit for is impossible.
void Slot::TakeScores(absl::Span<const SearchRow> rows) {
  std::vector<Candidate> scores;
  for (size_t i = 0; i < rows.size(); ++i) {
    const absl::Span<const Candidate> requested = rows[i].requested();
    const Candidate impossible{(*task().target)[i], -std::numeric_limits<float>::infinity()};
    scores.push_back(requested.empty() ? impossible : requested[0]);
  }
  search_.Take(scores);
}

// tokens_ are the rows without logits, if this is the first step, then the newest token t (row
// `behind`), then guesses g_1, g_2, ... The search advances by t's row to a token a_1. As long as
// a_i = g_i, the row of g_i is that of the true hypothesis, and the search advances by it to
// a_(i+1).
void Slot::Verify() {
  const size_t behind = std::exchange(forced_, 0);
  size_t row = behind;  // the tokens in front of it are right
  do {
    search_.Advance(absl::MakeConstSpan(candidates_).subspan(row++ - behind, 1));
    if (search_.done()) return;
  } while (row < tokens_.size() && search_.live()[0].token == tokens_[row]);
  // Drop the keys and values of the wrong guesses; the next step begins with the newest token.
  for (DecoderState& state : states_) {
    state.Truncate(state.length() - static_cast<int>(tokens_.size() - row));
  }
  tokens_.resize(row);
  tokens_.push_back(search_.live()[0].token);
  draft_.Append(absl::MakeConstSpan(tokens_).subspan(behind + 1));
  tokens_.erase(tokens_.begin(), tokens_.end() - 1);
}

std::vector<Hypothesis> Slot::Finish() const {
  ABSL_ASSERT(done());
  return search_.Finish(attention_.empty() ? nullptr : attention_.data(), job_->source.size());
}

}  // namespace nibu::internal
