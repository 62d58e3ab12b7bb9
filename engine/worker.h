#ifndef NIBU_ENGINE_WORKER_H_
#define NIBU_ENGINE_WORKER_H_

#include <chrono>
#include <cstddef>
#include <limits>
#include <memory>
#include <vector>

#include "engine/drafter.h"
#include "engine/job_queue.h"
#include "engine/model/decoder.h"
#include "engine/model/kv_cache.h"
#include "engine/model/layers.h"
#include "engine/model/output_layer.h"
#include "engine/model/weights.h"
#include "engine/ops/top_k.h"
#include "engine/search/beam_search.h"
#include "engine/search/shortlist.h"
#include "engine/solo_threads.h"

namespace nibu {

struct WorkerOptions {
  SearchOptions search;
  std::vector<int> decoder_start;  // see Frame
  int min_length = 1;
  float max_length_factor = 0;                 // see DecodingOptions
  std::shared_ptr<const Shortlist> shortlist;  // null: none
  bool return_scores = true;
  std::shared_ptr<const DraftModel> draft;  // null: none. REQUIRES: a beam of 1
  // Threads that a matmul may use while there is a single sentence, and no other worker has one.
  int solo_threads = 1;
  // What is decoded together: so many sentences, and so many source tokens (a single sentence may
  // have more).
  size_t max_sentences = 32;
  size_t max_tokens = std::numeric_limits<size_t>::max();
};

// Decodes jobs from a queue, on the thread that runs it. The rows of its steps are the live
// hypotheses of up to max_sentences sentences, each at its own position: a sentence that ends makes
// room at once and the next one joins. Not thread-safe.
class Worker {
 public:
  // All outlive the worker.
  Worker(const Model& model, const Embedder& source, const Embedder& target,
         const WorkerOptions& options, JobQueue* queue);

  // Until the queue is closed and empty.
  void Run();

  // While the worker waits: profile and matmul trace from now on; then the seconds that each
  // sentence took since.
  void StartMeasuring();
  std::vector<double> FinishMeasuring();

  Workspace& workspace() { return workspace_; }

 private:
  // A sentence being decoded.
  struct Slot {
    Job job;
    std::chrono::steady_clock::time_point start;
    DecoderState state;
    BeamSearch search;
    size_t given = 0;         // tokens of decoder_start that the decoder has been given
    OutputSubset output;      // with a shortlist
    Drafter::Sentence draft;  // with a draft model
    // Newest token of each live hypothesis; or the newest token and guesses of those behind it.
    std::vector<int> tokens;
    std::vector<int> parents;  // which hypothesis of the last step it continues
  };

  void Fill();
  void Start(std::vector<Job> jobs);
  // Whether there is a single sentence here, and none elsewhere, that threads could share.
  bool IsSolo() { return options_.solo_threads > 1 && live_.size() == 1 && queue_->Alone(); }
  void SetThreads(bool several) {
    workspace_.matmul.SetThreads(several ? options_.solo_threads : 1);
  }
  void Prepare(Slot* slot);
  void Guess(Slot* slot);
  void Step();
  bool is_generating(const Slot& slot) const { return slot.given == options_.decoder_start.size(); }
  // What is suppressed where so many tokens have been generated.
  absl::Span<const int> Suppressed(int generated) const {
    return generated < options_.min_length ? suppressed_at_start_ : suppressed_;
  }
  void Advance(Slot* slot, absl::Span<const absl::Span<const Candidate>> candidates);
  // Keeps the tokens that were guessed right, and the one that follows them.
  void Verify(Slot* slot, absl::Span<const absl::Span<const Candidate>> candidates);
  void Finish(Slot* slot);

  const Model& model_;
  const Embedder& source_;
  const WorkerOptions options_;
  JobQueue* const queue_;
  Workspace workspace_;
  PagePool pool_;
  Decoder decoder_;
  OutputLayer output_;
  std::vector<int> suppressed_;           // in every step
  std::vector<int> suppressed_at_start_;  // in the first min_length steps
  std::unique_ptr<Drafter> drafter_;      // with a draft model

  std::vector<std::unique_ptr<Slot>> live_;
  std::vector<std::unique_ptr<Slot>> free_;
  size_t live_tokens_ = 0;  // source tokens of live_
  SoloThreads solo_threads_;
  bool measuring_ = false;
  std::vector<double> latencies_;

  // Scratch of Step.
  std::vector<Decoder::Input> inputs_;
  std::vector<OutputLayer::Query> queries_;
  std::vector<TopK> tops_;
  std::vector<absl::Span<const Candidate>> candidates_;
};

}  // namespace nibu

#endif  // NIBU_ENGINE_WORKER_H_
