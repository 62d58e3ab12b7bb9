// The queue of a translator. The functions follow the steps in job_queue.h; those that end jobs
// which no worker has taken stand behind Push.
#include "engine/schedule/job_queue.h"

#include <algorithm>
#include <utility>

#include "absl/base/macros.h"
#include "absl/strings/str_cat.h"
#include "engine/core/holds_lock.h"
#include "engine/core/status_macros.h"

namespace nibu::internal {
namespace {

constexpr auto kNever = Job::Clock::time_point::max();

}  // namespace

absl::Status JobQueue::AwaitRoom(std::chrono::nanoseconds patience) {
  std::unique_lock<std::mutex> lock(mutex_);
  return AwaitRoom(&lock, patience);
}

absl::Status JobQueue::AwaitRoom(std::unique_lock<std::mutex>* lock,
                                 std::chrono::nanoseconds patience) {
  ABSL_ASSERT(HoldsLock(*lock, mutex_));
  const auto may_go_on = [this] { return closed_ || undelivered_ < capacity_; };
  if (patience > std::chrono::hours(24 * 365)) {  // now + patience might overflow
    room_.wait(*lock, may_go_on);
  } else {
    room_.wait_for(*lock, patience, may_go_on);
  }
  if (closed_) return absl::FailedPreconditionError("the translator has ended");
  if (undelivered_ < capacity_) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("the queue is full: it has room for ", capacity_, " sentences; try again"));
}

// Step 1. A job with an earlier deadline than all others wakes the thread that delivers, which
// watches deadlines.
absl::Status JobQueue::Push(std::shared_ptr<Job> job, std::chrono::nanoseconds patience) {
  {
    std::unique_lock<std::mutex> lock(mutex_);
    if (!job->request.continues) NIBU_RETURN_IF_ERROR(AwaitRoom(&lock, patience));
    if (closed_) return absl::FailedPreconditionError("the translator has ended");
    QueueEntry& entry = job->entry;
    entry.order_ = {~job->request.priority, arrivals_ / kWindow,
                    -static_cast<int64_t>(job->source.size()), arrivals_};
    entry.arrival_ = Clock::now();
    const Clock::time_point deadline = job->request.deadline;
    jobs_.emplace(entry.order_, std::move(job));  // nothing has changed here if this throws
    ++arrivals_;
    ++undelivered_;
    if (deadline < earliest_deadline_) {
      earliest_deadline_ = deadline;
      ended_.notify_one();
    }
  }
  // All workers are woken, since a single one might leave the job to the preferred worker.
  arrived_.notify_all();
  return absl::OkStatus();
}

void JobQueue::Cancel(const std::shared_ptr<Job>& job) {
  job->is_cancelled = true;
  const std::unique_lock<std::mutex> lock(mutex_);
  const auto waiting = jobs_.find(job->entry.order_);
  if (waiting != jobs_.end()) End(lock, waiting, job->MustEnd(Clock::time_point::min()));
}

void JobQueue::CancelWaiting() {
  const std::unique_lock<std::mutex> lock(mutex_);
  for (auto waiting = jobs_.begin(); waiting != jobs_.end();) {
    waiting = End(lock, waiting, absl::CancelledError());
  }
}

JobQueue::Jobs::iterator JobQueue::End(const std::unique_lock<std::mutex>& lock,
                                       Jobs::iterator waiting, absl::Status status) {
  ABSL_ASSERT(HoldsLock(lock, mutex_));
  waiting->second->result = std::move(status);
  finished_.Append(std::move(waiting->second));
  ended_.notify_one();
  if (jobs_.size() == 1) idle_.notify_all();
  return jobs_.erase(waiting);
}

