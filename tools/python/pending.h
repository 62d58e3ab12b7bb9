// Translations that a Python program waits for.
#ifndef NIBU_TOOLS_PYTHON_PENDING_H_
#define NIBU_TOOLS_PYTHON_PENDING_H_

#include <sys/types.h>

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

// The results of requests: of one for a Pending of Python, of many for a list of texts.
// Thread-safe.
class Requests {
 public:
  explicit Requests(size_t count);

  // Takes a result. The last one wakes the waiting threads, and calls the functions of OnDone. To
  // be called without the GIL.
  void Take(size_t index, absl::StatusOr<Result> result);

  // Waits until no more than `missing` results are missing, or until a time. Returns false if the
  // time came first. Needs the GIL, which is released meanwhile. Raises what the handler of a
  // signal raises, such as KeyboardInterrupt, SystemExit as LeaveAtEnd does, and RuntimeError if
  // the requests are a parent process's, or if this is a thread of a translator, which would wait
  // for itself.
  bool Wait(std::optional<std::chrono::steady_clock::time_point> until, size_t missing = 0) const;

  bool is_done() const;
  // Returns whether one of the results so far is an error.
  bool has_failed() const;
  // Returns all results, or the error of the first one that failed. REQUIRES: is_done().
  absl::StatusOr<std::vector<std::shared_ptr<Result>>> results() const;
  // Calls a function without arguments once all results have come, on the thread that takes the
  // last one, or at once if they have come already. Needs the GIL.
  void OnDone(py::object function);

 private:
  const pid_t process_;
  mutable std::mutex mutex_;  // guards what follows; never held while the GIL is waited for
  mutable std::condition_variable arrived_;
  std::vector<absl::StatusOr<std::shared_ptr<Result>>> results_;
  size_t missing_;
  bool has_failed_ = false;
  std::vector<SharedObject> functions_;
};

// Calls a Python function of the user. An exception has no caller to go to, so it is printed.
// Returns the function's result as a bool, or false after an exception. Needs the GIL.
bool CallUser(py::handle function, py::handle argument = py::handle());

}  // namespace nibu::python

#endif  // NIBU_TOOLS_PYTHON_PENDING_H_
