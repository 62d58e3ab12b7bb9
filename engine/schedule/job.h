// A request on its way through a translator, and lists of such requests.
#ifndef NIBU_ENGINE_SCHEDULE_JOB_H_
#define NIBU_ENGINE_SCHEDULE_JOB_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/base/macros.h"
#include "absl/status/status.h"
#include "engine/request.h"
#include "engine/schedule/step_reporter.h"
#include "engine/search/passes.h"

namespace nibu::internal {

struct Job;

// A job's place in the JobQueue and in a JobList, which alone read and write it. Each job has an
// entry of its own, so that moving a job from list to list takes no memory and cannot fail.
class QueueEntry {
 private:
  friend class JobQueue;
  friend class JobList;
  using Order = std::tuple<int64_t, uint64_t, int64_t, uint64_t>;

  // ~priority, window of arrivals, -(source tokens), number of the arrival: jobs are taken in
  // ascending order. The last one makes it unique.
  Order order_;
  Request::Clock::time_point arrival_;
  bool is_listed_ = false;     // it is in a JobList
  std::shared_ptr<Job> next_;  // the job behind it there
};

// The caller's request, and the state of its decoding. Its owners follow each other: the queue, a
// worker, the queue again, and the thread that delivers its result. Only the owner touches it,
// except for is_cancelled.
struct Job {
  using Clock = Request::Clock;

  // REQUIRES: the request has a plan and a source; CheckRequest (plan.h) has found it right.
  Job(Request request, Done done);
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  const Request request;
  const std::vector<int> source;  // the request's tokens, with their frame
  Passes passes;
  const size_t rows;  // the most rows that its decoder steps may have
  StepReporter steps;
  Done done;
  Result result;

  // Any thread may set it: the job is then to end with Cancelled.
  std::atomic<bool> is_cancelled{false};

  QueueEntry entry;

  const SearchPlan& plan() const { return *request.plan; }
  // Returns Cancelled or DeadlineExceeded if the job is to end now. The status has no message,
  // since a message takes memory.
  absl::Status MustEnd(Clock::time_point now) const;
};

// A first-in, first-out list of jobs, linked through their entries: it allocates nothing. A job is
// in one list at a time. Not thread-safe.
class JobList {
 public:
  bool empty() const { return first_ == nullptr; }
  const Job& front() const { return *first_; }
  // REQUIRES: the job is in no list.
  void Append(std::shared_ptr<Job> job) {
    ABSL_ASSERT(!job->entry.is_listed_);
    job->entry.is_listed_ = true;
    Job* const added = job.get();
    (last_ == nullptr ? first_ : last_->entry.next_) = std::move(job);
    last_ = added;
  }
  // REQUIRES: !empty().
  std::shared_ptr<Job> TakeFront() {
    ABSL_ASSERT(!empty());
    std::shared_ptr<Job> job = std::move(first_);
    first_ = std::move(job->entry.next_);
    if (first_ == nullptr) last_ = nullptr;
    job->entry.is_listed_ = false;
    return job;
  }

 private:
  std::shared_ptr<Job> first_;
  Job* last_ = nullptr;
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_SCHEDULE_JOB_H_
