// Collects the facts about a model: its files, weights, vocabularies and defaults.
#include "tools/inspect/inspect.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "engine/core/status_macros.h"
#include "engine/ops/convert.h"
#include "models/assembly/mixer_text.h"
#include "models/assembly/model_defaults.h"
#include "models/files/json.h"
#include "models/load_model.h"
#include "models/native/model_config_json.h"
#include "models/native/native.h"
#include "models/native/unpack.h"
#include "tokenizer/subwords/merges.h"
#include "tools/text/model/model_paths.h"
#include "tools/text/options/engine_options.h"
#include "tools/text/options/resources.h"

namespace nibu::internal {
namespace {

using Json = nlohmann::ordered_json;

// A fact, for programs and for people.
struct Fact {
  Json json;
  std::string text;
};

std::string Commas(int64_t n) {
  std::string text = absl::StrCat(n);
  for (int at = static_cast<int>(text.size()) - 3; at > 0; at -= 3) {
    text.insert(static_cast<size_t>(at), ",");
  }
  return text;
}

std::string MegaBytes(int64_t bytes) {
  return absl::StrFormat("%.1f MB", static_cast<double>(bytes) / 1e6);
}

Json TensorFacts(const std::string& name, const StoredTensor& tensor) {
  const TensorView& view = tensor.view;
  Json facts = {{"name", name},
                {"dtype", DTypeName(view.dtype)},
                {"shape", std::vector<int64_t>(view.shape.begin(), view.shape.end())},
                {"bytes", view.bytes()}};
  if (view.dtype == DType::kInt64 || view.dtype == DType::kUint8) return facts;
  // The range is that of the weights: integers are divided by their scales.
  const auto rows = static_cast<size_t>(view.shape.empty() ? 1 : view.shape[0]);
  std::vector<float> row(static_cast<size_t>(view.elements()) / std::max<size_t>(1, rows));
  const char* data = static_cast<const char*>(view.data);
  const absl::Span<const float> scales = tensor.scales;
  float min = std::numeric_limits<float>::infinity();
  float max = -min;
  int64_t nan = 0;
  for (size_t r = 0; r < rows; ++r, data += row.size() * DTypeSize(view.dtype)) {
    ConvertToFloat(view.dtype, data, row.size(), row.data());
    const float scale = scales.empty() ? 1 : scales[std::min(scales.size() - 1, r)];
    for (float value : row) {
      value /= scale;
      nan += std::isnan(value) ? 1 : 0;
      min = std::min(min, value);  // a NaN changes neither, since it is less than nothing
      max = std::max(max, value);
    }
  }
  if (min <= max) facts.update({{"min", min}, {"max", max}});
  facts["nan"] = nan;
  return facts;
}

// Returns the sum over those of the tensors that the model has. A shared tensor counts once.
template <typename F>
int64_t SumOnce(const TensorSource& source, const std::vector<std::string>& names, F size) {
  std::set<const void*> seen;
  int64_t sum = 0;
  for (const std::string& name : names) {
    const StoredTensor* tensor = source.Find(name);
    if (tensor != nullptr && seen.insert(tensor->view.data).second) sum += size(tensor->view);
  }
  return sum;
}

// Returns the number of the model's parameters. A tied output layer counts once.
int64_t Parameters(const OpenedModel& model) {
  std::vector<std::string> names;
  for (const auto& [weight, tensors] : model.names.tensors) {
    names.insert(names.end(), tensors.weights.begin(), tensors.weights.end());
    names.insert(names.end(), tensors.biases.begin(), tensors.biases.end());
  }
  return SumOnce(*model.source, names, [](const TensorView& view) { return view.elements(); });
}

Fact VocabularyFact(const OpenedModel& model) {
  const ModelVocabulary& vocabulary = model.vocabulary;
  const std::vector<std::string>& source = vocabulary.source_tokens;
  const std::vector<std::string>& target = vocabulary.target_tokens;
  const bool has_sentencepiece = !vocabulary.source_sentencepiece.empty();
  Json json = {{"source", source.size()},
               {"target", target.size()},
               {"shared", source == target},
               {"sentencepiece", has_sentencepiece},
               {"language_tokens", !vocabulary.language_tokens.empty()},
               {"languages", Json::array()}};
  std::string text = Commas(static_cast<int64_t>(source.size()));
  if (source != target) {
    absl::StrAppend(&text, " source, ", Commas(static_cast<int64_t>(target.size())), " target");
  }
  const bool has_merges = SubwordMerges::IsMerges(vocabulary.source_sentencepiece);
  absl::StrAppend(&text, " tokens",
                  has_merges          ? ", merges of subword-nmt"
                  : has_sentencepiece ? ", SentencePiece"
                                      : ", no SentencePiece (--tokenized)");
  const auto add_token = [&](const char* name, const std::vector<std::string>& tokens, int id) {
    const bool is_there = id >= 0 && static_cast<size_t>(id) < tokens.size();
    const std::string token = is_there ? tokens[static_cast<size_t>(id)] : "";
    json[name] = {{"id", id}, {"token", token}};
    if (id >= 0) absl::StrAppend(&text, ", ", name, " ", token, " ", id);
  };
  add_token("end", target, model.config.eos);
  add_token("unknown", source, model.config.unk);
  add_token("start", target, model.config.decoder_start);
  const auto& languages = vocabulary.languages.languages.empty() ? vocabulary.language_tokens
                                                                 : vocabulary.languages.languages;
  for (const auto& language : languages) json["languages"].push_back(language.code);
  if (!languages.empty()) {
    absl::StrAppend(&text, ", ", languages.size(), " languages: ",
                    absl::StrJoin(json["languages"].get<std::vector<std::string>>(), " "));
  }
  return {std::move(json), std::move(text)};
}

Fact DefaultsFact(const ModelDefaults& defaults) {
  const Json json = WriteModelDefaults(defaults, "beam_size");
  std::vector<std::string> words;
  for (const auto& [name, value] : json.items()) {
    if (name == "ignored") continue;  // the note about the model names them
    words.push_back(value.is_number() ? absl::StrFormat("%s %g", name, value.get<double>())
                                      : absl::StrCat(name, " ", QuotedJson(value)));
  }
  return {json, words.empty() ? "none" : absl::StrJoin(words, ", ")};
}

Fact PackedFact(const PackedLinears& packed) {
  const bool usable = packed.fingerprint == PackFingerprint();
  int64_t bytes = 0;
  for (const auto& [name, linear] : packed.linears) bytes += static_cast<int64_t>(linear.size());
  return {{{"compute_type", ComputeTypeName(packed.compute_type)},
           {"fingerprint", packed.fingerprint},
           {"usable", usable},
           {"bytes", bytes}},
          absl::StrCat(ComputeTypeName(packed.compute_type), " for ", packed.fingerprint, ", ",
                       MegaBytes(bytes), usable ? "" : ": packed anew here")};
}

// Loads the model as a program that uses it does.
absl::StatusOr<Fact> LoadFact(const std::string& path, nibu::ComputeType asked) {
  const auto start = Clock::now();
  NIBU_ASSIGN_OR_RETURN(OpenedModel opened, OpenModel(path));
  NIBU_ASSIGN_OR_RETURN(const ComputeType compute_type, ChooseComputeType(asked, &opened));
  NIBU_ASSIGN_OR_RETURN(const LoadedModel loaded, LoadModel(std::move(opened), compute_type));
  const double seconds = SecondsSince(start);
  const int64_t peak = PeakMemoryBytes();
  const auto weights = static_cast<int64_t>(loaded.model->weight_bytes());
  Json json = {{"compute_type", ComputeTypeName(compute_type)},
               {"isa", InstructionSet()},
               {"seconds", seconds},
               {"peak_rss_bytes", peak},
               {"weight_bytes", weights}};
  if (!loaded.notes.empty()) json["note"] = absl::StrJoin(loaded.notes, "; ");
  return Fact{std::move(json),
              absl::StrFormat("%.3f s as %s on %s; weights %s, peak memory %s", seconds,
                              ComputeTypeName(compute_type), InstructionSet(), MegaBytes(weights),
                              MegaBytes(peak))};
}

// Returns two numbers, or one if they are equal.
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
      positions.substr(0, positions.find('_')), " positions, at most ",
      config["max_positions"].dump(), " tokens");
  if (word("decoder_memory") == "ssru") absl::StrAppend(&text, ", SSRU decoder");
  return text;
}

