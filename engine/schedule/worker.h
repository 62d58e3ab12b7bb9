// The decoding loop of one thread of a translator.
//
// live_ holds a Slot for each sentence that is decoded now. Until the queue is closed and empty,
// Run repeats:
//
//  1. Fill gets jobs: those that need another pass (again_), or else jobs of the queue. It asks the
//     queue only if an eighth of the worker's sentences and rows is free, so that several sentences
//     begin together, and waits there only if live_ is empty. As long as there are jobs that a
//     failed step has set back (set_back_), it gets one of these instead of the queue's, each time
//     that live_ is empty.
//  2. Start gives each job a slot, encodes the new sentences, up to kEncoderTokens source tokens in
//     a call, and computes their keys and values for cross-attention.
//  3. A draft model, if there is one, guesses the next tokens of a sentence that is alone.
//  4. Step runs the decoder once. Its R rows are the newest tokens of all live hypotheses, sentence
//     by sentence, each sentence at its own position; a sentence's first step also has its start
//     tokens and prefix or target, and a drafted one its guesses (slot.h). The result is
//     hidden [R, D] of each model. The output layer makes logits of the rows that a slot asks for,
//     and the slot's search takes them.
//  5. RemoveEnded takes out of live_ the sentences that are done, cancelled or late. Their jobs go
//     to the queue's Finish, or to again_. The room is free for the next ones at once.
//
// If anything throws, Recover sets all of the worker's sentences back, to be decoded one by one
// from their beginning. A sentence that fails when it is alone ends with that status.
//
// The worker holds a core of the CoreBudget in steps 2 to 5, and passes it on between two decoder
// steps or encoder calls when others wait for it and its time slice is over. It holds none while it
// waits for the queue.
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
  // The threads that a matmul may use while this worker has a single sentence and no other worker
  // has one. 1: the worker never uses more.
  int solo_threads = 1;
  // The most that is decoded together. A sentence that is alone may have more tokens and rows.
  JobQueue::Room most;
  int vocab_target = 0;  // the tokens that all models have
  MatmulKernels kernels = MatmulKernels::kAuto;
  MatmulObserver* observer = nullptr;  // null: none
};

// Decodes jobs from a queue, on the thread that calls Run. Sentences with different options share
// its steps. Not thread-safe.
class Worker {
 public:
  // All arguments outlive the worker. `models`: one, or those of an ensemble.
  Worker(absl::Span<const std::unique_ptr<const PreparedModel>> models,
         const WorkerOptions& options, JobQueue* queue);

  // Decodes until the queue is closed and empty.
  void Run() noexcept;

  // The first starts a new profile, the second returns the seconds that each pass over a sentence
  // has taken since, also of those that were cancelled or late. To be called only while the worker
  // waits for jobs.
  void StartMeasuring();
  std::vector<double> FinishMeasuring();

  Workspace& workspace() { return workspace_; }

 private:
  // A model, with the decoder and the memory that the worker has for it.
  struct Member {
    Member(const PreparedModel& of, Workspace* workspace)
        : prepared(of),
          pool(of.model->config, CacheTypeOf(*of.model), workspace->memory),
          decoder(*of.model, of.target, workspace) {}
    const PreparedModel& prepared;
    PagePool pool;
    Decoder decoder;
  };

  // Returns false if there is nothing left to do: the queue is closed and empty.
  bool Fill();
  // Moves all jobs of taken_ into slots of live_ and encodes them. Jobs that must end do so here.
  void Start();
  void AddSlot();
  // Makes the output layers of those sentences of live_, from `first` on, that have shortlists.
  void SelectOutputs(size_t first);
  // Returns whether this worker has a single sentence, none waits in the queue, and no other worker
  // has any, nor a translator with the same core budget: then its matmuls may use several threads.
  bool IsSolo() {
    return options_.solo_threads > 1 && live_.size() == 1 && queue_->Alone() && core_.IsAlone();
  }
  void SetThreads(bool several) {
    workspace_.matmul.SetThreads(several ? options_.solo_threads : 1);
  }
  void Step();
  // Takes the sentences that are done, cancelled or late out of live_.
  void RemoveEnded();
  // Sets all sentences back after a failure with this status. Allocates nothing.
  void Recover(const absl::Status& status) noexcept;
  // Gives a job, which has no slot, its result and finishes it.
  void End(std::shared_ptr<Job> job, Result result);

  const WorkerOptions options_;
  JobQueue* const queue_;
  CoreBudget::Holder core_;
  Workspace workspace_;
  std::deque<Member> members_;
  OutputLayer output_layer_;
  std::unique_ptr<Drafter> drafter_;  // null without a draft model

  JobList taken_;     // jobs that Start is to begin
  JobList set_back_;  // jobs of a step that failed, to be decoded one by one
  JobList again_;     // jobs that need another pass
  std::vector<std::unique_ptr<Slot>> live_;
  std::vector<std::unique_ptr<Slot>> free_;  // slots without a job, kept for their memory
  SoloThreads solo_threads_;
  bool measuring_ = false;
  std::vector<double> latencies_;  // seconds

  // Scratch of Step.
  std::vector<Decoder::Input> inputs_;        // of each live sentence
  std::vector<RowSpan<const float>> hidden_;  // of each model, [R, D]
  std::vector<OutputLayer::Query> queries_;   // of each row that needs logits
  std::vector<SearchRow> rows_;               // where those logits go
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_SCHEDULE_WORKER_H_
