// Counts what must end before the interpreter does.
#include "tools/python/threads.h"

#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "absl/base/macros.h"
#include "absl/status/status.h"
#include "nibu/translator.h"
#include "tools/python/values.h"

namespace nibu::python {
namespace {

// Counts what `process` uses. It is never destroyed, since threads may still need it when the
// process ends.
struct Uses {
  std::mutex mutex;
  std::condition_variable ended;
  int count = 0;
  pid_t process = getpid();
};

Uses& All() {
  static Uses& all = *new Uses;
  return all;
}

// Returns the thread that ends the interpreter, or no thread as long as none does. The GIL guards
// it.
std::thread::id& EndingThread() {
  static std::thread::id thread;
  return thread;
}

}  // namespace

void RefuseToWait() {
  if (!Translator::InCallback()) return;
  Raise(absl::FailedPreconditionError(
      "a function that a translator calls must not wait for a translation; use submit and "
      "add_done_callback there"));
}

void BeginUse() {
  const std::lock_guard<std::mutex> lock(All().mutex);
  if (All().process != getpid()) {  // a forked child has none of its parent's threads
    All().process = getpid();
    All().count = 0;
  }
  ++All().count;
}

void EndUse() {
  const std::lock_guard<std::mutex> lock(All().mutex);
  ABSL_ASSERT(All().process == getpid() && All().count > 0);
  --All().count;
  All().ended.notify_all();
}

void LeaveAtEnd() {
  const std::thread::id ending = EndingThread();
  if (ending == std::thread::id() || ending == std::this_thread::get_id()) return;
  if (Translator::InCallback()) return;
  PyErr_SetNone(PyExc_SystemExit);
  throw py::error_already_set();
}

void BeginEnd() { EndingThread() = std::this_thread::get_id(); }

void WaitForUses() {
  const py::gil_scoped_release release;
  std::unique_lock<std::mutex> lock(All().mutex);
  if (All().process != getpid()) return;  // a forked child has used nothing
  All().ended.wait(lock, [] { return All().count == 0; });
}

}  // namespace nibu::python
