#include "tools/inspect.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "engine/core/status_macros.h"
#include "engine/ops/convert.h"
#include "models/load_model.h"
#include "models/native/model_config_json.h"
#include "models/native/native.h"
#include "tools/memory.h"

namespace nibu {
namespace {

using Json = nlohmann::ordered_json;

bool IsReadable(DType dtype) { return dtype != DType::kInt64 && dtype != DType::kUint8; }

struct Range {
  float min = std::numeric_limits<float>::infinity();
  float max = -std::numeric_limits<float>::infinity();
  int64_t nan = 0;
};

Range RangeOf(const StoredTensor& tensor) {
  constexpr size_t kChunk = 4096;
  float values[kChunk];
  Range range;
  const TensorView& view = tensor.view;
  const auto n = static_cast<size_t>(view.elements());
  const size_t row = view.shape.empty() ? 1 : n / std::max<size_t>(1, view.shape[0]);
  for (size_t i = 0; i < n; i += kChunk) {
    const size_t count = std::min(kChunk, n - i);
    ConvertToFloat(view.dtype, static_cast<const char*>(view.data) + i * DTypeSize(view.dtype),
                   count, values);
    for (size_t k = 0; k < count; ++k) {
      float value = values[k];
      if (!tensor.scales.empty()) {
        value /= tensor.scales[std::min(tensor.scales.size() - 1, (i + k) / row)];
      }
      if (std::isnan(value)) {
        ++range.nan;
        continue;
      }
      range.min = std::min(range.min, value);
      range.max = std::max(range.max, value);
    }
  }
  return range;
}

Json TensorFacts(const std::string& name, const StoredTensor& tensor) {
  const TensorView& view = tensor.view;
  Json facts = {{"name", name},
                {"dtype", DTypeName(view.dtype)},
                {"shape", std::vector<int64_t>(view.shape.begin(), view.shape.end())},
                {"bytes", view.bytes()}};
  if (!IsReadable(view.dtype)) return facts;
  const Range range = RangeOf(tensor);
  if (range.min <= range.max) {
    facts["min"] = range.min;
    facts["max"] = range.max;
  }
  facts["nan"] = range.nan;
  return facts;
}

// Numbers that the model consists of; what is shared counts once.
int64_t Parameters(const OpenedModel& model) {
  std::vector<std::string> names;
  for (const auto& [weight, tensors] : model.names.tensors) {
    names.insert(names.end(), tensors.weights.begin(), tensors.weights.end());
    names.insert(names.end(), tensors.biases.begin(), tensors.biases.end());
  }
  std::set<const void*> seen;
  int64_t parameters = 0;
  for (const std::string& name : names) {
    const StoredTensor* tensor = model.source->Find(name);
    if (tensor != nullptr && seen.insert(tensor->view.data).second) {
      parameters += tensor->view.elements();
    }
  }
  return parameters;
}

uint64_t StoredBytes(const TensorSource& source) {
  std::set<const void*> seen;
  uint64_t bytes = 0;
  for (const std::string& name : source.Names()) {
    const TensorView& view = source.Find(name)->view;
    if (seen.insert(view.data).second) bytes += view.bytes();
  }
  return bytes;
}

Json VocabularyFacts(const OpenedModel& model) {
  const ModelVocabulary& vocabulary = model.vocabulary;
  const ModelConfig& config = model.config;
  const auto token = [](const std::vector<std::string>& tokens, int id) {
    return Json{{"id", id},
                {"token", id < 0 || static_cast<size_t>(id) >= tokens.size()
                              ? ""
                              : tokens[static_cast<size_t>(id)]}};
  };
  Json languages = Json::array();
  for (const auto& language : vocabulary.languages.languages) languages.push_back(language.code);
  return {{"source", vocabulary.source_tokens.size()},
          {"target", vocabulary.target_tokens.size()},
          {"shared", vocabulary.source_tokens == vocabulary.target_tokens},
          {"sentencepiece", !vocabulary.source_sentencepiece.empty()},
          {"language_tokens", vocabulary.language_tokens},
          {"languages", languages},
          {"end", token(vocabulary.target_tokens, config.eos)},
          {"unknown", token(vocabulary.source_tokens, config.unk)},
          {"start", token(vocabulary.target_tokens, config.decoder_start)}};
}

Json DefaultFacts(const ModelDefaults& defaults) {
  Json facts = Json::object();
  if (defaults.beam_size) facts["beam_size"] = *defaults.beam_size;
  if (defaults.length_penalty) facts["length_penalty"] = *defaults.length_penalty;
  if (defaults.max_length_factor) facts["max_length_factor"] = *defaults.max_length_factor;
  return facts;
}

// Loads the model as a program that uses it does. What it costs comes first: later steps take
// memory, too.
absl::Status LoadFacts(const std::string& path, ComputeType compute_type, Json* facts) {
  const auto start = std::chrono::steady_clock::now();
  const absl::StatusOr<LoadedModel> loaded = LoadModel(path, compute_type);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  if (!loaded.ok()) return loaded.status();
  *facts = {{"compute_type", ComputeTypeName(compute_type)},
            {"isa", InstructionSet()},
            {"seconds", seconds.count()},
            {"peak_rss_bytes", PeakMemoryBytes()},
            {"weight_bytes", loaded->model->weight_bytes()}};
  if (!loaded->note.empty()) (*facts)["note"] = loaded->note;
  return absl::OkStatus();
}

std::string Commas(int64_t n) {
  std::string text = absl::StrCat(n);
  for (int at = static_cast<int>(text.size()) - 3; at > 0; at -= 3) {
    text.insert(static_cast<size_t>(at), ",");
  }
  return text;
}

std::string MegaBytes(const Json& bytes) {
  return absl::StrFormat("%.1f MB", bytes.get<double>() / 1e6);
}

// Two numbers, or one when they are the same.
std::string Both(const Json& a, const Json& b, absl::string_view between) {
  return a == b ? a.dump() : absl::StrCat(a.dump(), between, b.dump());
}

std::string ArchitectureText(const Json& config) {
  const auto word = [&](const char* key) { return config[key].get<std::string>(); };
  const std::string positions = word("position_kind");
  std::string text = absl::StrCat(
      config["layers_encoder"].dump(), " + ", config["layers_decoder"].dump(), " layers, d_model ",
      config["d_model"].dump(), ", ", Both(config["heads_encoder"], config["heads_decoder"], " / "),
      " heads, feed-forward ", Both(config["ffn_encoder"], config["ffn_decoder"], " / "), " ",
      word("activation"), config["gated_ffn"].get<bool>() ? " gated" : "", ", ", word("norm_order"),
      "-norm", word("norm_kind") == "rms" ? " (RMS)" : "", ", ",
      positions.substr(0, positions.find('_')), " positions");
  if (word("decoder_memory") == "ssru") absl::StrAppend(&text, ", SSRU decoder");
  return text;
}

std::string AlignmentText(const Json& config) {
  const int layers = config["layers_decoder"];
  const int layer = config["alignment_layer"];
  const int heads = config["alignment_heads"];
  return absl::StrCat(
      "decoder layer ", layer < 0 ? layers + layer + 1 : layer + 1, " of ", layers,
      heads == 0 ? ", all heads"
                 : absl::StrCat(", first ", heads == 1 ? "head" : absl::StrCat(heads, " heads")));
}

std::string VocabularyText(const Json& vocabulary) {
  std::string text = Commas(vocabulary["source"].get<int64_t>());
  if (!vocabulary["shared"].get<bool>()) {
    absl::StrAppend(&text, " source, ", Commas(vocabulary["target"].get<int64_t>()), " target");
  }
  absl::StrAppend(&text, " tokens",
                  vocabulary["sentencepiece"].get<bool>() ? ", SentencePiece"
                                                          : ", no SentencePiece (--tokenized)");
  for (const char* special : {"end", "unknown", "start"}) {
    const Json& token = vocabulary[special];
    if (token["id"] < 0) continue;
    absl::StrAppend(&text, ", ", special, " ", token["token"].get<std::string>(), " ",
                    token["id"].dump());
  }
  const size_t languages = vocabulary["languages"].size();
  if (languages > 0) absl::StrAppend(&text, ", ", languages, " languages");
  return text;
}

std::string LoadText(const Json& load) {
  return absl::StrFormat("%.3f s as %s on %s; weights %s, peak memory %s",
                         load["seconds"].get<double>(), load["compute_type"].get<std::string>(),
                         load["isa"].get<std::string>(), MegaBytes(load["weight_bytes"]),
                         MegaBytes(load["peak_rss_bytes"]));
}

std::string Number(const Json& tensor, const char* key) {
  if (!tensor.contains(key)) return "-";
  if (!tensor[key].is_number_float()) return tensor[key].dump();
  return absl::StrFormat("%.4g", tensor[key].get<double>());
}

std::string TensorTable(const Json& tensors) {
  size_t width = 4;
  for (const Json& tensor : tensors) {
    width = std::max(width, tensor["name"].get_ref<const std::string&>().size());
  }
  const auto line = [&](const std::string& name, const std::string& dtype, const std::string& shape,
                        const std::string& bytes, const std::string& min, const std::string& max,
                        const std::string& nan) {
    return absl::StrFormat("%-*s  %-8s  %-14s %14s %11s %11s %5s\n", width, name, dtype, shape,
                           bytes, min, max, nan);
  };
  std::string text = line("name", "type", "shape", "bytes", "min", "max", "NaN");
  for (const Json& tensor : tensors) {
    text += line(
        tensor["name"], tensor["dtype"],
        absl::StrCat("[", absl::StrJoin(tensor["shape"].get<std::vector<int64_t>>(), ", "), "]"),
        Commas(tensor["bytes"].get<int64_t>()), Number(tensor, "min"), Number(tensor, "max"),
        Number(tensor, "nan"));
  }
  return text;
}

}  // namespace

absl::StatusOr<Inspection> Inspect(const std::string& path, const InspectOptions& options) {
  Inspection inspection;
  Json load;
  inspection.status = LoadFacts(path, options.compute_type, &load);
  NIBU_ASSIGN_OR_RETURN(const OpenedModel model, OpenModel(path));
  Json& facts = inspection.facts;
  facts = {{"model", path},
           {"format", model.format},
           {"config", ConfigToJson(model.config)},
           {"parameters", Parameters(model)},
           {"stored_bytes", StoredBytes(*model.source)},
           {"vocabulary", VocabularyFacts(model)},
           {"defaults", DefaultFacts(model.defaults)},
           {"shortlist", model.shortlist != nullptr}};
  const PackedLinears& packed = model.source->packed();
  if (!packed.linears.empty()) {
    size_t bytes = 0;
    for (const auto& [name, linear] : packed.linears) bytes += linear.size();
    facts["packed"] = {{"compute_type", ComputeTypeName(packed.compute_type)},
                       {"fingerprint", packed.fingerprint},
                       {"usable", packed.fingerprint == PackFingerprint()},
                       {"bytes", bytes}};
  }
  if (!load.is_null()) facts["load"] = load;
  if (!options.tensors) return inspection;
  facts["tensors"] = Json::array();
  for (const std::string& name : model.source->Names()) {
    facts["tensors"].push_back(TensorFacts(name, *model.source->Find(name)));
    model.source->DropPages();
  }
  if (const auto file = FileBytes::Open(path); file.ok() && IsNative((*file)->bytes())) {
    const absl::Status verified = VerifyNative(**file);
    facts["checksums"] = verified.ok();
    if (inspection.status.ok()) inspection.status = verified;
  }
  return inspection;
}

std::string InspectionText(const Json& facts) {
  std::string text = absl::StrCat(facts["model"].get<std::string>(), "\n");
  const auto add = [&](absl::string_view name, const std::string& value) {
    absl::StrAppendFormat(&text, "  %-13s %s\n", name, value);
  };
  add("format", facts["format"].get<std::string>());
  add("architecture", ArchitectureText(facts["config"]));
  add("alignment", AlignmentText(facts["config"]));
  add("parameters", absl::StrCat(Commas(facts["parameters"].get<int64_t>()), ", stored in ",
                                 MegaBytes(facts["stored_bytes"])));
  add("vocabulary", VocabularyText(facts["vocabulary"]));
  std::vector<std::string> defaults;
  for (const auto& [key, value] : facts["defaults"].items()) {
    defaults.push_back(absl::StrFormat("%s %g", key, value.get<double>()));
  }
  add("defaults", defaults.empty() ? "none" : absl::StrJoin(defaults, ", "));
  add("shortlist", facts["shortlist"].get<bool>() ? "yes" : "none");
  if (facts.contains("packed")) {
    const Json& packed = facts["packed"];
    add("packed",
        absl::StrCat(packed["compute_type"].get<std::string>(), " for ",
                     packed["fingerprint"].get<std::string>(), ", ", MegaBytes(packed["bytes"]),
                     packed["usable"].get<bool>() ? "" : ": of no use here"));
  }
  if (facts.contains("load")) {
    add("loading", LoadText(facts["load"]));
    if (facts["load"].contains("note")) add("note", facts["load"]["note"].get<std::string>());
  }
  if (facts.contains("checksums")) {
    add("checksums", facts["checksums"].get<bool>() ? "right" : "WRONG");
  }
  if (facts.contains("tensors")) absl::StrAppend(&text, "\n", TensorTable(facts["tensors"]));
  // Names and tokens may hold anything; a terminal need not obey it.
  for (char& c : text) {
    if (absl::ascii_iscntrl(static_cast<unsigned char>(c)) && c != '\n') c = '?';
  }
  return text;
}

}  // namespace nibu
