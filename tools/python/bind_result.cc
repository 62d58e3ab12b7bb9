// Binds the classes Result, Hypothesis and Step.

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "nibu/result.h"
#include "nibu/translator.h"
#include "tools/python/bind.h"
#include "tools/python/values.h"

namespace nibu::python {
namespace {

// Returns the attention as [target][source], or None if it was not asked for. Without NumPy,
// pybind11 raises ImportError.
py::object Attention(const Hypothesis& hypothesis) {
  const size_t rows = hypothesis.attention.size();
  if (rows == 0) return py::none();
  const size_t columns = hypothesis.attention[0].size();
  py::array_t<float> array({rows, columns});
  float* to = array.mutable_data();
  for (const std::vector<float>& row : hypothesis.attention) to = std::ranges::copy(row, to).out;
  return array;
}

AlignmentKind KindOf(const Result& result) {
  AlignmentKind kind = AlignmentKind::kNone;
  for (const Hypothesis& hypothesis : result.hypotheses) {
    if (!hypothesis.attention.empty()) return AlignmentKind::kSoft;
    if (!hypothesis.alignment.empty()) kind = AlignmentKind::kHard;
  }
  return kind;
}

py::list BytesList(const std::vector<std::string>& texts) {
  py::list list;
  for (const std::string& text : texts) list.append(py::bytes(text));
  return list;
}

// The fields of results, for pickle and copy. Texts are bytes, since they need not be UTF-8.
py::tuple StateOf(const Hypothesis& hypothesis) {
  return py::make_tuple(py::bytes(hypothesis.text), BytesList(hypothesis.tokens),
                        hypothesis.token_scores, hypothesis.log_prob, hypothesis.score,
                        hypothesis.length, hypothesis.finished, py::bytes(hypothesis.end_token),
                        hypothesis.repetition, hypothesis.warnings.to_ullong(),
                        hypothesis.alignment, hypothesis.attention);
}

Hypothesis HypothesisOf(const py::tuple& state) {
  return {.text = state[0].cast<std::string>(),
          .tokens = state[1].cast<std::vector<std::string>>(),
          .token_scores = state[2].cast<std::vector<float>>(),
          .log_prob = state[3].cast<float>(),
          .score = state[4].cast<float>(),
          .length = state[5].cast<size_t>(),
          .finished = state[6].cast<bool>(),
          .end_token = state[7].cast<std::string>(),
          .repetition = state[8].cast<bool>(),
          .warnings = Warnings(state[9].cast<unsigned long long>()),
          .alignment = state[10].cast<std::vector<std::pair<size_t, size_t>>>(),
          .attention = state[11].cast<std::vector<std::vector<float>>>()};
}

py::tuple StateOf(const Result& result) {
  py::list hypotheses;
  for (const Hypothesis& each : result.hypotheses) hypotheses.append(StateOf(each));
  return py::make_tuple(hypotheses, result.source_tokens, result.target_tokens, result.too_long,
                        result.scored_whole, py::bytes(result.source_language),
                        BytesList(result.source_labels), result.ends_open);
}

Result ResultOf(const py::tuple& state) {
  Result result = {.source_tokens = state[1].cast<int>(),
                   .target_tokens = state[2].cast<int>(),
                   .too_long = state[3].cast<bool>(),
                   .scored_whole = state[4].cast<bool>(),
                   .source_language = state[5].cast<std::string>(),
                   .source_labels = state[6].cast<std::vector<std::string>>(),
                   .ends_open = state[7].cast<bool>()};
  for (const py::handle each : state[0]) {
    result.hypotheses.push_back(HypothesisOf(each.cast<py::tuple>()));
  }
  return result;
}

// Adds equality, pickle and, with it, copy to a class of plain data. `restore` is the name of the
// function that makes an object of its fields: this module's, and one of nibu._results that calls
// it, since pickle needs a function of Python's. (pybind11's own form aborts the process
// with the old protocols 0 and 1.)
template <typename Class, typename Make>
void BindPlainData(py::module_* module, Class* bound, const char* restore, Make make) {
  using T = typename Class::type;
  module->def(restore, [make](const py::tuple& state) { return make(state); });
  bound->def(
      "__eq__", [](const T& self, const T& other) { return self == other; }, py::is_operator());
  bound->def("__reduce_ex__", [restore](const T& self, int) {
    return py::make_tuple(py::module_::import("nibu._results").attr(restore),
                          py::make_tuple(StateOf(self)));
  });
}

}  // namespace

void BindResult(py::module_* module) {
  py::class_<Hypothesis> hypothesis(*module, "Hypothesis",
                                    "A translation of a text, one of a Result's.");
  BindPlainData(module, &hypothesis, "restore_hypothesis", &HypothesisOf);
  hypothesis.def("__hash__", [](const Hypothesis& self) { return py::hash(Str(self.text)); })
      .def("__repr__",
           [](const Hypothesis& self) {
             return py::str("Hypothesis(text={!r}, score={:.4f})")
                 .format(Str(self.text), self.score);
           })
      .def_property_readonly(
          "text", [](const Hypothesis& self) { return Str(self.text); }, "The translated text.")
      .def_property_readonly(
          "tokens", [](const Hypothesis& self) { return StrList(self.tokens); },
          "The tokens of all sentences, without their ends; those of a scored target have them.")
      .def_readonly("token_scores", &Hypothesis::token_scores, "The log-probability of each token.")
      .def_readonly(
          "log_prob", &Hypothesis::log_prob,
          "The sum of the log-probabilities of the tokens, the ends of sentences included.")
      .def_readonly("score", &Hypothesis::score,
                    "log_prob, divided by length to the power of length_penalty.")
      .def_readonly("length", &Hypothesis::length,
                    "The number of tokens, the ends of sentences included.")
      .def_readonly("finished", &Hypothesis::finished,
                    "False: the translation was cut at a length limit.")
      .def_readonly("repetition", &Hypothesis::repetition, "True: the translation repeats itself.")
      .def_property_readonly(
          "end_token", [](const Hypothesis& self) { return Str(self.end_token); },
          "The token that ended the last sentence; empty: it was cut.")
      .def_property_readonly(
          "warnings", [](const Hypothesis& self) { return StrList(WarningNames(self.warnings)); },
          "Reasons to look at it: short, long, repetition, unfinished, truncated, numbers, "
          "protected.")
      .def_readonly("alignment", &Hypothesis::alignment,
                    "Pairs of (source, target) tokens or words, where they were asked for.")
      .def_property_readonly("attention", &Attention,
                             "The attention of each target token (rows) to each source token, a "
                             "NumPy array; None: it was not asked for.")
      .def_readonly("attention_rows", &Hypothesis::attention, "The same as a list of lists.");

  py::class_<Result, std::shared_ptr<Result>> result(*module, "Result");
  BindPlainData(module, &result, "restore_result", &ResultOf);
  result
      .def_property_readonly("text",
                             [](const Result& self) {
                               const auto& all = self.hypotheses;
                               return Str(all.empty() ? "" : all[0].text);
                             })
      .def_property_readonly(
          "hypotheses",
          [](const py::object& self) {
            py::list list;
            for (const auto& each : self.cast<const Result&>().hypotheses) {
              list.append(py::cast(&each, py::return_value_policy::reference_internal, self));
            }
            return list;
          })
      .def_readonly("source_tokens", &Result::source_tokens)
      .def_readonly("target_tokens", &Result::target_tokens)
      .def_readonly("too_long", &Result::too_long)
      .def_readonly("scored_whole", &Result::scored_whole)
      .def_property_readonly("source_labels",
                             [](const Result& self) { return StrList(self.source_labels); })
      .def_property_readonly("source_language",
                             [](const Result& self) { return Str(self.source_language); })
      .def(
          "json",
          [](const Result& self, py::handle source, uint64_t id) {
            return Str(ToJson(self, id, TextOf(source), KindOf(self)));
          },
          py::arg("source"), py::arg("id") = 0);

  py::class_<Step>(*module, "Step", "A token of a translation that has just been chosen.")
      .def("__repr__",
           [](const Step& self) {
             return py::str("Step(position={}, token={!r})").format(self.position, Str(self.token));
           })
      .def_readonly("sentence", &Step::sentence, "Which sentence of the text, from 0.")
      .def_readonly("hypothesis", &Step::hypothesis, "Which of the samples; 0 without sampling.")
      .def_readonly("position", &Step::position, "The token's place in its sentence, from 0.")
      .def_property_readonly(
          "token", [](const Step& self) { return Str(self.token); }, "The token.")
      .def_property_readonly(
          "text", [](const Step& self) { return Str(self.text); },
          "The characters by which the translation of its sentence has grown.")
      .def_readonly("id", &Step::id, "The token's id in the target vocabulary.")
      .def_readonly("log_prob", &Step::log_prob)
      .def_readonly("is_last", &Step::is_last, "True: the sentence ends with it.");
}

}  // namespace nibu::python
