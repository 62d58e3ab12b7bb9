#include "engine/worker.h"

#include <algorithm>
#include <utility>

#include "engine/core/exception_status.h"
#include "engine/model/encoder.h"

namespace nibu {
namespace {

// Source tokens encoded in one call: enough rows for the matmuls' best speed, few enough that
// activations stay in the cache.
constexpr size_t kEncoderTokens = 256;

}  // namespace

Worker::Worker(const Model& model, const Embedder& source, const Embedder& target,
               const WorkerOptions& options, JobQueue* queue)
    : model_(model),
      source_(source),
      options_(options),
      queue_(queue),
      pool_(model.config, CacheTypeOf(model)),
      decoder_(model, target, &workspace_),
      output_layer_(model, &workspace_),
      suppressed_(model.config.suppressed) {
  std::sort(suppressed_.begin(), suppressed_.end());
  suppressed_at_start_ = suppressed_;
  suppressed_at_start_.push_back(model.config.eos);
  std::sort(suppressed_at_start_.begin(), suppressed_at_start_.end());
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
  const bool idle = live_.empty();
  if (!set_back_.empty()) {
    if (idle) taken_.Append(set_back_.TakeFront());
  } else {
    JobQueue::Room room = options_.most;
    room.sentences -= live_.size();
    for (const auto& slot : live_) {
      room.source_tokens -= std::min(room.source_tokens, slot->job->source.size());
      room.rows -= std::min(room.rows, static_cast<size_t>(slot->job->search.beam_size));
    }
    const bool is_worth_it = room.sentences >= std::max<size_t>(1, options_.most.sentences / 8) &&
                             room.rows >= options_.most.rows / 8;
    if (!idle && !is_worth_it) return true;
    taken_ = queue_->Take(room, /*wait=*/idle, /*preferred=*/options_.solo_threads > 1);
    if (idle && taken_.empty()) return false;
  }
  Start();
  return true;
}

void Worker::Start() {
  while (!taken_.empty()) {
    // As many sentences as fit into one encoder call, at least one.
    std::vector<absl::Span<const int>> sources;
    std::vector<DecoderState*> states;
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
      states.push_back(&slot.state);
    }
    if (sources.empty()) return;
    SetThreads(IsSolo() && solo_threads_.pay());
    ScopedTimer timer(&workspace_.profile.encoder);
    workspace_.arena.Rewind(0);
    const float* encoded = Encode(model_, source_, sources, &workspace_);
    decoder_.Begin(encoded, states);
  }
}

// The next of taken_ to live_: all that its decoding begins with, but for the encoder's part.
void Worker::AddSlot() {
  std::unique_ptr<Slot> added;
  if (free_.empty()) {
    added = std::make_unique<Slot>();
  } else {
    added = std::move(free_.back());
    free_.pop_back();
  }
  live_.push_back(std::move(added));
  Slot* const slot = live_.back().get();
  slot->job = taken_.TakeFront();
  slot->start = std::chrono::steady_clock::now();
  const Job& job = *slot->job;
  slot->state.Start(model_.config, &pool_, static_cast<int>(job.source.size()),
                    job.search.beam_size, HasDraft(*slot) ? Drafter::kMostGuesses : 0);
  slot->search.Reset(job.search);
  slot->tokens = job.decoder_start;
  slot->forced = job.decoder_start.size() - 1;
  if (job.options.shortlist != nullptr) {
    ScopedTimer timer(&workspace_.profile.search);
    slot->output = output_layer_.Select(job.options.shortlist->Candidates(
        job.source, model_.config.vocab_target, model_.config.eos));
  }
  if (HasDraft(*slot)) {
    slot->draft.Start(job.draft_decoder_start, job.source, slot->output.tokens);
  }
}

void Worker::Guess(Slot* slot) {
  // The token behind the guesses is one of those that are left, too.
  drafter_->Guess(&slot->draft, slot->search.steps_left() - 1,
                  Suppressed(*slot->job, static_cast<size_t>(slot->search.length())),
                  &slot->tokens);
}

void Worker::Step() {
  workspace_.arena.Rewind(0);
  inputs_.clear();
  queries_.clear();
  int first_row = 0;
  for (const auto& slot : live_) {
    const Job& job = *slot->job;
    inputs_.push_back({&slot->state, slot->tokens, slot->is_consecutive()});
    const auto length = static_cast<size_t>(slot->search.length());
    // Greedy search that ends at the first EOS needs one token a row, and no log-softmax.
    const bool greedy =
        job.search.beam_size == 1 && HypothesesToFinish(1, job.search.patience) == 1;
    for (size_t i = slot->forced; i < slot->tokens.size(); ++i) {
      const size_t generated = length + (slot->is_consecutive() ? i - slot->forced : 0);
      queries_.push_back({first_row + static_cast<int>(i), greedy ? 1 : 2 * job.search.beam_size,
                          !greedy || job.options.return_scores, Suppressed(job, generated),
                          job.options.shortlist == nullptr ? nullptr : &slot->output});
    }
    first_row += static_cast<int>(slot->tokens.size());
  }
  const float* hidden = decoder_.Step(inputs_);
  if (tops_.size() < queries_.size()) tops_.resize(queries_.size());
  output_layer_.BestTokens(hidden, queries_, absl::MakeSpan(tops_));

  ScopedTimer timer(&workspace_.profile.search);
  candidates_.clear();
  for (size_t r = 0; r < queries_.size(); ++r) candidates_.push_back(tops_[r].Finish());
  size_t row = 0;
  for (const auto& slot : live_) {
    const size_t rows = slot->tokens.size() - slot->forced;
    Advance(slot.get(), absl::MakeConstSpan(candidates_).subspan(row, rows));
    row += rows;
  }
  RemoveEnded();
}

void Worker::Advance(Slot* slot, absl::Span<const absl::Span<const Candidate>> candidates) {
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
  slot->state.Reorder(slot->parents);
}

void Worker::Verify(Slot* slot, absl::Span<const absl::Span<const Candidate>> candidates) {
  std::vector<int>& tokens = slot->tokens;
  const size_t forced = std::exchange(slot->forced, 0);
  size_t row = forced;  // up to here they are right
  do {
    slot->search.Advance(candidates.subspan(row++ - forced, 1));
    if (slot->search.done()) return;
  } while (row < tokens.size() && slot->search.live()[0].token == tokens[row]);
  slot->state.Truncate(slot->state.length() - static_cast<int>(tokens.size() - row));
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
    Result result = slot->search.done() ? Result(slot->search.Finish()) : Result(std::move(status));
    if (measuring_) {
      latencies_.push_back(std::chrono::duration<double>(now - slot->start).count());
    }
    slot->state.Release();
    slot->draft.Release();
    slot->output = {};
    End(std::move(slot->job), std::move(result));
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
