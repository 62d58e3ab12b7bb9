#include "engine/worker.h"

#include <algorithm>
#include <cmath>
#include <utility>

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
      pool_(model.config, CacheTypeOf(model), options.search.beam_size),
      decoder_(model, target, &workspace_),
      output_(model, &workspace_),
      suppressed_(model.config.suppressed) {
  std::sort(suppressed_.begin(), suppressed_.end());
  suppressed_at_start_ = suppressed_;
  suppressed_at_start_.push_back(model.config.eos);
  std::sort(suppressed_at_start_.begin(), suppressed_at_start_.end());
  if (options_.draft != nullptr) {
    drafter_ = std::make_unique<Drafter>(*options_.draft, &workspace_);
  }
}

void Worker::Run() {
  while (true) {
    Fill();
    if (live_.empty()) return;
    const bool solo = IsSolo();
    SetThreads(solo && solo_threads_.Next());
    const auto start = std::chrono::steady_clock::now();
    // With more sentences a step has enough rows already.
    if (drafter_ != nullptr && live_.size() == 1) Guess(live_[0].get());
    Step();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    if (solo) solo_threads_.Took(seconds.count());
  }
}

// Waits for a sentence when there is nothing to do. Otherwise lets some room gather first, so that
// the encoder too gets several sentences at a time.
void Worker::Fill() {
  const bool idle = live_.empty();
  const size_t room = options_.max_sentences - live_.size();
  if (!idle && room < std::max<size_t>(1, options_.max_sentences / 8)) return;
  const size_t tokens = options_.max_tokens - std::min(options_.max_tokens, live_tokens_);
  Start(queue_->Take(room, tokens, /*wait=*/idle, /*preferred=*/options_.solo_threads > 1));
}

void Worker::Start(std::vector<Job> jobs) {
  size_t next = 0;
  while (next < jobs.size()) {
    // As many sentences as fit into one encoder call, at least one.
    std::vector<absl::Span<const int>> sources;
    std::vector<DecoderState*> states;
    size_t tokens = 0;
    while (next < jobs.size() &&
           (tokens == 0 || tokens + jobs[next].source.size() <= kEncoderTokens)) {
      std::unique_ptr<Slot> slot;
      if (free_.empty()) {
        slot = std::make_unique<Slot>();
      } else {
        slot = std::move(free_.back());
        free_.pop_back();
      }
      slot->job = std::move(jobs[next++]);
      slot->start = std::chrono::steady_clock::now();
      tokens += slot->job.source.size();
      Prepare(slot.get());
      sources.emplace_back(slot->job.source);
      states.push_back(&slot->state);
      live_.push_back(std::move(slot));
    }
    live_tokens_ += tokens;
    SetThreads(IsSolo() && solo_threads_.pay());
    ScopedTimer timer(&workspace_.profile.encoder);
    workspace_.arena.Rewind(0);
    const float* encoded = Encode(model_, source_, sources, &workspace_);
    decoder_.Begin(encoded, states);
  }
}

// What a sentence's decoding begins with, but for the encoder's part.
void Worker::Prepare(Slot* slot) {
  const std::vector<int>& source = slot->job.source;
  slot->state.Start(model_.config, &pool_, static_cast<int>(source.size()),
                    drafter_ == nullptr ? 0 : Drafter::kMostGuesses);
  SearchOptions search = options_.search;
  if (options_.max_length_factor > 0) {
    const float most = options_.max_length_factor * static_cast<float>(source.size());
    if (most < static_cast<float>(search.max_length)) {
      search.max_length = std::max(1, static_cast<int>(most));
    }
  }
  slot->search.Reset(search);
  slot->given = 1;
  slot->tokens.assign(1, options_.decoder_start[0]);
  if (options_.shortlist != nullptr) {
    ScopedTimer timer(&workspace_.profile.search);
    slot->output = output_.Select(
        options_.shortlist->Candidates(source, model_.config.vocab_target, model_.config.eos));
  }
  if (drafter_ != nullptr) slot->draft.Start(*options_.draft, source, slot->output.tokens);
}

void Worker::Guess(Slot* slot) {
  if (!is_generating(*slot)) return;
  // The token behind the guesses is one of those that are left, too.
  drafter_->Guess(&slot->draft, slot->search.steps_left() - 1, Suppressed(slot->search.length()),
                  &slot->tokens);
}

void Worker::Step() {
  workspace_.arena.Rewind(0);
  inputs_.clear();
  queries_.clear();
  const SearchOptions& search = options_.search;
  // Greedy search that ends at the first EOS needs one token a row, and no log-softmax.
  const bool greedy = search.beam_size == 1 && std::lround(search.patience) <= 1;
  for (const auto& slot : live_) {
    inputs_.push_back({&slot->state, slot->tokens, /*consecutive=*/drafter_ != nullptr});
    for (size_t i = 0; i < slot->tokens.size(); ++i) {
      const int generated = slot->search.length() + (drafter_ == nullptr ? 0 : static_cast<int>(i));
      queries_.push_back({static_cast<int>(queries_.size()), greedy ? 1 : 2 * search.beam_size,
                          !greedy || options_.return_scores, Suppressed(generated),
                          options_.shortlist == nullptr ? nullptr : &slot->output});
    }
  }
  const float* hidden = decoder_.Step(inputs_);
  if (tops_.size() < queries_.size()) tops_.resize(queries_.size());
  output_.BestTokens(hidden, queries_, absl::MakeSpan(tops_));

  ScopedTimer timer(&workspace_.profile.search);
  candidates_.clear();
  for (size_t r = 0; r < queries_.size(); ++r) candidates_.push_back(tops_[r].Finish());
  size_t row = 0;
  for (const auto& slot : live_) {
    const size_t rows = slot->tokens.size();
    Advance(slot.get(), absl::MakeConstSpan(candidates_).subspan(row, rows));
    row += rows;
  }
  const auto ended = std::stable_partition(live_.begin(), live_.end(),
                                           [](const auto& slot) { return !slot->search.done(); });
  for (auto it = ended; it != live_.end(); ++it) {
    Finish(it->get());
    free_.push_back(std::move(*it));
  }
  live_.erase(ended, live_.end());
}

void Worker::Advance(Slot* slot, absl::Span<const absl::Span<const Candidate>> candidates) {
  if (!is_generating(*slot)) {
    slot->tokens[0] = options_.decoder_start[slot->given++];
    return;
  }
  if (drafter_ != nullptr) return Verify(slot, candidates);
  slot->search.Advance(candidates);
  if (slot->search.done()) return;
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
  size_t rows = 0;  // those that count
  do {
    slot->search.Advance(candidates.subspan(rows++, 1));
    if (slot->search.done()) return;
  } while (rows < tokens.size() && slot->search.live()[0].token == tokens[rows]);
  slot->state.Truncate(slot->state.length() - static_cast<int>(tokens.size() - rows));
  tokens.resize(rows);
  tokens.push_back(slot->search.live()[0].token);
  slot->draft.Append(absl::MakeConstSpan(tokens).subspan(1));
  tokens.erase(tokens.begin(), tokens.end() - 1);
}

void Worker::Finish(Slot* slot) {
  live_tokens_ -= slot->job.source.size();
  slot->state.Release();
  slot->draft.Release();
  if (measuring_) {
    const auto now = std::chrono::steady_clock::now();
    latencies_.push_back(std::chrono::duration<double>(now - slot->start).count());
  }
  slot->job.done(slot->search.Finish());
  slot->job = Job();
  slot->output = {};
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
