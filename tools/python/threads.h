// Threads on which Python calls C++ or C++ calls Python, and the end of the interpreter for them.
//
// CPython ends a thread that asks for the GIL after the interpreter has ended, which C++
// destructors do not survive, and aborts the process if another thread is just printing a
// traceback. So the end waits for all threads that would need the GIL again, and those that it
// interrupts end silently.
#ifndef NIBU_TOOLS_PYTHON_THREADS_H_
#define NIBU_TOOLS_PYTHON_THREADS_H_

#include <pybind11/pybind11.h>

#include <optional>

namespace nibu::python {

// The interpreter does not end while more was begun in this process than was ended. Thread-safe.
void BeginUse();
void EndUse();

// Raises SystemExit, which ends a thread without a message, if the interpreter is about to end on
// another thread and this is not a translator's. Needs the GIL.
void LeaveAtEnd();

// Makes LeaveAtEnd end the other threads from now on. Needs the GIL.
void BeginEnd();
// Waits until every use has ended. Needs the GIL, which is released meanwhile.
void WaitForUses();

// Lives while a thread runs C++ code without the GIL, which it has before and afterwards. Raises
// SystemExit as LeaveAtEnd does.
class WithoutGil {
 public:
  WithoutGil() {
    LeaveAtEnd();
    BeginUse();
    release_.emplace();
  }
  ~WithoutGil() {
    release_.reset();  // takes the GIL again, which the use has to outlast
    EndUse();
  }
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  std::optional<pybind11::gil_scoped_release> release_;
};

// Raises RuntimeError within a function that a translator calls, which must not wait for a
// translation, since it would wait for itself. Needs the GIL.
void RefuseToWait();

}  // namespace nibu::python

#endif  // NIBU_TOOLS_PYTHON_THREADS_H_
