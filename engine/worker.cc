#include "engine/worker.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/core/exception_status.h"
#include "engine/model/encoder.h"
#include "engine/search/logit_rules.h"

namespace nibu {
namespace {

// Source tokens encoded in one call: enough rows for the matmuls' best speed, few enough that
// activations stay in the cache.
constexpr size_t kEncoderTokens = 256;

std::vector<OutputLayer::Part> PartsOf(
    absl::Span<const std::unique_ptr<const PreparedModel>> models) {
  std::vector<OutputLayer::Part> parts;
  for (const auto& model : models) parts.push_back({model->model.get(), model->weight});
  return parts;
}

}  // namespace

Worker::Worker(absl::Span<const std::unique_ptr<const PreparedModel>> models,
               const WorkerOptions& options, JobQueue* queue)
    : config_(models[0]->model->config),
      options_(options),
      queue_(queue),
      output_layer_(PartsOf(models), &workspace_) {
  for (const auto& model : models) members_.emplace_back(*model, &workspace_);
  if (options_.draft != nullptr) {
    drafter_ = std::make_unique<Drafter>(*options_.draft, &workspace_);
  }
}

void Worker::Run() noexcept {
  while (true) {
    try {
      if (!Fill()) return;
      if (live_.empty()) continue;  // what was taken had ended
      const bool solo = IsSolo();
      SetThreads(solo && solo_threads_.Next());
      const auto start = std::chrono::steady_clock::now();
      // With more sentences a step has enough rows already.
      if (live_.size() == 1 && HasDraft(*live_[0])) Guess(live_[0].get());
      Step();
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
      if (solo) solo_threads_.Took(seconds.count());
    } catch (...) {
      Recover(StatusOfException());
    }
  }
}

// Waits for a sentence when there is nothing to do. Otherwise lets some room gather first, so that
// the encoder too gets several sentences at a time.
bool Worker::Fill() {
  const bool idle = live_.empty() && again_.empty();
  if (!again_.empty()) {  // into the room that they had
    while (!again_.empty()) taken_.Append(again_.TakeFront());
  } else if (!set_back_.empty()) {
    if (idle) taken_.Append(set_back_.TakeFront());
  } else {
    JobQueue::Room room = options_.most;
    room.sentences -= live_.size();
    for (const auto& slot : live_) {
      room.source_tokens -= std::min(room.source_tokens, slot->job->source.size());
      room.rows -= std::min(room.rows, slot->job->rows);
    }
    const bool is_worth_it = room.sentences >= std::max<size_t>(1, options_.most.sentences / 8) &&
                             room.rows >= options_.most.rows / 8;
    if (idle || is_worth_it) {
      taken_ = queue_->Take(room, /*wait=*/idle, /*preferred=*/options_.solo_threads > 1);
    }
    if (idle && taken_.empty()) return false;
  }
  Start();
  return true;
}

void Worker::Start() {
  while (!taken_.empty()) {
    // As many sentences as fit into one encoder call, at least one.
    std::vector<absl::Span<const int>> sources;
    const size_t before = live_.size();
    size_t tokens = 0;
    while (!taken_.empty() &&
           (tokens == 0 || tokens + taken_.front().source.size() <= kEncoderTokens)) {
      if (absl::Status status = taken_.front().MustEnd(Job::Clock::now()); !status.ok()) {
        End(taken_.TakeFront(), std::move(status));
        continue;
      }
      AddSlot();
      Slot& slot = *live_.back();
      tokens += slot.job->source.size();
      sources.emplace_back(slot.job->source);
    }
    if (sources.empty()) return;
    SelectOutputs(before);
    SetThreads(IsSolo() && solo_threads_.pay());
    ScopedTimer timer(&workspace_.profile.encoder);
    for (size_t m = 0; m < members_.size(); ++m) {
      std::vector<DecoderState*> states;
      for (size_t i = before; i < live_.size(); ++i) states.push_back(&live_[i]->states[m]);
      workspace_.arena.Rewind(0);
      const PreparedModel& prepared = members_[m].prepared;
      const float* encoded = Encode(*prepared.model, prepared.source, sources, &workspace_);
      members_[m].decoder.Begin(encoded, states);
    }
  }
}

// The next of taken_ to live_: all that its decoding begins with, but for the encoder's part.
void Worker::AddSlot() {
  std::unique_ptr<Slot> added;
  if (free_.empty()) {
    added = std::make_unique<Slot>(members_.size());
  } else {
    added = std::move(free_.back());
    free_.pop_back();
  }
  live_.push_back(std::move(added));
  Slot* const slot = live_.back().get();
  slot->job = taken_.TakeFront();
  slot->start = std::chrono::steady_clock::now();
  slot->job->Begin();
  const Job& job = *slot->job;
  slot->starts.resize(members_.size() - 1);
  for (size_t m = 0; m < members_.size(); ++m) {
    slot->states[m].Start(members_[m].prepared.model->config, &members_[m].pool,
                          static_cast<int>(job.source.size()), static_cast<int>(job.rows),
                          HasDraft(*slot) ? Drafter::kMostGuesses : 0);
  }
  slot->search.Reset(job.search);
  slot->tokens = job.start;
  // A prefix may leave nothing to ask.
  slot->forced = slot->search.done() ? job.start.size() : job.forced;
  if (job.options.shortlist != nullptr) {
    ScopedTimer timer(&workspace_.profile.search);
    std::vector<int> needed = job.search.ends;
    needed.insert(needed.end(), job.target_prefix.begin(), job.target_prefix.end());
    for (const Constraint& constraint : job.constraints) {
      for (const auto& phrase : constraint) {
        needed.insert(needed.end(), phrase.begin(), phrase.end());
      }
    }
    if (job.target.has_value()) {
      needed.insert(needed.end(), job.target->begin(), job.target->end());
    }
    slot->output.tokens =
        job.options.shortlist->Candidates(job.source, options_.vocab_target, needed);
  }
  if (HasDraft(*slot)) {
    std::vector<int> start = job.draft_start;
    start.insert(start.end(), job.search.prefix.begin(), job.search.prefix.end());
    slot->draft.Start(start, job.source, slot->output.tokens);
  }
}

void Worker::SelectOutputs(size_t first) {
  ScopedTimer timer(&workspace_.profile.search);
  std::vector<OutputSubset*> subsets;
  for (size_t i = first; i < live_.size(); ++i) {
    if (!live_[i]->output.tokens.empty()) subsets.push_back(&live_[i]->output);
  }
  if (!subsets.empty()) output_layer_.Select(subsets);
}

void Worker::Guess(Slot* slot) {
  // The token behind the guesses is one of those that are left, too.
  drafter_->Guess(&slot->draft, slot->search.steps_left() - 1,
                  Suppressed(*slot->job, static_cast<size_t>(slot->search.length())),
                  &slot->tokens);
}

absl::Span<const int> Worker::Suppressed(const Job& job, size_t generated) const {
  const auto all = absl::MakeConstSpan(job.suppressed);
  const bool may_end = generated >= static_cast<size_t>(job.options.min_decoding_length) ||
                       (job.target.has_value() && generated + 1 == job.target->size() &&
                        job.search.is_end(job.target->back()));
  return may_end ? all.first(all.size() - job.search.ends.size()) : all;
}

const RowRules* Worker::MakeRules(const Slot& slot, size_t i) {
  const Job& job = *slot.job;
  if (!job.has_rules) return nullptr;
  RowRules& rules = rules_[rules_used_++];
  rules.suppressed.clear();
  rules.repeated.clear();
  rules.noises.clear();
  rules.repetition_penalty = job.options.repetition_penalty;
  rules.wanted.clear();
  rules.sampling = nullptr;
  // The row's hypothesis, and the tokens behind it that have not been taken yet.
  const size_t h = slot.is_consecutive() ? 0 : i;
  std::vector<int>& tokens = history_;
  slot.search.Tokens(h, &tokens);
  if (slot.is_consecutive()) {
    const auto first = slot.tokens.begin() + static_cast<long>(slot.forced);
    tokens.insert(tokens.end(), first + 1, first + 1 + static_cast<long>(i - slot.forced));
  }
  FindRules(job.options, tokens, &rules.suppressed, &rules.repeated);
  if (job.target.has_value()) {
    rules.wanted.push_back((*job.target)[i - slot.forced]);
  } else {
    if (slot.search.favoured(h) >= 0) rules.wanted.push_back(slot.search.favoured(h));
    slot.search.FindNext(h, tokens, &rules.wanted);
  }
  // Of the rows of guesses none but the first.
  const bool branches_out = !job.target.has_value() && slot.search.branches_out() &&
                            tokens.size() == static_cast<size_t>(slot.search.length());
  const bool was_expanded =
      !job.first.empty() && job.target.has_value() && tokens.size() == job.target_prefix.size();
  if ((branches_out || was_expanded) && job.options.return_alternatives) {
    rules.suppressed.insert(rules.suppressed.end(), job.search.ends.begin(), job.search.ends.end());
  }
  if (job.options.sampling.is_on()) {
    rules.sampling = &job.options.sampling;
    const size_t first = branches_out ? 0 : slot.search.branch(h);
    const size_t count = branches_out ? static_cast<size_t>(job.options.num_hypotheses) : 1;
    for (size_t n = first; n < first + count; ++n) {
      rules.noises.emplace_back(job.options.sampling.seed, job.key, n, tokens.size());
    }
  }
  return &rules;
}

OutputLayer::Query Worker::Ask(const Slot& slot, size_t i, int row) {
  const Job& job = *slot.job;
  const bool is_scored = job.target.has_value();
  const size_t ahead = slot.is_consecutive() ? i - slot.forced : 0;
  const int k = is_scored ? 1 : slot.search.candidates(ahead);
  return {row,
          k,
          is_scored || k > 1 || job.options.return_scores || job.options.return_alternatives ||
              job.options.on_repetition == OnRepetition::kRetry,
          Suppressed(job, static_cast<size_t>(slot.search.length()) + ahead),
          job.options.shortlist == nullptr ? nullptr : &slot.output,
          MakeRules(slot, i)};
}

Decoder::Input Worker::InputOf(Slot* slot, size_t member) {
  DecoderState& state = slot->states[member];
  const DecodingOptions& options = slot->job->options;
  Decoder::Input input{&state, slot->tokens, slot->is_consecutive()};
  if (member > 0) {
    if (state.length() == 0 && !options.frame.has_value()) {
      std::vector<int>& start = slot->starts[member - 1];
      start = slot->tokens;
      start[0] = members_[member].prepared.model->config.decoder_start;
      input.tokens = start;
    }
  } else if (options.needs_attention()) {
    const auto positions = static_cast<size_t>(state.source_length());
    const auto before = state.length() == 0 ? 0 : static_cast<size_t>(slot->search.attention_row());
    slot->attention.resize((before + slot->tokens.size()) * positions);
    input.attention = slot->attention.data() + before * positions;
    const int layer = options.alignment_layer.value_or(config_.alignment_layer);
    input.attention_layer = layer < 0 ? layer + config_.layers_decoder : layer;
    input.attention_heads = options.alignment_heads.value_or(config_.alignment_heads);
  }
  return input;
}

void Worker::Step() {
  workspace_.arena.Rewind(0);
  queries_.clear();
  rules_used_ = 0;
  size_t rows = 0;
  for (const auto& slot : live_) rows += slot->tokens.size();
  if (rules_.size() < rows) rules_.resize(rows);
  int first_row = 0;
  for (const auto& slot : live_) {
    for (size_t i = slot->forced; i < slot->tokens.size(); ++i) {
      queries_.push_back(Ask(*slot, i, first_row + static_cast<int>(i)));
    }
    first_row += static_cast<int>(slot->tokens.size());
  }
  hidden_.clear();
  for (size_t m = 0; m < members_.size(); ++m) {
    inputs_.clear();
    for (const auto& slot : live_) inputs_.push_back(InputOf(slot.get(), m));
    hidden_.push_back(members_[m].decoder.Step(inputs_));
  }
  if (tops_.size() < queries_.size()) tops_.resize(queries_.size());
  output_layer_.BestTokens(hidden_, queries_, absl::MakeSpan(tops_));

  ScopedTimer timer(&workspace_.profile.search);
  candidates_.clear();
  for (size_t r = 0; r < queries_.size(); ++r) candidates_.push_back(tops_[r].Finish());
  size_t row = 0;
  for (const auto& slot : live_) {
    const size_t asked = slot->tokens.size() - slot->forced;
    if (asked > 0) Advance(slot.get(), row, asked);
    row += asked;
  }
  RemoveEnded();
}

void Worker::AddWanted(const Slot& slot, size_t first, size_t rows) {
  if (widened_.size() < rows) widened_.resize(rows);
  for (size_t h = 0; h < rows; ++h) {
    const absl::Span<const Candidate> wanted = tops_[first + h].wanted();
    if (wanted.empty()) continue;
    Widen(slot.search.favoured(h) >= 0 ? slot.job->options.prefix_bias_beta : 0,
          candidates_[first + h], wanted, &widened_[h]);
    candidates_[first + h] = widened_[h];
  }
}

void Worker::TakeScores(Slot* slot, size_t first, size_t rows) {
  std::vector<Candidate> scores;
  for (size_t i = 0; i < rows; ++i) {
    const absl::Span<const Candidate> wanted = tops_[first + i].wanted();
    const int token = (*slot->job->target)[i];
    scores.push_back(wanted.empty() ? Candidate{token, -std::numeric_limits<float>::infinity()}
                                    : wanted[0]);
  }
  slot->search.Take(scores);
}

void Worker::Advance(Slot* slot, size_t first, size_t rows) {
  if (slot->job->target.has_value()) return TakeScores(slot, first, rows);
  if (slot->job->has_rules) AddWanted(*slot, first, rows);
  const auto candidates = absl::MakeConstSpan(candidates_).subspan(first, rows);
  if (HasDraft(*slot)) return Verify(slot, candidates);
  slot->search.Advance(candidates);
  if (slot->search.done()) return;
  slot->forced = 0;
  slot->tokens.clear();
  slot->parents.clear();
  for (const BeamSearch::Live& live : slot->search.live()) {
    slot->tokens.push_back(live.token);
    slot->parents.push_back(live.parent);
  }
  for (DecoderState& state : slot->states) state.Reorder(slot->parents);
}

void Worker::Verify(Slot* slot, absl::Span<const absl::Span<const Candidate>> candidates) {
  std::vector<int>& tokens = slot->tokens;
  const size_t forced = std::exchange(slot->forced, 0);
  size_t row = forced;  // up to here they are right
  do {
    slot->search.Advance(candidates.subspan(row++ - forced, 1));
    if (slot->search.done()) return;
  } while (row < tokens.size() && slot->search.live()[0].token == tokens[row]);
  for (DecoderState& state : slot->states) {
    state.Truncate(state.length() - static_cast<int>(tokens.size() - row));
  }
  tokens.resize(row);
  tokens.push_back(slot->search.live()[0].token);
  slot->draft.Append(absl::MakeConstSpan(tokens).subspan(forced + 1));
  tokens.erase(tokens.begin(), tokens.end() - 1);
}

void Worker::RemoveEnded() {
  const auto now = std::chrono::steady_clock::now();
  bool any = false;
  for (const auto& slot : live_) {
    absl::Status status = slot->job->MustEnd(now);
    if (status.ok() && !slot->search.done()) continue;
    if (measuring_) {
      latencies_.push_back(std::chrono::duration<double>(now - slot->start).count());
    }
    bool goes_on = false;
    if (slot->search.done()) {
      goes_on = slot->job->GoesOn(slot->search.Finish(
          slot->attention.empty() ? nullptr : slot->attention.data(), slot->job->source.size()));
    } else {
      slot->job->result = std::move(status);
    }
    for (DecoderState& state : slot->states) state.Release();
    slot->draft.Release();
    slot->output = {};
    slot->attention.clear();
    if (goes_on) {
      again_.Append(std::move(slot->job));
    } else {
      queue_->Finish(std::move(slot->job));
    }
    any = true;
  }
  if (!any) return;
  free_.reserve(free_.size() + live_.size());
  const auto ended = std::stable_partition(live_.begin(), live_.end(),
                                           [](const auto& slot) { return slot->job != nullptr; });
  std::move(ended, live_.end(), std::back_inserter(free_));
  live_.erase(ended, live_.end());
}

void Worker::Recover(const absl::Status& status) noexcept {
  // What is half done goes with its slot.
  for (const auto& slot : live_) {
    if (slot->job != nullptr) taken_.Append(std::move(slot->job));
  }
  live_.clear();
  free_.clear();
  if (taken_.empty()) return;  // all have ended
  std::shared_ptr<Job> job = taken_.TakeFront();
  if (taken_.empty()) return End(std::move(job), status);
  set_back_.Append(std::move(job));
  while (!taken_.empty()) set_back_.Append(taken_.TakeFront());
}

void Worker::End(std::shared_ptr<Job> job, Result result) {
  job->result = std::move(result);
  queue_->Finish(std::move(job));
}

void Worker::StartMeasuring() {
  measuring_ = true;
  latencies_.clear();
  workspace_.profile = Profile();
  workspace_.matmul.StartTrace();
}

std::vector<double> Worker::FinishMeasuring() {
  measuring_ = false;
  return std::move(latencies_);
}

}  // namespace nibu
