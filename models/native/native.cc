// Checks a .nibu file's header, and takes the parts of a model from it; native.h describes the
// bytes.
#include "models/native/native.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/base/macros.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "models/assembly/model_defaults.h"
#include "models/assembly/name_table.h"
#include "models/files/byte_reader.h"
#include "models/files/json.h"
#include "models/files/zip.h"
#include "models/native/model_config_json.h"
#include "models/native/native_parts.h"
#include "models/vocabulary/added_tokens.h"

namespace nibu::internal {
namespace {

using Json = nlohmann::json;

constexpr size_t kMagicSize = sizeof(kNativeMagic) - 1;

absl::Status Damaged(const std::string& path, absl::string_view what) {
  return Invalid(path, ": not a whole .nibu file: ", what,
                 "; copy it again, or convert the model again");
}

// A file whose preamble and header are sound.
struct Layout {
  std::shared_ptr<const FileBytes> file;
  uint64_t end = 0;  // the end of the blocks, where the header begins
  Json header;
};

absl::StatusOr<Layout> ReadHeader(std::shared_ptr<const FileBytes> file) {
  const absl::string_view bytes = file->bytes();
  ByteReader reader(bytes.substr(0, kNativePreamble));
  reader.ReadBytes(kMagicSize);
  const auto version = reader.Read<uint32_t>();
  const auto checksum = reader.Read<uint32_t>();
  const auto offset = reader.Read<uint64_t>();
  const auto size = reader.Read<uint64_t>();
  const absl::string_view zeros = reader.rest();
  if (!reader.ok() || bytes.size() < kNativePreamble) {
    return Damaged(file->path(), "it ends too early");
  }
  if (version < kOldestNativeVersion || version > kNativeVersion) {
    return NotSupported(file->path(), ": .nibu version ", version, " is not supported, version ",
                        kNativeVersion, " is; convert the original model again: nibu-convert ",
                        "--model=ORIGINAL --out=", file->path(),
                        version > kNativeVersion ? ", or install a newer nibu" : "");
  }
  if (zeros.find_first_not_of('\0') != absl::string_view::npos || offset < kNativePreamble ||
      offset > bytes.size() || size != bytes.size() - offset) {
    return Damaged(file->path(),
                   absl::StrCat("its header is said to be at ", offset, " and ", size,
                                " bytes long, the file has ", bytes.size(), " bytes"));
  }
  const absl::string_view header = bytes.substr(offset);
  if (Crc32(header) != checksum) return Damaged(file->path(), "its header is damaged");
  const std::string path = file->path();
  NIBU_ASSIGN_OR_RETURN(Json json, ParseJson(header, path));
  if (!json.is_object()) return Damaged(path, "its header is no object");
  return Layout{std::move(file), offset, std::move(json)};
}

// A block whose place is sound; its checksum is not verified.
struct Block {
  absl::string_view bytes;
  uint32_t checksum = 0;
};

absl::StatusOr<Block> ReadBlock(const Layout& layout, const Json& json, absl::string_view name) {
  if (!json.is_array() || json.size() != 3 ||
      !std::all_of(json.begin(), json.end(),
                   [](const Json& n) { return n.is_number_unsigned(); })) {
    return Damaged(layout.file->path(), absl::StrCat("\"", name, "\" has no place"));
  }
  const auto offset = json[0].get<uint64_t>();
  const auto size = json[1].get<uint64_t>();
  const auto checksum = json[2].get<uint64_t>();
  if (offset % kNativeAlignment != 0 || offset < kNativePreamble || offset > layout.end ||
      size > layout.end - offset || checksum > UINT32_MAX) {
    return Damaged(layout.file->path(), absl::StrCat("\"", name, "\" lies outside the data"));
  }
  return Block{layout.file->bytes().substr(offset, size), static_cast<uint32_t>(checksum)};
}

// Returns the bytes of a block after verifying its checksum.
absl::StatusOr<absl::string_view> CheckedBytes(const Layout& layout, const Json& json,
                                               absl::string_view name) {
  NIBU_ASSIGN_OR_RETURN(const Block block, ReadBlock(layout, json, name));
  if (Crc32(block.bytes) == block.checksum) return block.bytes;
  return Damaged(layout.file->path(), absl::StrCat("the checksum of \"", name, "\" is wrong"));
}

// Returns a member of the header, which must be an object.
absl::StatusOr<ConfigFile> Object(const Layout& layout, const char* key) {
  const auto it = layout.header.find(key);
  const std::string name = absl::StrCat(layout.file->path(), ": header: ", key);
  return ConfigFile::From(it == layout.header.end() ? Json() : *it, name);
}

// Returns the bytes of a small part that is read at load, after verifying its checksum; empty if
// the file does not have it.
absl::StatusOr<absl::string_view> Part(const Layout& layout, const ConfigFile& object,
                                       const std::string& key) {
  const Json* json = object.Find(key);
  if (json == nullptr) return absl::string_view();
  return CheckedBytes(layout, *json, key);
}

absl::StatusOr<std::vector<std::string>> Tokens(const Layout& layout, const ConfigFile& object,
                                                const std::string& key, int size) {
  NIBU_ASSIGN_OR_RETURN(const absl::string_view bytes, Part(layout, object, key));
  auto tokens = DecodeTokens(bytes);
  if (!tokens.ok()) return Damaged(layout.file->path(), tokens.status().message());
  if (tokens->size() != static_cast<size_t>(size)) {
    return Damaged(layout.file->path(),
                   absl::StrCat("\"", key, "\" has ", tokens->size(), " tokens, expected ", size));
  }
  return tokens;
}

absl::StatusOr<ModelVocabulary> ReadVocabulary(const Layout& layout, const ModelConfig& config) {
  NIBU_ASSIGN_OR_RETURN(const ConfigFile object, Object(layout, "vocabulary"));
  ModelVocabulary vocabulary;
  NIBU_ASSIGN_OR_RETURN(vocabulary.source_tokens,
                        Tokens(layout, object, "source_tokens", config.vocab_source));
  NIBU_ASSIGN_OR_RETURN(vocabulary.target_tokens,
                        Tokens(layout, object, "target_tokens", config.vocab_target));
  NIBU_ASSIGN_OR_RETURN(const auto source, Part(layout, object, "source_sentencepiece"));
  NIBU_ASSIGN_OR_RETURN(const auto target, Part(layout, object, "target_sentencepiece"));
  vocabulary.source_sentencepiece = std::string(source);
  vocabulary.target_sentencepiece = std::string(target);
  NIBU_ASSIGN_OR_RETURN(vocabulary.source_language, object.String("source_language", ""));
  NIBU_ASSIGN_OR_RETURN(vocabulary.words_follow_added, object.Bool("words_follow_added", true));
  NIBU_ASSIGN_OR_RETURN(const auto added, ReadAddedTokensDecoder(object));
  for (const ListedToken& token : added) {
    if (token.rules.token < 0 || token.rules.token >= config.vocab_source) {
      return object.Wrong("added_tokens_decoder", "tokens of the vocabulary");
    }
    vocabulary.added_tokens.push_back(token.rules);
  }
  return vocabulary;
}

absl::StatusOr<ModelLanguages> ReadLanguages(const Layout& layout, const ModelConfig& config) {
  ModelLanguages languages;
  if (!layout.header.contains("languages")) return languages;
  NIBU_ASSIGN_OR_RETURN(const ConfigFile object, Object(layout, "languages"));
  const Json* tokens = object.Find("tokens");
  const auto limit = static_cast<uint64_t>(std::min(config.vocab_source, config.vocab_target));
  if (tokens == nullptr || !tokens->is_object()) return object.Wrong("tokens", "an object");
  for (const auto& [code, token] : tokens->items()) {
    if (!token.is_number_unsigned() || token.get<uint64_t>() >= limit)
      return object.Wrong("tokens", "token ids");
    languages.languages.push_back({code, token.get<int>()});
  }
  NIBU_ASSIGN_OR_RETURN(languages.source_in_front, object.Bool("source_in_front", true));
  NIBU_ASSIGN_OR_RETURN(languages.target_follows_start, object.Bool("target_follows_start", true));
  NIBU_ASSIGN_OR_RETURN(languages.default_source, object.String("default_source", ""));
  NIBU_ASSIGN_OR_RETURN(languages.default_target, object.String("default_target", ""));
  return languages;
}

constexpr std::pair<absl::string_view, DType> kDTypes[] = {{"float32", DType::kFloat32},
                                                           {"float16", DType::kFloat16},
                                                           {"bfloat16", DType::kBFloat16},
                                                           {"int8", DType::kInt8},
                                                           {"int16", DType::kInt16}};
constexpr std::pair<absl::string_view, ComputeType> kComputeTypes[] = {
    {"float32", ComputeType::kFloat32},
    {"bfloat16", ComputeType::kBFloat16},
    {"int8", ComputeType::kInt8},
    {"int4", ComputeType::kInt4}};

absl::StatusOr<absl::Span<const float>> ReadScales(const Layout& layout, const Json& json,
                                                   const std::string& name) {
  NIBU_ASSIGN_OR_RETURN(const absl::string_view bytes, CheckedBytes(layout, json, name));
  if (bytes.size() % sizeof(float) != 0) {
    return Damaged(layout.file->path(), absl::StrCat("\"", name, "\" has half a scale"));
  }
  return absl::Span<const float>(reinterpret_cast<const float*>(bytes.data()),
                                 bytes.size() / sizeof(float));
}

absl::StatusOr<StoredTensor> ReadTensor(const Layout& layout, const std::string& name,
                                        const Json& json) {
  const std::string& path = layout.file->path();
  NIBU_ASSIGN_OR_RETURN(const ConfigFile object,
                        ConfigFile::From(json, absl::StrCat(path, ": header: ", name)));
  StoredTensor tensor;
  tensor.file = layout.file;
  NIBU_ASSIGN_OR_RETURN(tensor.view.dtype, object.OneOf<DType>("dtype", "", kDTypes));
  constexpr char kSizes[] = "one or two sizes";
  NIBU_ASSIGN_OR_RETURN(const std::vector<int> shape,
                        object.IntList("shape", 0, INT32_MAX, kSizes));
  if (shape.empty() || shape.size() > 2) return object.Wrong("shape", kSizes);
  tensor.view.shape.assign(shape.begin(), shape.end());
  const uint64_t bytes =
      *BytesOf(tensor.view.dtype, tensor.view.shape);  // two sizes of 31 bits cannot overflow
  const Json* data = object.Find("data");
  NIBU_ASSIGN_OR_RETURN(const Block block,
                        ReadBlock(layout, data == nullptr ? Json() : *data, name));
  if (block.bytes.size() != bytes) {
    return Damaged(path,
                   absl::StrCat("tensor \"", name, "\" of shape ", ShapeString(tensor.view.shape),
                                " needs ", bytes, " bytes, it has ", block.bytes.size()));
  }
  tensor.view.data = block.bytes.data();
  if (const Json* scales = object.Find("scales"); scales != nullptr) {
    NIBU_ASSIGN_OR_RETURN(tensor.scales, ReadScales(layout, *scales, name + ": scales"));
  }
  if (const Json* scale = object.Find("activation_scale"); scale != nullptr) {
    if (!scale->is_number() || !(scale->get<float>() > 0) || scale->get<float>() > 1e30f) {
      return object.Wrong("activation_scale", "a number above 0");
    }
    tensor.activation_scale = scale->get<float>();
  }
  return tensor;
}

absl::StatusOr<PackedLinears> ReadPacked(const Layout& layout) {
  PackedLinears packed;
  if (!layout.header.contains("linears")) return packed;
  NIBU_ASSIGN_OR_RETURN(const ConfigFile object, Object(layout, "linears"));
  NIBU_ASSIGN_OR_RETURN(packed.fingerprint, object.String("fingerprint", ""));
  NIBU_ASSIGN_OR_RETURN(packed.compute_type,
                        object.OneOf<ComputeType>("compute_type", "", kComputeTypes));
  packed.owner = layout.file;
  const Json* linears = object.Find("packed");
  if (linears == nullptr || !linears->is_object()) {
    return object.Wrong("packed", "an object");
  }
  // Linears need memory that may be written to. Without it, only their places are checked.
  const absl::Span<char> memory = layout.file->writable();
  for (const auto& [name, json] : linears->items()) {
    NIBU_ASSIGN_OR_RETURN(const Block block, ReadBlock(layout, json, name));
    if (memory.empty()) continue;
    const auto offset = static_cast<size_t>(block.bytes.data() - layout.file->bytes().data());
    packed.linears[name] = memory.subspan(offset, block.bytes.size());
  }
  return packed;
}

// Verifies the checksum of every block below `json`. Every array is a block, except shapes.
absl::Status CheckBlocks(const Layout& layout, const Json& json, const std::string& name) {
  if (json.is_array()) return CheckedBytes(layout, json, name).status();
  if (!json.is_object()) return absl::OkStatus();
  for (const auto& [key, value] : json.items()) {
    if (key == "shape") continue;
    NIBU_RETURN_IF_ERROR(CheckBlocks(layout, value, key == "data" ? name : key));
  }
  return absl::OkStatus();
}

}  // namespace

bool IsNative(absl::string_view bytes) {
  return bytes.substr(0, kMagicSize) == absl::string_view(kNativeMagic, kMagicSize);
}

NameTable NativeNames(const ModelConfig& config, const TensorSource* source) {
  ABSL_ASSERT(config.Validate().ok());
  NameTable table;
  for (const ListedWeight& weight : ListWeights(config)) {
    if (weight.kind == ListedWeight::Kind::kTable) table.AddTable(weight.name, weight.name);
    if (weight.kind == ListedWeight::Kind::kNorm) {
      table.Add("", "", {"gamma", "beta", source}, {{weight.name, {weight.name + ".?"}}});
    }
    if (weight.kind != ListedWeight::Kind::kLinear) continue;
    // "decoder.0.self.q+k+v" consists of "decoder.0.self." and "q", "k", "v".
    const size_t block = weight.name.rfind('.') + 1;
    std::vector<std::string> parts = absl::StrSplit(weight.name.substr(block), '+');
    for (std::string& part : parts) part.append(".?");
    table.Add("", weight.name.substr(0, block), {"weight", "bias", source},
              {{weight.name, {parts.begin(), parts.end()}}});
  }
  if (source == nullptr || source->packed().linears.empty()) return table;
  for (const char* tokens : {"encoder.tokens", "decoder.tokens"}) {
    if (!source->Has(tokens)) table.AddTable(tokens, table.Tensor("output"));
  }
  return table;
}

absl::StatusOr<OpenedModel> OpenNative(std::shared_ptr<const FileBytes> file) {
  NIBU_ASSIGN_OR_RETURN(const Layout layout, ReadHeader(std::move(file)));
  const std::string& path = layout.file->path();
  for (const auto& [key, value] : layout.header.items()) {
    if (key != "config" && key != "vocabulary" && key != "defaults" && key != "shortlist" &&
        key != "tensors" && key != "linears" && key != "packed" && key != "languages" &&
        key != "facts") {
      return NotSupported(path, ": header: unknown field \"", key, "\"; a newer nibu may know it");
    }
  }
  OpenedModel opened;
  opened.format = "nibu";
  opened.config_file = path;
  NIBU_ASSIGN_OR_RETURN(const ConfigFile config, Object(layout, "config"));
  NIBU_RETURN_IF_ERROR(ConfigFromJson(config, &opened.config));
  if (const absl::Status status = opened.config.Validate(); !status.ok()) {
    return absl::Status(status.code(), absl::StrCat(path, ": ", status.message()));
  }
  NIBU_ASSIGN_OR_RETURN(opened.vocabulary, ReadVocabulary(layout, opened.config));
  NIBU_ASSIGN_OR_RETURN(opened.vocabulary.languages, ReadLanguages(layout, opened.config));
  NIBU_ASSIGN_OR_RETURN(const ConfigFile defaults, Object(layout, "defaults"));
  NIBU_ASSIGN_OR_RETURN(opened.defaults, ReadModelDefaults(defaults, "beam_size"));
  NIBU_RETURN_IF_ERROR(ReadTokenDefaults(defaults, opened.config.vocab_target, &opened.defaults));
  if (layout.header.contains("facts")) {
    NIBU_ASSIGN_OR_RETURN(const ConfigFile facts, Object(layout, "facts"));
    for (const auto& [key, value] : facts.object().items()) {
      NIBU_ASSIGN_OR_RETURN(opened.facts[key], facts.String(key, ""));
    }
  }
  if (const auto it = layout.header.find("shortlist"); it != layout.header.end()) {
    NIBU_ASSIGN_OR_RETURN(const auto bytes, CheckedBytes(layout, *it, "shortlist"));
    auto shortlist = DecodeShortlist(bytes, opened.config);
    if (!shortlist.ok()) return Damaged(path, shortlist.status().message());
    opened.shortlist = *std::move(shortlist);
  }
  opened.source = std::make_unique<TensorSource>(path);
  NIBU_ASSIGN_OR_RETURN(const ConfigFile tensors, Object(layout, "tensors"));
  for (const auto& [name, json] : tensors.object().items()) {
    NIBU_ASSIGN_OR_RETURN(StoredTensor tensor, ReadTensor(layout, name, json));
    NIBU_RETURN_IF_ERROR(opened.source->Add(name, std::move(tensor)));
  }
  NIBU_ASSIGN_OR_RETURN(PackedLinears packed, ReadPacked(layout));
  opened.source->SetPacked(std::move(packed));
  opened.source->SetShared();
  opened.names = NativeNames(opened.config, opened.source.get());
  return opened;
}

absl::Status VerifyNative(const FileBytes& file) {
  // A pointer that does not own the file, which outlives it.
  const std::shared_ptr<const FileBytes> alias(std::shared_ptr<const FileBytes>(), &file);
  NIBU_ASSIGN_OR_RETURN(const Layout layout, ReadHeader(alias));
  for (const char* key : {"vocabulary", "shortlist", "tensors", "linears"}) {
    const auto it = layout.header.find(key);
    if (it != layout.header.end()) NIBU_RETURN_IF_ERROR(CheckBlocks(layout, *it, key));
  }
  return absl::OkStatus();
}

}  // namespace nibu::internal
