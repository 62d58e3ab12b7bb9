// Requests on their way: waiting for a worker, or done and waiting to be delivered.
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
#include "engine/schedule/activity.h"
#include "engine/schedule/job.h"

namespace nibu::internal {

// Thread-safe. Higher priorities come first. Within a window of kWindow consecutive arrivals the
// longest sentence comes first, so that workers do not end on a long one; windows come in order, so
// that no sentence waits for ever.
class JobQueue {
 public:
  using Clock = Job::Clock;

  // `workers`: threads that take from the queue. `capacity`: jobs that were pushed and are not yet
  // delivered, at most.
  JobQueue(int workers, size_t capacity)
      : workers_(static_cast<size_t>(workers)), capacity_(capacity) {}

  // Waits for room as long as `patience`. ResourceExhausted: there is none; FailedPrecondition:
  // closed.
  absl::Status AwaitRoom(std::chrono::nanoseconds patience);
  // The same, and takes the job; one that continues another takes no room. Throws std::bad_alloc,
  // and has done nothing then.
  absl::Status Push(std::shared_ptr<Job> job, std::chrono::nanoseconds patience);
  // Ends a waiting job; one that is with a worker is told to end.
  void Cancel(const std::shared_ptr<Job>& job);
  // Cancels all jobs that no worker has taken.
  void CancelWaiting();
  // No more jobs will come.
  void Close();
  // Blocks until no job is left and every worker waits for the next one. REQUIRES: not closed.
  void AwaitIdle();

  // Returns whether no job is left and all workers but the caller wait for one.
  bool Alone();

  // The most that a worker can take.
  struct Room {
    size_t sentences;
    size_t source_tokens;
    size_t rows;  // of the decoder's steps: the sum of the beams
  };
  // When few jobs are waiting, takes a fair share of them, so that every worker gets some. With
  // `wait`, blocks until there is one and takes it whatever its length and beam; an empty result
  // then means that the queue is closed and empty. One of the workers may be the `preferred` one: a
  // single job is left to it if it waits, too.
  JobList Take(Room room, bool wait, bool preferred = false);

  // Counts a step of a worker's decoder with so many sentences.
  void CountStep(size_t sentences) {
    steps_.fetch_add(1, std::memory_order_relaxed);
    step_sentences_.fetch_add(sentences, std::memory_order_relaxed);
  }
  Activity activity();

  // Hands a job with its result on to whoever delivers it.
  void Finish(std::shared_ptr<Job> job);

  // For the one thread that delivers: blocks until a job is done, or has waited here beyond its
  // deadline. Null: after CloseFinished, when nothing is left.
  std::shared_ptr<Job> TakeFinished();
  // Nothing will be finished any more.
  void CloseFinished();
  // Its result has been delivered: there is room for another.
  void Delivered();

 private:
  // Output comes in the order of input, so a window is also what a reader waits for; larger ones
  // are no faster.
  static constexpr uint64_t kWindow = 256;

  using Jobs = std::map<QueueEntry::Order, std::shared_ptr<Job>>;
  // REQUIRES: `lock` holds mutex_.
  absl::Status AwaitRoom(std::unique_lock<std::mutex>* lock, std::chrono::nanoseconds patience);
  // Ends a waiting job; returns what follows it. REQUIRES: mutex_ held.
  Jobs::iterator End(Jobs::iterator waiting, absl::Status status);
  void EndLate(Clock::time_point now);

  const size_t workers_;
  const size_t capacity_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::condition_variable idle_;
  std::condition_variable room_;
  std::condition_variable ended_;
  size_t waiting_ = 0;  // workers that wait in Take
  bool preferred_waits_ = false;
  Jobs jobs_;
  Clock::time_point earliest_deadline_ = Clock::time_point::max();  // of jobs_, or before it
  JobList finished_;
  size_t undelivered_ = 0;
  uint64_t arrivals_ = 0;
  uint64_t begun_ = 0;
  double waited_seconds_ = 0;
  std::atomic<uint64_t> steps_{0};
  std::atomic<uint64_t> step_sentences_{0};
  bool closed_ = false;
  bool finished_closed_ = false;
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_SCHEDULE_JOB_QUEUE_H_
