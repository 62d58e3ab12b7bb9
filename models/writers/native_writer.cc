// Writes a .nibu file to a temporary name, reads it back, renames it.
#include "models/writers/native_writer.h"

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/base/macros.h"
#include "absl/strings/str_cat.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "engine/ops/cpu.h"
#include "models/assembly/build_model.h"
#include "models/assembly/equalize.h"
#include "models/assembly/model_defaults.h"
#include "models/files/new_file.h"
#include "models/files/zip.h"
#include "models/load_model.h"
#include "models/native/model_config_json.h"
#include "models/native/native.h"
#include "models/native/native_parts.h"
#include "models/vocabulary/added_tokens.h"
#include "nlohmann/json.hpp"

namespace nibu::internal {
namespace {

using Json = nlohmann::json;

// A .nibu file being written: the preamble's place, blocks, and the header, which comes last.
class NativeFile {
 public:
  static absl::StatusOr<NativeFile> Create(const PendingPath& path) {
    NIBU_ASSIGN_OR_RETURN(const int fd, path.Create());
    NativeFile native(NewFile(path.path(), fd));
    NIBU_RETURN_IF_ERROR(native.file_.Append(std::string(kNativePreamble, '\0')));
    return native;
  }

  Json& header() { return header_; }

  // Returns the place of a block with these bytes, and writes the block unless there is one.
  absl::StatusOr<Json> Block(absl::string_view bytes) {
    const uint32_t checksum = Crc32(bytes);
    std::vector<uint64_t>& candidates = blocks_[{bytes.size(), checksum}];
    for (const uint64_t offset : candidates) {
      if (file_.Holds(offset, bytes)) return Json{offset, bytes.size(), checksum};
    }
    const uint64_t padding =
        (kNativeAlignment - file_.size() % kNativeAlignment) % kNativeAlignment;
    NIBU_RETURN_IF_ERROR(file_.Append(std::string(padding, '\0')));
    const uint64_t offset = file_.size();
    NIBU_RETURN_IF_ERROR(file_.Append(bytes));
    candidates.push_back(offset);
    return Json{offset, bytes.size(), checksum};
  }

  // Writes the header and the preamble, after which the file is whole.
  absl::Status Finish() {
    const uint64_t offset = file_.size();
    const std::string header = header_.dump(-1, ' ', false, Json::error_handler_t::replace);
    NIBU_RETURN_IF_ERROR(file_.Append(header));
    std::string preamble(kNativeMagic);
    const auto add = [&](auto value) {
      preamble.append(reinterpret_cast<const char*>(&value), sizeof(value));
    };
    add(kNativeVersion);
    add(Crc32(header));
    add(offset);
    add(static_cast<uint64_t>(header.size()));
    NIBU_RETURN_IF_ERROR(file_.WriteAt(0, preamble));
    return file_.Sync();
  }

 private:
  explicit NativeFile(NewFile file) : file_(std::move(file)) {}

  NewFile file_;
  Json header_ = Json::object();
  std::map<std::pair<uint64_t, uint32_t>, std::vector<uint64_t>> blocks_;  // by size and checksum
};

// Returns whether linears are packed. They are not if this CPU has no kernels for their type.
bool Packs(Quantization quantization) {
  return quantization.has_value() && IsSupported(*quantization);
}

// Writes the tensors, except those of linears if these are to be packed.
absl::Status WriteTensors(const OpenedModel& model, Quantization quantization, bool packs,
                          NativeFile* file) {
  NIBU_ASSIGN_OR_RETURN(const std::vector<PlannedTensor> plan,
                        PlanTensors(model, NativeNames(model.config, nullptr), quantization));
  Json tensors = Json::object();
  for (const PlannedTensor& tensor : plan) {
    if (tensor.from_name.empty() || (packs && tensor.is_of_linear)) continue;
    NIBU_ASSIGN_OR_RETURN(const TensorData data, ConvertTensor(tensor));
    Json& entry = tensors[tensor.name];
    entry["dtype"] = DTypeName(tensor.dtype);
    entry["shape"] = std::vector<int64_t>(tensor.shape.begin(), tensor.shape.end());
    NIBU_ASSIGN_OR_RETURN(entry["data"], file->Block(data.bytes));
    if (!data.scales.empty()) {
      NIBU_ASSIGN_OR_RETURN(entry["scales"],
                            file->Block({reinterpret_cast<const char*>(data.scales.data()),
                                         data.scales.size() * sizeof(float)}));
    }
    if (tensor.activation_scale != 0) entry["activation_scale"] = tensor.activation_scale;
    model.source->DropPages();
  }
  file->header()["tensors"] = std::move(tensors);
  return absl::OkStatus();
}

absl::Status WriteVocabulary(const ModelVocabulary& vocabulary, NativeFile* file) {
  Json& json = file->header()["vocabulary"];
  const std::pair<const char*, std::string> parts[] = {
      {"source_tokens", EncodeTokens(vocabulary.source_tokens)},
      {"target_tokens", EncodeTokens(vocabulary.target_tokens)},
      {"source_sentencepiece", vocabulary.source_sentencepiece},
      {"target_sentencepiece", vocabulary.target_sentencepiece}};
  for (const auto& [key, bytes] : parts) {
    if (bytes.empty()) continue;
    NIBU_ASSIGN_OR_RETURN(json[key], file->Block(bytes));
  }
  json["source_language"] = vocabulary.source_language;
  json["words_follow_added"] = vocabulary.words_follow_added;
  json["added_tokens_decoder"] = AddedTokensDecoder(vocabulary);
  const ModelLanguages& languages = vocabulary.languages;
  if (languages.languages.empty()) return absl::OkStatus();
  Json& header = file->header()["languages"];
  for (const auto& language : languages.languages) header["tokens"][language.code] = language.token;
  header["source_in_front"] = languages.source_in_front;
  header["target_follows_start"] = languages.target_follows_start;
  header["default_source"] = languages.default_source;
  header["default_target"] = languages.default_target;
  return absl::OkStatus();
}

// A visitor of ForEachWeight that collects the packed bytes of linears by their names in the file.
struct PackedBytes {
  const NameTable names;
  std::vector<std::pair<std::string, absl::string_view>> blocks;