std::string AlignmentText(const ModelConfig& config) {
  const int layers = config.layers_decoder;
  const int layer = config.alignment_layer;
  const int heads = config.alignment_heads;
  return absl::StrCat(
      "decoder layer ", layer < 0 ? layers + layer + 1 : layer + 1, " of ", layers,
      heads == 0 ? ", all heads"
                 : absl::StrCat(", first ", heads == 1 ? "head" : absl::StrCat(heads, " heads")));
}

std::string Number(const Json& tensor, const char* key) {
  if (!tensor.contains(key)) return "-";
  if (!tensor[key].is_number_float()) return tensor[key].dump();
  return absl::StrFormat("%.4g", tensor[key].get<double>());
}

std::string TensorTable(const Json& tensors) {
  constexpr char kLine[] = "%-*s  %-8s  %-14s %14s %11s %11s %5s\n";
  size_t width = 4;
  for (const Json& tensor : tensors) {
    width = std::max(width, tensor["name"].get_ref<const std::string&>().size());
  }
  std::string text =
      absl::StrFormat(kLine, width, "name", "type", "shape", "bytes", "min", "max", "NaN");
  for (const Json& tensor : tensors) {
    const auto shape = tensor["shape"].get<std::vector<int64_t>>();
    absl::StrAppendFormat(
        &text, kLine, width, tensor["name"].get<std::string>(), tensor["dtype"].get<std::string>(),
        absl::StrCat("[", absl::StrJoin(shape, ", "), "]"), Commas(tensor["bytes"].get<int64_t>()),
        Number(tensor, "min"), Number(tensor, "max"), Number(tensor, "nan"));
  }
  return text;
}

}  // namespace

