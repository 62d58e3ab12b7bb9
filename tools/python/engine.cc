// Owns translators for Python, and waits for their end before the interpreter ends.
#include "tools/python/engine.h"

#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "tools/python/values.h"

namespace nibu::python {
namespace {

// Counts the translators that `process` made and that have not been destroyed. It is never
// destroyed, since threads may still use it when the process ends.
struct Translators {
  std::mutex mutex;
  std::condition_variable ended;
  int count = 0;
  pid_t process = getpid();
};

Translators& All() {
  static Translators& all = *new Translators;
  return all;
}

// Returns the engines that exist. The GIL guards them.
std::set<Engine*>& Engines() {
  static auto& engines = *new std::set<Engine*>;
  return engines;
}

void Count(int change) {
  const std::lock_guard<std::mutex> lock(All().mutex);
  if (All().process != getpid()) {  // a forked child makes its first translator
    All().process = getpid();
    All().count = 0;
  }
  All().count += change;
  All().ended.notify_all();
}

// Destroys a translator that a process made. A forked child has none of its parent's threads, and
// counts none of its parent's translators.
void Destroy(Translator* translator, pid_t process) {
  if (process != getpid()) {
    delete translator;
    return;
  }
  if (OnTranslatorThread::is_here()) {
    // The destructor waits for this thread, so another one has to call it.
    std::thread([translator, process] { Destroy(translator, process); }).detach();
    return;
  }
  if (PyGILState_Check() != 0) {
    const py::gil_scoped_release release;
    delete translator;
  } else {
    delete translator;
  }
  Count(-1);
}

}  // namespace

thread_local int OnTranslatorThread::depth_ = 0;

void OnTranslatorThread::RefuseToWait() {
  if (!is_here()) return;
  Raise(absl::FailedPreconditionError(
      "a function that a translator calls must not wait for a translation; use submit and "
      "add_done_callback there"));
}

Engine::Engine(std::unique_ptr<Translator> translator)
    : translator_(translator.release(),
                  [process = getpid()](Translator* owned) { Destroy(owned, process); }) {
  Count(1);
  Engines().insert(this);
}

Engine::~Engine() { Engines().erase(this); }

std::shared_ptr<Translator> Engine::Use() const {
  if (translator_ == nullptr) Raise(absl::FailedPreconditionError("the translator was closed"));
  return translator_;
}

void Engine::Close() {
  const std::shared_ptr<Translator> closed = std::exchange(translator_, nullptr);
  if (closed == nullptr) return;
  const py::gil_scoped_release release;
  closed->CancelAll();
}

void Engine::CloseAll() {
  while (!Engines().empty()) {
    Engine* const next = *Engines().begin();
    Engines().erase(next);
    next->Close();
  }
  const py::gil_scoped_release release;
  std::unique_lock<std::mutex> lock(All().mutex);
  if (All().process != getpid()) return;  // a forked child has made no translators of its own
  All().ended.wait(lock, [] { return All().count == 0; });
}

}  // namespace nibu::python
