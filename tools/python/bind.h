// Register the parts of the Python module nibu._nibu, which the package nibu uses.
#ifndef NIBU_TOOLS_PYTHON_BIND_H_
#define NIBU_TOOLS_PYTHON_BIND_H_

#include <pybind11/pybind11.h>

namespace nibu::python {

void BindModel(pybind11::module_* module);
void BindResult(pybind11::module_* module);
void BindEngine(pybind11::module_* module);
void BindLanguages(pybind11::module_* module);

}  // namespace nibu::python

#endif  // NIBU_TOOLS_PYTHON_BIND_H_
