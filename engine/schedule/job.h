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

// The caller's request, what belongs to its decoding, and its place in the queue. One thread has it
// at a time: the queue, a worker, and the thread that delivers its result.
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

  // The queue's: ~priority, window, -length, arrival.
  using Order = std::tuple<int64_t, uint64_t, int64_t, uint64_t>;
  Order order;
  Clock::time_point arrival;
  std::shared_ptr<Job> next;  // in a JobList

  const SearchPlan& plan() const { return *request.plan; }
  // Cancelled or DeadlineExceeded if the job is to end now. Without messages, which take memory.
  absl::Status MustEnd(Clock::time_point now) const;
};

// Jobs one after the other. Moving them from list to list takes no memory.
class JobList {
 public:
  bool empty() const { return first_ == nullptr; }
  const Job& front() const { return *first_; }
  void Append(std::shared_ptr<Job> job) {
    Job* const added = job.get();
    (last_ == nullptr ? first_ : last_->next) = std::move(job);
    last_ = added;
  }
  std::shared_ptr<Job> TakeFront() {
    std::shared_ptr<Job> job = std::move(first_);
    first_ = std::move(job->next);
    if (first_ == nullptr) last_ = nullptr;
    return job;
  }

 private:
  std::shared_ptr<Job> first_;
  Job* last_ = nullptr;
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_SCHEDULE_JOB_H_
