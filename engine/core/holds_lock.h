// Asks of a lock whether it is the one that a function's caller must hold.
#ifndef NIBU_ENGINE_CORE_HOLDS_LOCK_H_
#define NIBU_ENGINE_CORE_HOLDS_LOCK_H_

#include <mutex>

namespace nibu::internal {

// Returns whether the lock holds this mutex, for assertions.
inline bool HoldsLock(const std::unique_lock<std::mutex>& lock, const std::mutex& mutex) {
  return lock.owns_lock() && lock.mutex() == &mutex;
}

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_CORE_HOLDS_LOCK_H_
