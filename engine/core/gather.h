// Collects results that come one by one, from any thread.
#ifndef NIBU_ENGINE_CORE_GATHER_H_
#define NIBU_ENGINE_CORE_GATHER_H_

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/base/macros.h"
#include "absl/status/statusor.h"

namespace nibu::internal {

// Waits for `count` results, each of which is added once, under its number. Thread-safe.
template <typename T>
class Gather {
 public:
  explicit Gather(size_t count) : missing_(count), results_(count) {}

  // REQUIRES: number < count, and fewer than `count` results have been added.
  void Add(size_t number, absl::StatusOr<T> result) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ABSL_ASSERT(number < results_.size() && missing_ > 0);
    status_.Update(result.status());
    if (result.ok()) results_[number] = *std::move(result);
    if (--missing_ == 0) complete_.notify_all();
  }

  bool has_failed() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return !status_.ok();
  }

  // Waits until all results have been added and returns them in the order of their numbers, or the
  // status of the first one that was added as a failure. To be called once.
  absl::StatusOr<std::vector<T>> Await() {
    std::unique_lock<std::mutex> lock(mutex_);
    complete_.wait(lock, [this] { return missing_ == 0; });
    if (!status_.ok()) return status_;
    return std::move(results_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable complete_;
  size_t missing_;
  absl::Status status_;
  std::vector<T> results_;
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_CORE_GATHER_H_
