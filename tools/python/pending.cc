// Collects results on the translator's threads, and wakes Python threads that wait for them.
#include "tools/python/pending.h"

#include <algorithm>
#include <utility>

#include "absl/base/macros.h"
#include "tools/python/threads.h"

namespace nibu::python {
namespace {

// The time for which a thread waits until it looks for signals again.
constexpr auto kSignals = std::chrono::milliseconds(50);

}  // namespace

void Outcome::Take(absl::StatusOr<Result> result) {
  absl::StatusOr<std::shared_ptr<Result>> taken = std::shared_ptr<Result>();
  if (result.ok()) {
    taken = std::make_shared<Result>(*std::move(result));
  } else {
    taken = result.status();
  }
  std::vector<SharedObject> functions;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ABSL_ASSERT(!result_.has_value());
    result_ = std::move(taken);
    arrived_.notify_all();
    functions.swap(functions_);
  }
  if (functions.empty()) return;
  const py::gil_scoped_acquire gil;
  for (const SharedObject& function : functions) CallUser(function.get());
  functions.clear();
}

bool Outcome::Wait(std::optional<std::chrono::steady_clock::time_point> until) const {
  if (getpid() != process_) {
    Raise(absl::FailedPreconditionError(
        "the translation was begun by a parent process; make a translator in this one"));
  }
  if (!is_done()) RefuseToWait();
  while (true) {
    bool has_come = false;
    {
      const WithoutGil without_gil;
      std::unique_lock<std::mutex> lock(mutex_);
      auto slice = std::chrono::steady_clock::now() + kSignals;
      if (until.has_value()) slice = std::min(slice, *until);
      has_come = arrived_.wait_until(lock, slice, [&] { return result_.has_value(); });
    }
    LeaveAtEnd();
    if (has_come) return true;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    if (until.has_value() && std::chrono::steady_clock::now() >= *until) return is_done();
  }
}

bool Outcome::is_done() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return result_.has_value();
}

absl::StatusOr<std::shared_ptr<Result>> Outcome::result() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  ABSL_ASSERT(result_.has_value());
  return *result_;
}

void Outcome::OnDone(py::object function) {
  {
    // Holding the GIL, this may wait for the lock: no thread waits for the GIL while it has the
    // lock.
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!result_.has_value()) {
      functions_.push_back(Share(std::move(function)));
      return;
    }
  }
  CallUser(function);
}

bool CallUser(py::handle function, py::handle argument) {
  try {
    const py::object result = argument ? function(argument) : function();
    return py::bool_(result);
  } catch (py::error_already_set& error) {
    error.discard_as_unraisable(py::reinterpret_borrow<py::object>(function));
    return false;
  }
}

}  // namespace nibu::python
