// Binds the classes LanguageDetector and SentenceSplitter.

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "nibu/language.h"
#include "nibu/sentences.h"
#include "tools/python/bind.h"
#include "tools/python/threads.h"
#include "tools/python/values.h"

namespace nibu::python {
namespace {

struct Detector {
  std::unique_ptr<const LanguageDetector> detector;
};

struct Splitter {
  std::unique_ptr<const SentenceSplitter> splitter;
};

py::list Detect(const Detector& self, py::handle text, const std::string& markup) {
  Options options;
  Raise(SetOption("markup", markup, &options));
  const std::string bytes = TextOf(text);
  absl::StatusOr<std::vector<DetectedLanguage>> found;
  {
    const WithoutGil without_gil;
    found = self.detector->Detect(bytes, options.markup);
  }
  py::list list;
  for (const DetectedLanguage& language : ValueOf(std::move(found))) {
    list.append(py::make_tuple(Str(language.code), language.confidence));
  }
  return list;
}

py::list Split(const Splitter& self, py::handle text) {
  const std::string bytes = TextOf(text);
  absl::StatusOr<std::vector<ByteSpan>> found;
  {
    const WithoutGil without_gil;
    found = self.splitter->Split(bytes);
  }
  py::list list;
  for (const ByteSpan& span : ValueOf(std::move(found))) {
    list.append(Str(absl::string_view(bytes).substr(span.begin, span.end - span.begin)));
  }
  return list;
}

}  // namespace

void BindLanguages(py::module_* module) {
  py::class_<Detector>(*module, "LanguageDetector")
      .def(py::init([](py::handle among) {
             return Detector{ValueOf(LanguageDetector::Create(TextsOf(among)))};
           }),
           py::arg("among") = py::tuple())
      .def("detect", &Detect, py::arg("text"), py::arg("markup") = "none");
  py::class_<Splitter>(*module, "SentenceSplitter")
      .def(py::init([](py::handle language) {
             return Splitter{ValueOf(SentenceSplitter::Create(TextOf(language)))};
           }),
           py::arg("language") = "")
      .def("split", &Split, py::arg("text"));
  module->def("known_languages", [] { return StrList(LanguageDetector::KnownLanguages()); });
  module->def(
      "language_name", [](py::handle code) { return Str(LanguageName(TextOf(code))); },
      py::arg("code"));
  module->def(
      "short_language_code", [](py::handle code) { return Str(ShortLanguageCode(TextOf(code))); },
      py::arg("code"));
}

}  // namespace nibu::python
