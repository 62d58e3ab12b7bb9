// Converts texts, options and errors between Python and C++.
#include "tools/python/values.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace nibu::python {
namespace {

[[noreturn]] void RaiseAs(py::handle exception, absl::string_view message) {
  PyErr_SetObject(exception.ptr(), Str(message).ptr());
  throw py::error_already_set();
}

std::string TypeName(py::handle value) { return py::str(py::type::of(value).attr("__name__")); }

// Returns an option's value as it would stand on the command line. Raises TypeError if it is none.
std::string ValueText(const std::string& name, py::handle value) {
  if (py::isinstance<py::bool_>(value)) return value.cast<bool>() ? "true" : "false";
  if (py::isinstance<py::str>(value) || py::isinstance<py::bytes>(value)) return TextOf(value);
  if (py::hasattr(value, "__fspath__")) {
    return TextOf(py::module_::import("os").attr("fspath")(value));
  }
  if (PyNumber_Check(value.ptr()) == 0) {
    RaiseAs(PyExc_TypeError,
            absl::StrCat(name, " must be a bool, a number, a text or a list of them, not ",
                         TypeName(value)));
  }
  return TextOf(py::str(value));
}

std::vector<std::string> ValueTexts(const std::string& name, py::handle value) {
  std::vector<std::string> texts;
  for (const py::handle element : value) texts.push_back(ValueText(name, element));
  return texts;
}

bool BoolOf(const std::string& name, py::handle value) {
  if (py::isinstance<py::bool_>(value)) return value.cast<bool>();
  RaiseAs(PyExc_TypeError, absl::StrCat(name, " must be a bool, not ", TypeName(value)));
}

bool IsList(py::handle value) {
  return py::isinstance<py::list>(value) || py::isinstance<py::tuple>(value);
}

template <typename T>
absl::Status Set(const std::string& name, py::handle value, T* options) {
  if (!IsList(value)) return SetOption(name, ValueText(name, value), options);
  return SetOption(name, absl::StrJoin(ValueTexts(name, value), ","), options);
}

absl::Status Set(const std::string& name, py::handle value, ModelOptions* options) {
  if (name != "languages_as_tokens") return Set<ModelOptions>(name, value, options);
  options->languages_as_tokens = BoolOf(name, value);
  return absl::OkStatus();
}

absl::Status Set(const std::string& name, py::handle value, Options* options) {
  if (name == "return_scores") {
    options->return_scores = BoolOf(name, value);
    return absl::OkStatus();
  }
  if (name == "glossary") {
    const bool is_dict = py::hasattr(value, "items");  // of any mapping
    if (!is_dict && !IsList(value)) {
      RaiseAs(PyExc_TypeError, "glossary must be a dict, or a list of pairs");
    }
    for (const py::handle entry : is_dict ? py::list(value.attr("items")())
                                          : py::list(py::reinterpret_borrow<py::object>(value))) {
      if (!IsList(entry) || py::len(entry) != 2) {
        RaiseAs(PyExc_ValueError,
                absl::StrCat("glossary[", options->glossary.size(), "] must be a pair of texts"));
      }
      const auto pair = py::reinterpret_borrow<py::sequence>(entry);
      options->glossary.push_back({TextOf(pair[0], "glossary"), TextOf(pair[1], "glossary")});
    }
    return absl::OkStatus();
  }
  if (!IsList(value)) return SetOption(name, ValueText(name, value), options);
  return SetOption(name, ValueTexts(name, value), options);
}

template <typename T>
T Make(const py::dict& values) {
  T options;
  for (const auto& [key, value] : values) {
    if (value.is_none()) continue;
    const std::string name = TextOf(key);
    const absl::Status status = Set(name, value, &options);
    if (absl::IsNotFound(status)) RaiseAs(PyExc_TypeError, status.message());
    Raise(status);
  }
  return options;
}

}  // namespace

void Raise(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kOutOfRange:
      RaiseAs(PyExc_ValueError, status.message());
    case absl::StatusCode::kNotFound:
      RaiseAs(PyExc_FileNotFoundError, status.message());
    case absl::StatusCode::kDeadlineExceeded:
      RaiseAs(PyExc_TimeoutError, status.message());
    case absl::StatusCode::kCancelled:
      RaiseAs(py::module_::import("concurrent.futures").attr("CancelledError"), status.message());
    case absl::StatusCode::kResourceExhausted:
      RaiseAs(PyExc_MemoryError, status.message());
    default:
      RaiseAs(PyExc_RuntimeError, status.message());
  }
}

std::string TextOf(py::handle text, const char* name, int index) {
  if (py::isinstance<py::bytes>(text)) return text.cast<std::string>();
  if (!py::isinstance<py::str>(text)) {
    RaiseAs(PyExc_TypeError, absl::StrCat(name, index < 0 ? "" : absl::StrCat("[", index, "]"),
                                          " must be str or bytes, not ", TypeName(text)));
  }
  Py_ssize_t size = 0;
  const char* const utf8 = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (utf8 != nullptr) return {utf8, static_cast<size_t>(size)};
  PyErr_Clear();
  PyObject* const bytes = PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogatepass");
  if (bytes == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::bytes>(bytes);
}

std::vector<std::string> TextsOf(py::handle texts, const char* name) {
  std::vector<std::string> all;
  for (const py::handle text : texts)
    all.push_back(TextOf(text, name, static_cast<int>(all.size())));
  return all;
}

py::str Str(absl::string_view text) {
  PyObject* const made =
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
  if (made == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::str>(made);
}

py::list StrList(const std::vector<std::string>& texts) {
  py::list list;
  for (const std::string& text : texts) list.append(Str(text));
  return list;
}

ModelOptions ModelOptionsOf(const py::dict& values) { return Make<ModelOptions>(values); }
SpeedOptions SpeedOptionsOf(const py::dict& values) { return Make<SpeedOptions>(values); }
Options OptionsOf(const py::dict& values) { return Make<Options>(values); }

SharedObject Share(py::object object) {
  return {object.release().ptr(), [](PyObject* owned) {
            const py::gil_scoped_acquire gil;
            Py_XDECREF(owned);
          }};
}

}  // namespace nibu::python
