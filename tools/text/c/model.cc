// Implements the models of nibu/c.h, their facts as text, and their tokenizers.

#include <array>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "tools/text/c/handles.h"

using nibu::internal::CheckText;
using nibu::internal::Clear;
using nibu::internal::CopyOut;
using nibu::internal::Guard;
using nibu::internal::Missing;
using nibu::internal::TextOf;

namespace {

using nibu::ModelInfo;

std::string Lines(const std::vector<std::string>& list) { return absl::StrJoin(list, "\n"); }
std::string Commas(const std::vector<std::string>& list) { return absl::StrJoin(list, ","); }
std::string Bool(bool value) { return value ? "true" : "false"; }

std::string TypeName(nibu::ComputeType type) {
  switch (type) {
    case nibu::ComputeType::kAuto:
      break;
    case nibu::ComputeType::kFloat32:
      return "float32";
    case nibu::ComputeType::kBFloat16:
      return "bfloat16";
    case nibu::ComputeType::kInt8:
      return "int8";
  }
  return "auto";
}

struct Fact {
  const char* name;
  std::string (*text)(const ModelInfo& info);
};

// The documentation of nibu_model_fact in nibu/c.h lists the names.
constexpr std::array kFacts = {
    Fact{"path", [](const ModelInfo& info) { return info.path; }},
    Fact{"format", [](const ModelInfo& info) { return info.format; }},
    Fact{"license", [](const ModelInfo& info) { return info.license; }},
    Fact{"languages", [](const ModelInfo& info) { return info.languages; }},
    Fact{"pivot", [](const ModelInfo& info) { return info.pivot; }},
    Fact{"ensemble", [](const ModelInfo& info) { return Lines(info.ensemble); }},
    Fact{"source_language", [](const ModelInfo& info) { return info.source_language; }},
    Fact{"target_language", [](const ModelInfo& info) { return info.target_language; }},
    Fact{"source_languages", [](const ModelInfo& info) { return Commas(info.source_languages); }},
    Fact{"target_languages", [](const ModelInfo& info) { return Commas(info.target_languages); }},
    Fact{"default_source_language",
         [](const ModelInfo& info) { return info.default_source_language; }},
    Fact{"default_target_language",
         [](const ModelInfo& info) { return info.default_target_language; }},
    Fact{"language_tokens", [](const ModelInfo& info) { return Commas(info.language_tokens); }},
    Fact{"compute_type", [](const ModelInfo& info) { return TypeName(info.compute_type); }},
    Fact{"weight_bytes", [](const ModelInfo& info) { return absl::StrCat(info.weight_bytes); }},
    Fact{"source_vocabulary_size",
         [](const ModelInfo& info) { return absl::StrCat(info.source_vocabulary_size); }},
    Fact{"target_vocabulary_size",
         [](const ModelInfo& info) { return absl::StrCat(info.target_vocabulary_size); }},
    Fact{"has_tokenizer", [](const ModelInfo& info) { return Bool(info.has_tokenizer); }},
    Fact{"has_shortlist", [](const ModelInfo& info) { return Bool(info.has_shortlist); }},
    Fact{"notes", [](const ModelInfo& info) { return Lines(info.notes); }},
};

absl::Status HandOut(absl::StatusOr<std::shared_ptr<const nibu::Model>> loaded,
                     nibu_model** model) {
  if (!loaded.ok()) return loaded.status();
  auto made = std::make_unique<nibu_model>();
  made->model = *std::move(loaded);
  for (const Fact& fact : kFacts) made->facts.push_back(fact.text(made->model->info()));
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
  return Guard(error, [&] {
    absl::Status status = Clear(model, "model");
    if (!status.ok()) return status;
    return HandOut(nibu::Model::Load(std::string(TextOf(path)),
                                     options == nullptr ? nibu::ModelOptions() : options->model),
                   model);
  });
}

nibu_status nibu_model_pivot(const nibu_model* first, const nibu_model* second, nibu_model** model,
                             nibu_error** error) {
  return Guard(error, [&] {
    absl::Status status = Clear(model, "model");
    if (!status.ok()) return status;
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
  for (size_t i = 0; i < kFacts.size(); ++i) {
    if (TextOf(name) == kFacts[i].name) return model->facts[i].c_str();
  }
  return nullptr;
}

const char* nibu_model_fact_name(size_t fact) {
  return fact < kFacts.size() ? kFacts[fact].name : nullptr;
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
