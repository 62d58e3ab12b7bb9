// Signals that end a program.
#ifndef NIBU_TOOLS_SIGNAL_WATCHER_H_
#define NIBU_TOOLS_SIGNAL_WATCHER_H_

#include <csignal>
#include <functional>
#include <mutex>

namespace nibu {

// Ends the program on SIGINT, SIGTERM and SIGHUP, with the status 128 + number. Create it before
// any other thread, which thus have the signals blocked; it must outlive main(). Ignores SIGPIPE.
class SignalWatcher {
 public:
  SignalWatcher();
  // What to do before the end; nothing when empty.
  void SetBeforeEnd(std::function<void()> f);
  // Calls `last`, which a signal can no longer cut short; then there is nothing left to do before
  // the end. Where a signal came first, the program ends instead.
  void Finish(const std::function<void()>& last);

 private:
  sigset_t signals_;
  std::mutex mutex_;
  std::function<void()> before_end_;
};

}  // namespace nibu

#endif  // NIBU_TOOLS_SIGNAL_WATCHER_H_
