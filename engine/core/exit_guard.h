// Calls functions when the process ends, for what must not outlive static objects.
#ifndef NIBU_ENGINE_CORE_EXIT_GUARD_H_
#define NIBU_ENGINE_CORE_EXIT_GUARD_H_

#include <functional>

namespace nibu::internal {

// Calls a function when the main thread ends the process, before static objects are destroyed, if
// the guard still exists then. Static objects are destroyed in the reverse order of their
// construction: one that owns threads would outlive objects that a library has created later, and
// that the threads need. The function of a guard that another thread has created is called only if
// the main thread has created a guard, too. Thread-safe.
class ExitGuard {
 public:
  // The function must not throw, and must neither create nor destroy a guard.
  explicit ExitGuard(std::function<void()> function);
  // Waits for the function if it is running.
  ~ExitGuard();
  ExitGuard(const ExitGuard&) = delete;
  ExitGuard& operator=(const ExitGuard&) = delete;

 private:
  struct All;
  std::function<void()> function_;
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_CORE_EXIT_GUARD_H_
