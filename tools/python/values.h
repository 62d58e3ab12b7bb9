// Converts texts, options and errors between Python and C++.
#ifndef NIBU_TOOLS_PYTHON_VALUES_H_
#define NIBU_TOOLS_PYTHON_VALUES_H_

#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "nibu/model.h"
#include "nibu/options.h"

namespace nibu::python {

namespace py = pybind11;

// Raises the Python exception that stands for a status, unless it is OK: ValueError for
// InvalidArgument and OutOfRange, FileNotFoundError for NotFound, TimeoutError for
// DeadlineExceeded, concurrent.futures.CancelledError for Cancelled, MemoryError for
// ResourceExhausted, otherwise RuntimeError. Needs the GIL.
void Raise(const absl::Status& status);

// Returns the value, or raises.
template <typename T>
T ValueOf(absl::StatusOr<T> value) {
  Raise(value.status());
  return *std::move(value);
}

// Returns the bytes of a str or bytes object. Lone surrogates become bytes that are not UTF-8,
// which nibu treats as unknown characters. Raises TypeError for other objects, which says what it
// is: `name`, and its place in a list, from 0.
std::string TextOf(py::handle text, const char* name = "a text", int index = -1);
std::vector<std::string> TextsOf(py::handle texts, const char* name = "a list");

// Returns a str. Bytes that are not UTF-8 are replaced by U+FFFD.
py::str Str(absl::string_view text);
py::list StrList(const std::vector<std::string>& texts);

// Return options that are set by name from keyword arguments. A value is a bool, a number, a str or
// path, or a list; None stands for the default. Three names are not in the table of options:
// languages_as_tokens and return_scores, bools, and glossary, a dict or a list of pairs.
// ValueError if an option does not have such a value, and TypeError if there is no such option.
ModelOptions ModelOptionsOf(const py::dict& values);
SpeedOptions SpeedOptionsOf(const py::dict& values);
Options OptionsOf(const py::dict& values);

// The class Model of Python: a wrapper of the shared pointer to const that C++ has.
struct ModelPtr {
  std::shared_ptr<const Model> model;
};

// A Python object that any thread may drop, with the GIL or without.
using SharedObject = std::shared_ptr<PyObject>;
SharedObject Share(py::object object);

}  // namespace nibu::python

#endif  // NIBU_TOOLS_PYTHON_VALUES_H_