// Also works out the earliest deadline of those that are left.
void JobQueue::EndLate(const std::unique_lock<std::mutex>& lock, Clock::time_point now) {
  ABSL_ASSERT(HoldsLock(lock, mutex_));
  if (now < earliest_deadline_) return;
  earliest_deadline_ = kNever;
  for (auto it = jobs_.begin(); it != jobs_.end();) {
    const absl::Status status = it->second->MustEnd(now);
    if (status.ok())
      earliest_deadline_ = std::min(earliest_deadline_, it->second->request.deadline);
    it = status.ok() ? std::next(it) : End(lock, it, status);
  }
}

bool JobQueue::Alone() {
  const std::lock_guard<std::mutex> lock(mutex_);
  ABSL_ASSERT(waiting_ < workers_);
  return jobs_.empty() && waiting_ + 1 == workers_;
}

void JobQueue::Close() {
  const std::lock_guard<std::mutex> lock(mutex_);
  closed_ = true;
  arrived_.notify_all();
  room_.notify_all();
}

void JobQueue::AwaitIdle() {
  std::unique_lock<std::mutex> lock(mutex_);
  ABSL_ASSERT(!closed_);
  idle_.wait(lock, [this] { return jobs_.empty() && waiting_ == workers_; });
}

// Step 2. A job that does not fit ends the list: if smaller ones behind it were taken instead, it
// might wait for ever.
JobList JobQueue::Take(Room room, bool wait, bool preferred) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (wait) {
    ++waiting_;
    if (preferred) preferred_waits_ = true;
    idle_.notify_all();
    arrived_.wait(
        lock, [&] { return closed_ || jobs_.size() > (preferred_waits_ && !preferred ? 1 : 0); });
    if (preferred) preferred_waits_ = false;
    --waiting_;
  }
  const size_t share = (jobs_.size() + workers_ - 1) / workers_;
  size_t long_tokens = 0;
  JobList jobs;
  const Clock::time_point now = Clock::now();
  for (size_t n = std::min(room.sentences, share); n > 0; --n) {
    const auto next = jobs_.begin();
    const size_t size = next->second->source.size();
    const size_t rows = next->second->rows;
    const bool is_long = size > room.tokens_for_short / 8;
    const size_t kept_free = is_long ? room.tokens_for_short : 0;
    const bool fits = size + kept_free <= room.source_tokens && rows <= room.rows;
    if (!fits && !(wait && jobs.empty())) break;
    room.source_tokens -= std::min(room.source_tokens, size);
    room.rows -= std::min(room.rows, rows);
    ++begun_;
    waited_seconds_ += std::chrono::duration<double>(now - next->second->entry.arrival_).count();
    jobs.Append(std::move(next->second));
    jobs_.erase(next);
    if (is_long) long_tokens += size;
    if (room.tokens_for_short > 0 && long_tokens >= room.tokens_for_short / 2) break;
  }
  return jobs;
}

Activity JobQueue::activity() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return {jobs_.size(), begun_, waited_seconds_, steps_, step_sentences_};
}

// Step 3.
void JobQueue::Finish(std::shared_ptr<Job> job) {
  const std::lock_guard<std::mutex> lock(mutex_);
  finished_.Append(std::move(job));
  ended_.notify_one();
}

// Step 4.
std::shared_ptr<Job> JobQueue::TakeFinished() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (finished_.empty()) {
    if (finished_closed_) return nullptr;
    if (earliest_deadline_ == kNever) {
      ended_.wait(lock);
    } else {
      ended_.wait_until(lock, earliest_deadline_);
      EndLate(lock, Clock::now());
    }
  }
  return finished_.TakeFront();
}

void JobQueue::CloseFinished() {
  const std::lock_guard<std::mutex> lock(mutex_);
  finished_closed_ = true;
  ended_.notify_one();
}

void JobQueue::Delivered() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ABSL_ASSERT(undelivered_ > 0);
    --undelivered_;
  }
  // All are woken: if only one were, and its Push failed for lack of memory, nobody would use the
  // room.
  room_.notify_all();
}

}  // namespace nibu::internal
