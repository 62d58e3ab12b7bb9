// Binds the class Model and the table of options.

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "nibu/model.h"
#include "nibu/options.h"
#include "tools/python/bind.h"
#include "tools/python/threads.h"
#include "tools/python/values.h"

namespace nibu::python {
namespace {

py::dict DictOf(const ModelInfo& info) {
  py::dict dict;
  VisitFacts(info, [&dict](const char* name, const auto& value) {
    using T = std::decay_t<decltype(value)>;
    if constexpr (std::is_same_v<T, std::string>) {
      dict[name] = Str(value);
    } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
      dict[name] = StrList(value);
    } else {
      dict[name] = value;
    }
  });
  return dict;
}

// Returns whether an option of the table is one of a struct.
template <typename T>
bool Has(const char* name) {
  T options;
  return !absl::IsNotFound(SetOption(name, "", &options));
}

py::list OptionDicts() {
  py::list list;
  for (const OptionInfo& info : OptionTable()) {
    py::dict dict;
    dict["name"] = Str(info.name);
    dict["help"] = Str(info.help);
    dict["group"] = Str(info.group);
    dict["type"] = Str(info.type);
    dict["values"] = Str(info.values).attr("split")();
    dict["default"] = Str(info.default_value);
    dict["of"] = Str(Has<ModelOptions>(info.name)   ? "model"
                     : Has<SpeedOptions>(info.name) ? "speed"
                                                    : "text");
    list.append(std::move(dict));
  }
  return list;
}

std::string PathOf(py::handle path) {
  if (!py::isinstance<py::str>(path) && !py::hasattr(path, "__fspath__")) {
    throw py::type_error("the path of a model must be a str or a path, not " +
                         std::string(py::str(py::type::of(path).attr("__name__"))));
  }
  return TextOf(py::module_::import("os").attr("fspath")(path));
}

ModelPtr Load(py::handle path, const py::kwargs& options) {
  const std::string name = PathOf(path);
  const ModelOptions wanted = ModelOptionsOf(options);
  absl::StatusOr<std::shared_ptr<const Model>> model;
  {
    const WithoutGil without_gil;
    model = Model::Load(name, wanted);
  }
  return {ValueOf(std::move(model))};
}

std::vector<int> IdsOf(py::handle ids) {
  std::vector<int> all;
  for (const py::handle id : ids) {
    long value = PyLong_AsLong(id.ptr());
    if (value == -1 && PyErr_Occurred() != nullptr) {
      if (PyErr_ExceptionMatches(PyExc_OverflowError) == 0) throw py::error_already_set();
      PyErr_Clear();
      value = std::numeric_limits<int>::max();
    }
    all.push_back(static_cast<int>(std::clamp<long>(value, -1, std::numeric_limits<int>::max())));
  }
  return all;
}

}  // namespace

void BindModel(py::module_* module) {
  py::class_<ModelPtr>(
      *module, "Model",
      "A loaded model: immutable, for any number of threads and translators.\n\n"
      "Model(path, **options) loads one of any supported format. The path is that of a directory\n"
      "or file, or the name of a model that was fetched; the empty one is the bundled\n"
      "English-German model. The options are those of nibu.options() whose `of` is \"model\".")
      .def(py::init(&Load), py::arg("path"))
      .def("__repr__",
           [](const ModelPtr& self) {
             return py::str("Model({!r})").format(Str(self.model->info().path));
           })
      .def_static(
          "read_info",
          [](py::handle path) { return DictOf(ValueOf(Model::ReadInfo(PathOf(path)))); },
          py::arg("path"),
          "Returns what a model's files say (path, format, license, languages) without its "
          "weights.")
      .def_static(
          "pivot",
          [](const ModelPtr& first, const ModelPtr& second) {
            return ModelPtr{ValueOf(Model::Pivot(first.model, second.model))};
          },
          py::arg("first"), py::arg("second"),
          "Makes one model of two: the second one translates what the first one has translated.")
      .def_property_readonly(
          "info", [](const ModelPtr& self) { return DictOf(self.model->info()); },
          "A dict of facts: path, format, license, languages, compute_type, has_tokenizer and "
          "others.")
      .def(
          "tokenize",
          [](const ModelPtr& self, py::handle text) {
            return StrList(ValueOf(self.model->Tokenize(TextOf(text))));
          },
          py::arg("text"),
          "Returns the pieces that the model reads for a text of the source language.")
      .def(
          "tokenize_target",
          [](const ModelPtr& self, py::handle text) {
            return StrList(ValueOf(self.model->TokenizeTarget(TextOf(text))));
          },
          py::arg("text"),
          "Returns the pieces that the model writes for a text of the target language.")
      .def(
          "detokenize",
          [](const ModelPtr& self, py::handle pieces) {
            return Str(ValueOf(self.model->Detokenize(TextsOf(pieces))));
          },
          py::arg("pieces"), "Returns the text that pieces of the target language make.")
      .def(
          "source_ids",
          [](const ModelPtr& self, py::handle pieces) {
            return py::cast(self.model->SourceIds(TextsOf(pieces)));
          },
          py::arg("pieces"),
          "Returns the ids of pieces in the source vocabulary; unknown pieces have that of <unk>.")
      .def(
          "target_ids",
          [](const ModelPtr& self, py::handle pieces) {
            return py::cast(self.model->TargetIds(TextsOf(pieces)));
          },
          py::arg("pieces"),
          "Returns the ids of pieces in the target vocabulary; unknown pieces have that of <unk>.")
      .def(
          "source_pieces",
          [](const ModelPtr& self, py::handle ids) {
            return StrList(ValueOf(self.model->SourcePieces(IdsOf(ids))));
          },
          py::arg("ids"),
          "Returns the pieces of the source vocabulary with these ids. ValueError: there is none.")
      .def(
          "target_pieces",
          [](const ModelPtr& self, py::handle ids) {
            return StrList(ValueOf(self.model->TargetPieces(IdsOf(ids))));
          },
          py::arg("ids"),
          "Returns the pieces of the target vocabulary with these ids. ValueError: there is none.");
  module->def(
      "choose_model",
      [](py::handle source, py::handle target) {
        const ModelChoice choice =
            ValueOf(ChooseModel(TextOf(source, "source"), TextOf(target, "target")));
        py::dict dict;
        dict["path"] = Str(choice.path);
        dict["pivot"] = Str(choice.pivot);
        dict["src_lang"] = Str(choice.src_lang);
        dict["tgt_lang"] = Str(choice.tgt_lang);
        return dict;
      },
      py::arg("source"), py::arg("target"));
  module->def("option_table", &OptionDicts);
}

}  // namespace nibu::python
