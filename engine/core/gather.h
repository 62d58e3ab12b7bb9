// Collects results that come one by one, from any thread.
#ifndef NIBU_ENGINE_CORE_GATHER_H_
#define NIBU_ENGINE_CORE_GATHER_H_

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/base/macros.h"
#include "absl/status/statusor.h"

namespace nibu::internal {

// Takes `count` results, each of which is added once, under its number. When the last one is there,
// it has all of them, in the order of their numbers, or the error of the lowest number that failed:
// which of several fails first depends on the threads. Thread-safe.
template <typename T>
class Gather {
 public:
  using All = absl::StatusOr<std::vector<T>>;

  // `done`: called with all results by the Add of the last one; null: Await returns them.
  explicit Gather(size_t count, std::function<void(All)> done = nullptr)
      : done_(std::move(done)), missing_(count), failed_(count), results_(count) {}

  // REQUIRES: number < count, and fewer than `count` results have been added.
  void Add(size_t number, absl::StatusOr<T> result) {
    std::unique_lock<std::mutex> lock(mutex_);
    ABSL_ASSERT(number < results_.size() && missing_ > 0);
    if (result.ok()) {
      results_[number] = *std::move(result);
    } else if (number < failed_) {
      failed_ = number;
      status_ = result.status();
    }
    if (--missing_ > 0) return;
    if (done_ == nullptr) return complete_.notify_all();
    lock.unlock();
    done_(TakeAll());
  }

  bool has_failed() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return !status_.ok();
  }

  // Waits until all results have been added, and returns them. To be called once.
  All Await() {
    std::unique_lock<std::mutex> lock(mutex_);
    complete_.wait(lock, [this] { return missing_ == 0; });
    return TakeAll();
  }

 private:
  All TakeAll() {
    if (!status_.ok()) return status_;
    return std::exchange(results_, {});
  }

  const std::function<void(All)> done_;
  std::mutex mutex_;
  std::condition_variable complete_;
  size_t missing_;
  absl::Status status_;
  size_t failed_;  // the number that has this error
  std::vector<T> results_;
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_CORE_GATHER_H_