  void operator()(const std::string& name, const Linear& linear, const WeightShape&) {
    blocks.emplace_back(names.Tensor(name), linear.packed_bytes());
  }
  void operator()(const std::string& name, const OutputWeights& output, const WeightShape&) {
    for (size_t i = 0; i < output.blocks.size(); ++i) {
      blocks.emplace_back(absl::StrCat(names.Tensor(name), "/", i),
                          output.blocks[i].packed_bytes());
    }
  }
  template <typename Weight>
  void operator()(const std::string&, const Weight&, const WeightShape&) {}
};

// Packs the linears, and writes them.
absl::Status WritePacked(const OpenedModel& model, ComputeType compute_type, NativeFile* file) {
  NIBU_ASSIGN_OR_RETURN(const std::shared_ptr<const Model> built,
                        BuildModel(model.config, model.names, compute_type, model.source.get()));
  PackedBytes packed{NativeNames(model.config, nullptr), {}};
  ForEachWeight(built->config, built->weights, packed);
  Json& json = file->header()["linears"];
  json["compute_type"] = ComputeTypeName(compute_type);
  json["fingerprint"] = PackFingerprint();
  for (const auto& [name, bytes] : packed.blocks) {
    NIBU_ASSIGN_OR_RETURN(json["packed"][name], file->Block(bytes));
  }
  return absl::OkStatus();
}

absl::Status WriteModel(const OpenedModel& model, Quantization quantization,
                        const std::string& int8_note, NativeFile* file) {
  file->header()["config"] = ConfigToJson(model.config);
  NIBU_RETURN_IF_ERROR(WriteVocabulary(model.vocabulary, file));
  file->header()["defaults"] = WriteModelDefaults(model.defaults, "beam_size");
  if (!model.facts.empty()) file->header()["facts"] = model.facts;
  if (!int8_note.empty()) file->header()["facts"][kInt8Fact] = int8_note;
  if (model.shortlist != nullptr) {
    NIBU_ASSIGN_OR_RETURN(file->header()["shortlist"],
                          file->Block(EncodeShortlist(*model.shortlist)));
  }
  const bool packs = Packs(quantization);
  NIBU_RETURN_IF_ERROR(WriteTensors(model, quantization, packs, file));
  if (packs) NIBU_RETURN_IF_ERROR(WritePacked(model, *quantization, file));
  return file->Finish();
}

absl::Status Write(const OpenedModel& model, Quantization quantization, const std::string& path,
                   std::string* note) {
  PendingPath pending(path);
  if (quantization.has_value() && HasInt8Inputs(*quantization)) {
    *note = EqualizeForInt8(model.config, model.names, model.source.get());
  }
  NIBU_ASSIGN_OR_RETURN(NativeFile file, NativeFile::Create(pending));
  NIBU_RETURN_IF_ERROR(WriteModel(model, quantization, *note, &file));
  NIBU_ASSIGN_OR_RETURN(const auto written, FileBytes::Open(pending.path()));
  NIBU_RETURN_IF_ERROR(VerifyNative(*written));
  const ComputeType type = Packs(quantization) ? *quantization : ComputeType::kFloat32;
  NIBU_RETURN_IF_ERROR(LoadModel(pending.path(), type).status());
  return pending.Commit();
}

}  // namespace

absl::Status WriteNative(const OpenedModel& model, Quantization quantization,
                         const std::string& path, std::string* note) {
  ABSL_ASSERT(model.source->packed().linears.empty());
  std::string unused;
  return WithinMemory(
      path, [&] { return Write(model, quantization, path, note != nullptr ? note : &unused); });
}

}  // namespace nibu::internal
