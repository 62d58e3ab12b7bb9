// A translation that a Python program waits for.
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

// Some requests and their results: one for a Pending of Python, many for a list of texts.
// Thread-safe.
class Requests {
 public:
  explicit Requests(size_t count);

  // Takes a result. The last one wakes those who wait, and calls the functions. Without the GIL.
  void Take(size_t index, absl::StatusOr<Result> result);

  // Waits until no more than so many results are missing, or until a time; returns whether it is
  // so. Needs the GIL, which others have meanwhile. Raises what a handler of a signal raises,
  // KeyboardInterrupt above all; RuntimeError: the results are a parent process's, or this thread
  // is one of a translator's, which would wait for itself.
  bool Wait(std::optional<std::chrono::steady_clock::time_point> until, size_t missing = 0) const;

  bool is_done() const;
  // Returns whether there is an error among the results.
  bool has_failed() const;
  // All results, or the error of the first one that failed. REQUIRES: is_done().
  absl::StatusOr<std::vector<std::shared_ptr<Result>>> results() const;
  // Calls a function without arguments once the results have come, on whatever thread takes the
  // last one; at once if they have come. Needs the GIL.
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

// Calls a Python function of the user's that nobody takes an exception from: it is printed.
// Returns what the function returns; false after an exception. Needs the GIL.
bool CallUser(py::handle function, py::handle argument = py::handle());

}  // namespace nibu::python

#endif  // NIBU_TOOLS_PYTHON_PENDING_H_
