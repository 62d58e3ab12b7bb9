// The decoding loop: Run, Fill, Start, Step and RemoveEnded are the steps described in worker.h.
#include "engine/schedule/worker.h"

#include <algorithm>
#include <utility>

#include "engine/core/exception_status.h"
#include "engine/model/encoder.h"

namespace nibu::internal {
namespace {

// The source tokens encoded in one call: enough rows for the matmuls' best speed, and few enough
// that activations stay in the cache.
constexpr size_t kEncoderTokens = 256;

std::vector<OutputLayer::Part> PartsOf(
    absl::Span<const std::unique_ptr<const PreparedModel>> models) {
  std::vector<OutputLayer::Part> parts;
  for (const auto& model : models) parts.push_back({model->model.get(), model->ensemble_weight});
  return parts;
}

}  // namespace

Worker::Worker(absl::Span<const std::unique_ptr<const PreparedModel>> models,
               const WorkerOptions& options, JobQueue* queue)
    : options_(options),
      queue_(queue),
      core_(options.cores),
      workspace_(options.kernels),
      output_layer_(PartsOf(models), &workspace_) {
  workspace_.matmul.SetObserver(options.observer);
  for (const auto& model : models) members_.emplace_back(*model, &workspace_);
  if (options_.draft != nullptr) {
    drafter_ = std::make_unique<Drafter>(*options_.draft, &workspace_);
  }
}

void Worker::Run() noexcept {
  while (true) {
    try {
      // Sentences may have been cancelled, or be late, since the worker gave its core away.
      if (core_.Share()) RemoveEnded();
      if (!Fill()) return;
      if (live_.empty()) continue;  // the jobs that were taken had to end at once
      const bool solo = IsSolo();
      // SoloThreads chooses for each step, by the times of those before.
      SetThreads(solo && solo_threads_.Next());
      const size_t sentences = live_.size();
      const auto start = std::chrono::steady_clock::now();
      // Guesses add rows to a step. With several sentences, a step has enough rows already.
      if (live_.size() == 1 && live_[0]->is_drafted()) live_[0]->Guess(drafter_.get());
      Step();
      queue_->CountStep(sentences);
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
      if (solo) solo_threads_.Took(seconds.count());
    } catch (...) {
      Recover(StatusOfException());
    }
  }
}

// Step 1. While jobs are set back, no others are taken, so that each of them is alone.
bool Worker::Fill() {
  const bool idle = live_.empty() && again_.empty();
  if (!again_.empty()) {  // these return into the room that they had
    while (!again_.empty()) taken_.Append(again_.TakeFront());
  } else if (!set_back_.empty()) {
    if (idle) taken_.Append(set_back_.TakeFront());
  } else {
    JobQueue::Room room = options_.most;
    room.sentences -= live_.size();
    for (const auto& slot : live_) {
      room.source_tokens -= std::min(room.source_tokens, slot->job().source.size());
      room.rows -= std::min(room.rows, slot->job().rows);
    }
    const bool is_worth_it = room.sentences >= std::max<size_t>(1, options_.most.sentences / 8) &&
                             room.rows >= options_.most.rows / 8;
    if (idle) core_.GiveBack();  // others decode while this worker waits
    if (idle || is_worth_it) {
      taken_ = queue_->Take(room, /*wait=*/idle, /*preferred=*/options_.solo_threads > 1);
    }
    if (idle && taken_.empty()) return false;
  }
  core_.Take();
  Start();
  return true;
}

// Step 2. A job stays in taken_ until its slot has it, so that Recover finds it in one of the two.
void Worker::Start() {
  while (!taken_.empty()) {
    core_.Share();  // a call of the encoder may take as long as several steps of the decoder
    // Take as many sentences as fit into one call of the encoder, at least one.
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
      tokens += slot.job().source.size();
      sources.emplace_back(slot.job().source);
    }
    if (sources.empty()) return;
    SelectOutputs(before);
    // The encoder uses threads if they have been found to pay in the decoder's steps.
    SetThreads(IsSolo() && solo_threads_.pay());
    ScopedTimer timer(&workspace_.profile.encoder);
    for (size_t m = 0; m < members_.size(); ++m) {
      std::vector<DecoderState*> states;
      for (size_t i = before; i < live_.size(); ++i) states.push_back(live_[i]->state(m));
      workspace_.arena.Rewind(0);
      const PreparedModel& prepared = members_[m].prepared;
      const RowSpan<float> encoded = Encode(*prepared.model, prepared.source, sources, &workspace_);
      members_[m].decoder.Begin(encoded, states);
    }
  }
}

