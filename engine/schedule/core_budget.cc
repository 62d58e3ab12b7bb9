// A counting semaphore with a line of waiting threads, each with a condition variable of its own.
#include "engine/schedule/core_budget.h"

#include <unistd.h>

#include "absl/base/macros.h"
#include "engine/core/holds_lock.h"

namespace nibu::internal {

CoreBudget::CoreBudget(int cores, std::chrono::nanoseconds slice)
    : cores_(cores), slice_(slice), process_(getpid()) {}

int CoreBudget::held() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return held_;
}

int CoreBudget::waiting() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  int count = 0;
  for (const Waiter* waiter = first_; waiter != nullptr; waiter = waiter->next) ++count;
  return count;
}

bool CoreBudget::is_forked() const { return process_ != getpid(); }

void CoreBudget::Acquire(std::unique_lock<std::mutex>* lock) {
  ABSL_ASSERT(HoldsLock(*lock, mutex_));
  if (held_ < cores_) {  // then nobody is in line: see PassOn
    ++held_;
    return;
  }
  Waiter waiter;
  (first_ == nullptr ? first_ : last_->next) = &waiter;
  last_ = &waiter;
  waiter.woken.wait(*lock, [&waiter] { return waiter.has_core; });
}

// The core goes straight to the waiter, and held_ stays as it is: a thread that asks in the
// meantime cannot overtake the one that is about to wake up. The notification comes under the lock,
// because the waiter's memory is gone once its thread runs.
void CoreBudget::PassOn(const std::unique_lock<std::mutex>& lock) {
  ABSL_ASSERT(HoldsLock(lock, mutex_));
  ABSL_ASSERT(held_ > 0);
  if (first_ == nullptr) {
    --held_;
    return;
  }
  Waiter* const next = first_;
  first_ = next->next;
  next->has_core = true;
  next->woken.notify_one();
}

void CoreBudget::Holder::Take() {
  if (budget_ == nullptr || has_core_) return;
  std::unique_lock<std::mutex> lock(budget_->mutex_);
  budget_->Acquire(&lock);
  has_core_ = true;
  since_ = std::chrono::steady_clock::now();
}

void CoreBudget::Holder::GiveBack() {
  if (!has_core_) return;
  const std::unique_lock<std::mutex> lock(budget_->mutex_);
  budget_->PassOn(lock);
  has_core_ = false;
}

bool CoreBudget::Holder::Share() {
  if (!has_core_) return false;
  std::unique_lock<std::mutex> lock(budget_->mutex_);
  if (budget_->first_ == nullptr) return false;
  if (std::chrono::steady_clock::now() - since_ < budget_->slice_) return false;
  budget_->PassOn(lock);
  budget_->Acquire(&lock);
  since_ = std::chrono::steady_clock::now();
  return true;
}

bool CoreBudget::Holder::IsAlone() const {
  if (budget_ == nullptr) return true;
  const std::lock_guard<std::mutex> lock(budget_->mutex_);
  return budget_->held_ == (has_core_ ? 1 : 0) && budget_->first_ == nullptr;
}

}  // namespace nibu::internal
