#include "tools/signal_watcher.h"

#include <unistd.h>

#include <thread>
#include <utility>

namespace nibu {

SignalWatcher::SignalWatcher() {
  sigemptyset(&signals_);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action;
    // Who started this may want it to be left alone (a job in the background, nohup).
    if (sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) continue;
    sigaddset(&signals_, number);
  }
  pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  signal(SIGPIPE, SIG_IGN);
  std::thread([this] {
    int number = 0;
    while (sigwait(&signals_, &number) != 0) {
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    if (before_end_) before_end_();
    _exit(128 + number);
  }).detach();
}

void SignalWatcher::SetBeforeEnd(std::function<void()> f) {
  const std::lock_guard<std::mutex> lock(mutex_);
  before_end_ = std::move(f);
}

void SignalWatcher::Finish(const std::function<void()>& last) {
  const std::lock_guard<std::mutex> lock(mutex_);  // never free again once a signal is dealt with
  before_end_ = nullptr;
  last();
}

}  // namespace nibu