absl::StatusOr<Inspection> Inspect(const std::string& path, nibu::ComputeType compute_type,
                                   bool tensors) {
  NIBU_RETURN_IF_ERROR(CheckModelExists(path));
  // The cost of loading is measured first, since later steps take memory, too.
  const absl::StatusOr<Fact> load = LoadFact(path, compute_type);
  NIBU_ASSIGN_OR_RETURN(OpenedModel model, OpenModel(path));
  std::optional<Fact> packed;
  if (!model.source->packed().linears.empty()) packed = PackedFact(model.source->packed());
  NIBU_RETURN_IF_ERROR(UnpackLinears(&model));
  Inspection inspection;
  inspection.status = load.status();
  Json& facts = inspection.facts;
  facts["model"] = path;
  std::string& text = inspection.text;
  text = path + "\n";
  const auto add_line = [&](absl::string_view name, const std::string& value) {
    absl::StrAppendFormat(&text, "  %-15s %s\n", name, value);
  };
  const auto add = [&](const char* name, const Fact& fact) {
    facts[name] = fact.json;
    add_line(name, fact.text);
  };
  add("format", {model.format, model.format});
  for (const auto& [name, value] : model.facts) add(name.c_str(), {value, value});
  facts["config"] = ConfigToJson(model.config);
  add_line("architecture", ArchitectureText(facts["config"]));
  const std::vector<MixerSpec>& encoder = model.config.encoder_attention;
  const std::vector<MixerSpec>& cross = model.config.cross_attention;
  add_line("attention",
           absl::StrCat("encoder: ", encoder.empty() ? "full" : MixersToText(encoder),
                        cross.empty() ? "" : absl::StrCat("; cross: ", MixersToText(cross))));
  add_line("alignment", AlignmentText(model.config));
  const int64_t parameters = Parameters(model);
  const int64_t stored_bytes =
      SumOnce(*model.source, model.source->Names(),
              [](const TensorView& view) { return static_cast<int64_t>(view.bytes()); });
  add("parameters",
      {parameters, absl::StrCat(Commas(parameters), ", stored in ", MegaBytes(stored_bytes))});
  facts["stored_bytes"] = stored_bytes;
  add("vocabulary", VocabularyFact(model));
  add("defaults", DefaultsFact(model.defaults));
  facts["default_sources"] = model.defaults.sources;
  for (const std::string& source : model.defaults.sources) add_line("", source);
  add("shortlist", {model.shortlist != nullptr, model.shortlist != nullptr ? "yes" : "none"});
  if (packed.has_value()) add("packed", *packed);
  if (load.ok()) {
    facts["load"] = load->json;
    add_line("loading", load->text);
    if (load->json.contains("note")) add_line("note", load->json["note"]);
  }
  if (tensors) {
    facts["tensors"] = Json::array();
    for (const std::string& name : model.source->Names()) {
      facts["tensors"].push_back(TensorFacts(name, *model.source->Find(name)));
      model.source->DropPages();  // so that memory holds one tensor of a mapped file at a time
    }
    if (const auto file = FileBytes::Open(path); file.ok() && IsNative((*file)->bytes())) {
      const absl::Status verified = VerifyNative(**file);
      add("checksums", {verified.ok(), verified.ok() ? "right" : "WRONG"});
      inspection.status.Update(verified);
    }
    absl::StrAppend(&text, "\n", TensorTable(facts["tensors"]));
  }
  // Names and tokens may contain control characters, which a terminal must not obey.
  for (char& c : text) {
    if (absl::ascii_iscntrl(static_cast<unsigned char>(c)) && c != '\n') c = '?';
  }
  return inspection;
}

}  // namespace nibu::internal