// Moves the next job of taken_ into a slot of live_ and prepares its decoding, as far as this does
// not need the encoder's output.
void Worker::AddSlot() {
  std::unique_ptr<Slot> slot;
  if (free_.empty()) {
    slot = std::make_unique<Slot>(members_.size());
  } else {
    slot = std::move(free_.back());
    free_.pop_back();
  }
  live_.push_back(std::move(slot));
  Slot& added = *live_.back();
  {
    ScopedTimer timer(&workspace_.profile.search);
    added.Begin(taken_.TakeFront(), drafter_.get(), options_.vocab_target);
  }
  for (size_t m = 0; m < members_.size(); ++m) {
    added.StartState(m, members_[m].prepared.model->config, &members_[m].pool);
  }
}

void Worker::SelectOutputs(size_t first) {
  ScopedTimer timer(&workspace_.profile.search);
  std::vector<OutputSubset*> subsets;
  for (size_t i = first; i < live_.size(); ++i) {
    if (live_[i]->output() != nullptr) subsets.push_back(live_[i]->output());
  }
  if (!subsets.empty()) output_layer_.Select(subsets);
}

// Step 4. The rows of a slot lie side by side, in the order of live_, both in the decoder's R rows
// and in rows_, which has only those that need logits.
void Worker::Step() {
  workspace_.arena.Rewind(0);
  queries_.clear();
  size_t asked = 0;
  for (const auto& slot : live_) asked += slot->asked();
  if (rows_.size() < asked) rows_.resize(asked);
  size_t first_row = 0;
  for (const auto& slot : live_) {
    slot->Ask(first_row, absl::MakeSpan(rows_).subspan(queries_.size(), slot->asked()), &queries_);
    first_row += slot->rows();
  }
  // The models of an ensemble read the same rows; the output layer averages their results.
  hidden_.clear();
  for (size_t m = 0; m < members_.size(); ++m) {
    inputs_.clear();
    const ModelConfig& config = members_[m].prepared.model->config;
    for (const auto& slot : live_) inputs_.push_back(slot->Input(m, config));
    hidden_.push_back(members_[m].decoder.Step(inputs_));
  }
  output_layer_.Run(hidden_, queries_);

  ScopedTimer timer(&workspace_.profile.search);
  auto rows = absl::MakeSpan(rows_);
  for (const auto& slot : live_) {
    const auto own = rows.first(slot->asked());
    rows.remove_prefix(own.size());
    if (!own.empty()) slot->Advance(own);
  }
  RemoveEnded();
}

// Step 5. Whatever may throw for a sentence comes before its job changes, since Recover needs the
// job as it was.
void Worker::RemoveEnded() {
  const auto now = std::chrono::steady_clock::now();
  bool any = false;
  for (const auto& slot : live_) {
    absl::Status status = slot->job().MustEnd(now);
    if (status.ok() && !slot->done()) continue;
    if (measuring_) {
      latencies_.push_back(std::chrono::duration<double>(now - slot->start()).count());
    }
    const bool is_done = slot->done();
    std::vector<Hypothesis> found;
    if (is_done) found = slot->Finish();
    slot->Release();
    Job* const job = slot->mutable_job();
    if (is_done && job->passes.NeedsAnotherPass(std::move(found))) {
      again_.Append(slot->TakeJob());
    } else {
      job->result = is_done ? Result(job->passes.TakeResult()) : std::move(status);
      queue_->Finish(slot->TakeJob());
    }
    any = true;
  }
  if (!any) return;
  free_.reserve(free_.size() + live_.size());
  const auto ended = std::stable_partition(live_.begin(), live_.end(),
                                           [](const auto& slot) { return !slot->is_free(); });
  std::move(ended, live_.end(), std::back_inserter(free_));
  live_.erase(ended, live_.end());
}

// All slots are dropped, since the failure may have left them half changed: their sentences start
// again. With several sentences, nothing says which one has failed, and a lack of memory may need
// all of them. So each is tried alone, and ends with the status only if it fails then.
void Worker::Recover(const absl::Status& status) noexcept {
  for (const auto& slot : live_) {
    if (!slot->is_free()) taken_.Append(slot->TakeJob());
  }
  live_.clear();
  free_.clear();
  if (taken_.empty()) return;  // all sentences had ended already
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
}

std::vector<double> Worker::FinishMeasuring() {
  measuring_ = false;
  return std::move(latencies_);
}

}  // namespace nibu::internal
