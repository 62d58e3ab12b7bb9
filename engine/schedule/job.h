// A request on its way through a translator.
#ifndef NIBU_ENGINE_SCHEDULE_JOB_H_
#define NIBU_ENGINE_SCHEDULE_JOB_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "engine/request.h"
#include "engine/schedule/step_reporter.h"
#include "engine/search/passes.h"

namespace nibu::internal {

struct Job;

// A job's place in the JobQueue and in a JobList, which alone read and write it. Each job has its
// own, so that moving a job from list to list takes no memory and cannot fail.
class QueueEntry {
 private:
  friend class JobQueue;
  friend class JobList;
  using Order = std::tuple<int64_t, uint64_t, int64_t, uint64_t>;

  Order order_;  // ~priority, window, -length, arrival
  Request::Clock::time_point arrival_;
  std::shared_ptr<Job> next_;  // in a JobList
};

// The caller's request, and the state of its decoding. One thread has it at a time: the queue, a
// worker, and the thread that delivers its result.
struct Job {
  using Clock = Request::Clock;

  // REQUIRES: the request has a plan, and has been checked.
  Job(Request request, Done done);
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  const Request request;
  const std::vector<int> source;  // the request's, with its frame
  Passes passes;
  const size_t rows;  // of the decoder's steps, at most
  StepReporter steps;
  Done done;
  Result result;

  // Set by any thread: the job is to end with Cancelled.
  std::atomic<bool> is_cancelled{false};

  QueueEntry entry;

  const SearchPlan& plan() const { return *request.plan; }
  // Cancelled or DeadlineExceeded if the job is to end now. Without messages, which take memory.
  absl::Status MustEnd(Clock::time_point now) const;
};

// Jobs one after the other. A job is in one list at a time.
class JobList {
 public:
  bool empty() const { return first_ == nullptr; }
  const Job& front() const { return *first_; }
  void Append(std::shared_ptr<Job> job) {
    Job* const added = job.get();
    (last_ == nullptr ? first_ : last_->entry.next_) = std::move(job);
    last_ = added;
  }
  std::shared_ptr<Job> TakeFront() {
    std::shared_ptr<Job> job = std::move(first_);
    first_ = std::move(job->entry.next_);
    if (first_ == nullptr) last_ = nullptr;
    return job;
  }

 private:
  std::shared_ptr<Job> first_;
  Job* last_ = nullptr;
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_SCHEDULE_JOB_H_
