// The decoding loop of one thread of a translator.
#ifndef NIBU_ENGINE_SCHEDULE_WORKER_H_
#define NIBU_ENGINE_SCHEDULE_WORKER_H_

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

#include "engine/model/decoder.h"
#include "engine/model/kv_cache.h"
#include "engine/model/layers.h"
#include "engine/model/output_layer.h"
#include "engine/model/prepared_model.h"
#include "engine/model/weights.h"
#include "engine/schedule/core_budget.h"
#include "engine/schedule/drafter.h"
#include "engine/schedule/job_queue.h"
#include "engine/schedule/slot.h"
#include "engine/schedule/solo_threads.h"
#include "engine/search/search_row.h"

namespace nibu::internal {

struct WorkerOptions {
  const PreparedModel* draft = nullptr;  // null: none
  CoreBudget* cores = nullptr;           // null: the worker may always decode
  // Threads that a matmul may use while there is a single sentence, and no other worker has one.
  int solo_threads = 1;
  // The most that is decoded together; a single sentence may have more tokens and rows.
  JobQueue::Room most;
  int vocab_target = 0;  // of all models
  MatmulKernels kernels = MatmulKernels::kAuto;
  MatmulObserver* observer = nullptr;  // null: none
};

// Decodes jobs from a queue, on the thread that runs it. The rows of its steps are the live
// hypotheses of several sentences, each at its own position and with options of its own: a sentence
// that ends makes room at once and the next one joins. Not thread-safe.
class Worker {
 public:
  // All outlive the worker. `models`: one, or those of an ensemble.
  Worker(absl::Span<const std::unique_ptr<const PreparedModel>> models,
         const WorkerOptions& options, JobQueue* queue);

  // Decodes until the queue is closed and empty. Throws nothing: where a step fails, its sentences
  // are decoded once more, one by one, and the one that fails alone ends with that status.
  void Run() noexcept;

  // While the worker waits: start a new profile; then return the seconds that each sentence took
  // since.
  void StartMeasuring();
  std::vector<double> FinishMeasuring();

  Workspace& workspace() { return workspace_; }

 private:
  // A model's part of the steps.
  struct Member {
    Member(const PreparedModel& of, Workspace* workspace)
        : prepared(of),
          pool(of.model->config, CacheTypeOf(*of.model), workspace->memory),
          decoder(*of.model, of.target, workspace) {}
    const PreparedModel& prepared;
    PagePool pool;
    Decoder decoder;
  };

  // False: there is nothing left to do.
  bool Fill();
  void Start();
  void AddSlot();
  // The output layers of the sentences of live_ from `first` on that have shortlists.
  void SelectOutputs(size_t first);
  // Returns whether there is a single sentence here, and none elsewhere, that threads could share.
  // Other translators with the same core budget must be idle, too.
  bool IsSolo() {
    return options_.solo_threads > 1 && live_.size() == 1 && queue_->Alone() && core_.IsAlone();
  }
  void SetThreads(bool several) {
    workspace_.matmul.SetThreads(several ? options_.solo_threads : 1);
  }
  void Step();
  // Takes the sentences that have ended, or must, out of live_.
  void RemoveEnded();
  void Recover(const absl::Status& status) noexcept;
  void End(std::shared_ptr<Job> job, Result result);

  const WorkerOptions options_;
  JobQueue* const queue_;
  CoreBudget::Holder core_;
  Workspace workspace_;
  std::deque<Member> members_;
  OutputLayer output_layer_;
  std::unique_ptr<Drafter> drafter_;  // with a draft model

  JobList taken_;     // from the queue, not in live_ yet
  JobList set_back_;  // of a step that failed, to be decoded one by one
  JobList again_;     // to be decoded once more
  std::vector<std::unique_ptr<Slot>> live_;
  std::vector<std::unique_ptr<Slot>> free_;
  SoloThreads solo_threads_;
  bool measuring_ = false;
  std::vector<double> latencies_;

  // Scratch of Step.
  std::vector<Decoder::Input> inputs_;
  std::vector<const float*> hidden_;
  std::vector<OutputLayer::Query> queries_;
  std::vector<SearchRow> rows_;
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_SCHEDULE_WORKER_H_
