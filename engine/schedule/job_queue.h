// The queue of a translator: jobs that wait for a worker, and jobs that are done and wait to be
// delivered. A job passes through it in four steps:
//
//  1. Push waits until fewer than `capacity` jobs are under way, and adds the job to jobs_.
//  2. Take hands the next jobs to a worker: as many as fit into the worker's room, but no more than
//     its share, (waiting jobs) / (workers) rounded up, so that every worker gets some.
//  3. Finish adds the job with its result to finished_. A job that is cancelled while it waits in
//     jobs_ comes here at once, without a worker; so does one whose deadline passes, as soon as
//     TakeFinished waits. A job that a worker has taken is ended by that worker (Job::MustEnd).
//  4. TakeFinished hands the job to the thread that delivers results, in the order in which they
//     were finished. That thread then calls Delivered, which makes room for another job.
//
// The order of jobs_ (QueueEntry::Order): higher priorities come first; of one priority, windows of
// kWindow consecutive arrivals come one after the other, so that no sentence waits for ever; within
// a window, the longest sentence comes first, so that workers do not end on a long one; of equally
// long ones, the first to arrive. If the next job does not fit, Take stops; it never takes a later,
// smaller one instead.
//
// The end: after Close, nothing can be pushed and Take returns no jobs once jobs_ is empty. When
// all workers have ended, CloseFinished makes TakeFinished return null once finished_ is empty.
#ifndef NIBU_ENGINE_SCHEDULE_JOB_QUEUE_H_
#define NIBU_ENGINE_SCHEDULE_JOB_QUEUE_H_

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "absl/status/status.h"
#include "engine/schedule/job.h"
#include "nibu/engine.h"

namespace nibu::internal {

// Thread-safe. After Push, which allocates the job's place in jobs_, moving a job allocates no
// memory, so that every job can end: a JobList links jobs through entries of their own.
class JobQueue {
 public:
  using Clock = Job::Clock;

  // `workers`: how many threads call Take. `capacity`: the most jobs under way, which are those
  // that were pushed and are not yet delivered.
  JobQueue(int workers, size_t capacity)
      : workers_(static_cast<size_t>(workers)), capacity_(capacity) {}

  // Waits for room, as long as `patience`. ResourceExhausted: there was none. FailedPrecondition:
  // the queue is closed.
  absl::Status AwaitRoom(std::chrono::nanoseconds patience);
  // Waits for room as AwaitRoom does and takes the job. A job that continues another
  // (Request::continues) is taken without waiting, even if the queue is full; it counts as one
  // under way. When it throws std::bad_alloc, the job has not been taken.
  absl::Status Push(std::shared_ptr<Job> job, std::chrono::nanoseconds patience);
  // Ends a job with Cancelled: at once if it waits, before its next step if a worker has it.
  void Cancel(const std::shared_ptr<Job>& job);
  // Cancels all jobs that no worker has taken.
  void CancelWaiting();
  // Says that no more jobs will come: Push refuses them from now on.
  void Close();
  // Blocks until no job is left and every worker waits for the next one. REQUIRES: not closed.
  void AwaitIdle();

  // Returns whether no job waits and all workers but the caller wait for one. REQUIRES: the caller
  // is a worker, which does not wait.
  bool Alone();

  // The most that a worker can take.
  struct Room {
    size_t sentences;
    size_t source_tokens;
    size_t rows;  // of the decoder's steps: the sum of Job::rows
    // Long sentences leave so many of source_tokens free. A sentence of at most an eighth of
    // them is a short one. A call of Take hands out no more long ones than it takes to have
    // half as many tokens: short ones that come while these are encoded are taken next.
    size_t tokens_for_short = 0;
  };
  // Takes the next jobs for a worker: see step 2 above. With `wait`, it blocks until there is a job
  // and takes the first one whatever its length and beam; an empty list then means that the queue
  // is closed and empty. One of the workers may be the `preferred` one, which alone can use threads
  // for a single sentence: while it waits, the others that wait leave a single job to it.
  JobList Take(Room room, bool wait, bool preferred = false);

  // Counts a step of a worker's decoder with so many sentences.
  void CountStep(size_t sentences) {
    steps_.fetch_add(1, std::memory_order_relaxed);
    step_sentences_.fetch_add(sentences, std::memory_order_relaxed);
  }
  Activity activity();

  // Hands a job, whose result has been set, to the thread that delivers.
  void Finish(std::shared_ptr<Job> job);

  // For the one thread that delivers: blocks until a job is finished and returns it. While it
  // waits, it also ends the jobs of jobs_ whose deadlines pass. Returns null after CloseFinished,
  // when no finished job is left.
  std::shared_ptr<Job> TakeFinished();
  // Says that no more jobs will be finished.
  void CloseFinished();
  // Makes room for another job, since the result of one has been delivered. REQUIRES: it was under
  // way.
  void Delivered();

 private:
  // Callers deliver translations in the order of the input, so the first line of a window may have
  // to wait for the whole window. Larger windows were no faster.
  static constexpr uint64_t kWindow = 256;

  using Jobs = std::map<QueueEntry::Order, std::shared_ptr<Job>>;
  // REQUIRES: `lock` holds mutex_.
  absl::Status AwaitRoom(std::unique_lock<std::mutex>* lock, std::chrono::nanoseconds patience);
  // Moves a waiting job with this status to finished_ and returns the job behind it. REQUIRES:
  // `lock` holds mutex_.
  Jobs::iterator End(const std::unique_lock<std::mutex>& lock, Jobs::iterator waiting,
                     absl::Status status);
  // Ends the waiting jobs whose deadlines have passed. REQUIRES: `lock` holds mutex_.
  void EndLate(const std::unique_lock<std::mutex>& lock, Clock::time_point now);

  const size_t workers_;
  const size_t capacity_;
  std::mutex mutex_;
  std::condition_variable arrived_;  // workers wait for jobs_
  std::condition_variable idle_;     // AwaitIdle waits for the workers
  std::condition_variable room_;     // Push waits for Delivered
  std::condition_variable ended_;    // TakeFinished waits for finished_ or a deadline
  size_t waiting_ = 0;               // workers that wait in Take
  bool preferred_waits_ = false;
  Jobs jobs_;
  // No job of jobs_ has an earlier deadline.
  Clock::time_point earliest_deadline_ = Clock::time_point::max();
  JobList finished_;
  size_t undelivered_ = 0;  // jobs under way
  uint64_t arrivals_ = 0;   // jobs pushed so far
  uint64_t begun_ = 0;      // jobs taken so far
  double waited_seconds_ = 0;
  std::atomic<uint64_t> steps_{0};
  std::atomic<uint64_t> step_sentences_{0};
  bool closed_ = false;
  bool finished_closed_ = false;
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_SCHEDULE_JOB_QUEUE_H_
