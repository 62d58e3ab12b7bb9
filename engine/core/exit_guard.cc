// Calls the functions from the destructor of a thread_local object of the main thread.
#include "engine/core/exit_guard.h"

#include <unistd.h>

#include <mutex>
#include <set>
#include <utility>

namespace nibu::internal {

struct ExitGuard::All {
  std::mutex mutex;
  std::set<ExitGuard*> guards;

  static All& Get() {
    static All& all = *new All;  // never destroyed
    return all;
  }
};

ExitGuard::ExitGuard(std::function<void()> function) : function_(std::move(function)) {
  // The main thread's thread_local objects are destroyed before all static ones.
  struct CallsAll {
    ~CallsAll() {
      const std::lock_guard<std::mutex> lock(All::Get().mutex);
      for (ExitGuard* const guard : All::Get().guards) guard->function_();
    }
  };
  if (getpid() == gettid()) static thread_local const CallsAll at_exit;
  const std::lock_guard<std::mutex> lock(All::Get().mutex);
  All::Get().guards.insert(this);
}

ExitGuard::~ExitGuard() {
  const std::lock_guard<std::mutex> lock(All::Get().mutex);
  All::Get().guards.erase(this);
}

}  // namespace nibu::internal
