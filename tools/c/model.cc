// Implements the models of nibu/c.h, their facts as text, and their tokenizers.

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "tools/c/handles.h"

using nibu::internal::CheckText;
using nibu::internal::Clear;
using nibu::internal::CopyOut;
using nibu::internal::Guard;
using nibu::internal::Missing;
using nibu::internal::TextOf;

namespace {

using nibu::ModelInfo;

// Return a fact as text. The documentation of nibu_model_fact in nibu/c.h lists the names; each of
// `notes` and each path of an ensemble has a line of its own.
std::string FactText(absl::string_view name, const std::vector<std::string>& value) {
  return absl::StrJoin(value, name == "ensemble" || name == "notes" ? "\n" : ",");
}
std::string FactText(absl::string_view, const std::string& value) { return value; }
std::string FactText(absl::string_view, bool value) { return value ? "true" : "false"; }
std::string FactText(absl::string_view, size_t value) { return absl::StrCat(value); }
std::string FactText(absl::string_view, int value) { return absl::StrCat(value); }

// The names live forever.
const std::vector<const char*>& FactNames() {
  static const auto& all = *[] {
    auto* const names = new std::vector<const char*>;
    VisitFacts(ModelInfo(), [names](const char* name, const auto&) { names->push_back(name); });
    return names;
  }();
  return all;
}

absl::Status HandOut(absl::StatusOr<std::shared_ptr<const nibu::Model>> loaded,
                     nibu_model** model) {
  if (!loaded.ok()) return loaded.status();
  auto made = std::make_unique<nibu_model>();
  made->model = *std::move(loaded);
  VisitFacts(made->model->info(), [&](const char* name, const auto& value) {
    made->facts.emplace_back(name, FactText(name, value));
  });
  *model = made.release();
  return absl::OkStatus();
}

// Checks the arguments of the functions that tokenize and detokenize.
absl::Status CheckConversion(const nibu_model* model, const char* text, size_t length,
                             char** output, size_t* output_length) {
  if (output_length != nullptr) *output_length = 0;
  absl::Status status = Clear(output, "the output");
  if (!status.ok()) return status;
  return model == nullptr ? Missing("model") : CheckText(text, length, "text");
}

absl::Status HandOut(const absl::StatusOr<std::vector<std::string>>& list, char** pieces,
                     size_t* length) {
  return list.ok() ? CopyOut(absl::StrJoin(*list, " "), pieces, length) : list.status();
}

}  // namespace

nibu_status nibu_model_load(const char* path, const nibu_options* options, nibu_model** model,
                            nibu_error** error) {
  return Guard(model, "model", error, [&] {
    return HandOut(nibu::Model::Load(std::string(TextOf(path)),
                                     options == nullptr ? nibu::ModelOptions() : options->model),
                   model);
  });
}

nibu_status nibu_model_pivot(const nibu_model* first, const nibu_model* second, nibu_model** model,
                             nibu_error** error) {
  return Guard(model, "model", error, [&] {
    if (first == nullptr) return Missing("first");
    if (second == nullptr) return Missing("second");
    return HandOut(nibu::Model::Pivot(first->model, second->model), model);
  });
}

nibu_model* nibu_model_retain(nibu_model* model) {
  if (model != nullptr) ++model->owners;
  return model;
}

void nibu_model_free(nibu_model* model) {
  if (model != nullptr && --model->owners == 0) delete model;
}

const char* nibu_model_fact(const nibu_model* model, const char* name) {
  if (model == nullptr) return nullptr;
  for (const auto& [known, text] : model->facts) {
    if (TextOf(name) == known) return text.c_str();
  }
  return nullptr;
}

const char* nibu_model_fact_name(size_t fact) {
  try {
    return fact < FactNames().size() ? FactNames()[fact] : nullptr;
  } catch (...) {  // There is no memory for the names.
    return nullptr;
  }
}

nibu_status nibu_model_tokenize(const nibu_model* model, const char* text, size_t length,
                                char** pieces, size_t* pieces_length, nibu_error** error) {
  return Guard(error, [&] {
    absl::Status status = CheckConversion(model, text, length, pieces, pieces_length);
    if (!status.ok()) return status;
    return HandOut(model->model->Tokenize(TextOf(text, length)), pieces, pieces_length);
  });
}

nibu_status nibu_model_tokenize_target(const nibu_model* model, const char* text, size_t length,
                                       char** pieces, size_t* pieces_length, nibu_error** error) {
  return Guard(error, [&] {
    absl::Status status = CheckConversion(model, text, length, pieces, pieces_length);
    if (!status.ok()) return status;
    return HandOut(model->model->TokenizeTarget(TextOf(text, length)), pieces, pieces_length);
  });
}

nibu_status nibu_model_detokenize(const nibu_model* model, const char* pieces, size_t length,
                                  char** text, size_t* text_length, nibu_error** error) {
  return Guard(error, [&] {
    absl::Status status = CheckConversion(model, pieces, length, text, text_length);
    if (!status.ok()) return status;
    const std::vector<std::string> list =
        absl::StrSplit(TextOf(pieces, length), ' ', absl::SkipEmpty());
    const auto made = model->model->Detokenize(list);
    return made.ok() ? CopyOut(*made, text, text_length) : made.status();
  });
}
