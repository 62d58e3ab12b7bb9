#include "engine/job_queue.h"

#include <algorithm>
#include <utility>

namespace nibu {

void JobQueue::Push(Job job) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const Order order(arrivals_ / kWindow, -static_cast<int64_t>(job.source.size()), arrivals_);
    ++arrivals_;
    jobs_.emplace(order, std::move(job));
  }
  arrived_.notify_all();
}

bool JobQueue::Alone() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return jobs_.empty() && waiting_ + 1 == workers_;
}

void JobQueue::Close() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    closed_ = true;
  }
  arrived_.notify_all();
}

void JobQueue::AwaitIdle() {
  std::unique_lock<std::mutex> lock(mutex_);
  idle_.wait(lock, [this] { return jobs_.empty() && waiting_ == workers_; });
}

std::vector<Job> JobQueue::Take(size_t most, size_t tokens, bool wait, bool preferred) {
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
  std::vector<Job> jobs;
  for (size_t n = std::min(most, share); n > 0; --n) {
    const auto next = jobs_.begin();
    const size_t size = next->second.source.size();
    if (size > tokens && !(wait && jobs.empty())) break;
    tokens -= std::min(tokens, size);
    jobs.push_back(std::move(next->second));
    jobs_.erase(next);
  }
  return jobs;
}

}  // namespace nibu
