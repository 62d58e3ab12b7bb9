// Translations that a Python program waits for.
#ifndef NIBU_TOOLS_PYTHON_PENDING_H_
#define NIBU_TOOLS_PYTHON_PENDING_H_

#include <sys/types.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "nibu/result.h"
#include "nibu/translator.h"
#include "tools/python/values.h"

namespace nibu::python {

// Receives the outcome of a request, a result or an error, and hands it to those who wait for it.
// Thread-safe.
class Outcome {
 public:
  // Takes the result, wakes the waiting threads, and calls the functions of OnDone. To be called
  // once, without the GIL.
  void Take(absl::StatusOr<Result> result);

  // Waits until the result has come, or until a time. Returns false if the time came first. Needs
  // the GIL, which is released meanwhile. Raises what the handler of a signal raises, such as
  // KeyboardInterrupt, SystemExit as LeaveAtEnd does, and RuntimeError if the request is a parent
  // process's, or if this is a thread of a translator, which would wait for itself.
  bool Wait(std::optional<std::chrono::steady_clock::time_point> until) const;

  bool is_done() const;
  // REQUIRES: is_done().
  absl::StatusOr<std::shared_ptr<Result>> result() const;
  // Calls a function without arguments once the result has come, on the thread that takes it, or at
  // once if it has come already. Needs the GIL.
  void OnDone(py::object function);

 private:
  const pid_t process_ = getpid();
  mutable std::mutex mutex_;  // guards what follows; never held while the GIL is waited for
  mutable std::condition_variable arrived_;
  std::optional<absl::StatusOr<std::shared_ptr<Result>>> result_;  // nullopt: it has not come
  std::vector<SharedObject> functions_;
};

// Calls a Python function of the user. An exception has no caller to go to, so it is printed.
// Returns the function's result as a bool, or false after an exception. Needs the GIL.
bool CallUser(py::handle function, py::handle argument = py::handle());

}  // namespace nibu::python

#endif  // NIBU_TOOLS_PYTHON_PENDING_H_
