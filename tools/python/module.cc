// Defines the Python module nibu._nibu with its classes and functions.
#include "nibu/version.h"
#include "tools/python/bind.h"

PYBIND11_MODULE(_nibu, module) {
  module.doc() = "The C++ part of nibu. Use the package nibu, which documents what it offers.";
  nibu::python::BindModel(&module);
  nibu::python::BindResult(&module);
  nibu::python::BindEngine(&module);
  nibu::python::BindLanguages(&module);
  // After the interpreter has ended, no thread may call Python.
  pybind11::module_::import("atexit").attr("register")(module.attr("close_all"));
  module.attr("__version__") = nibu::Version();
}
