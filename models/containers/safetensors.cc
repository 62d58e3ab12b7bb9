// Parses and checks the JSON header of a safetensors file, and writes such files.
#include "models/containers/safetensors.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/base/macros.h"
#include "absl/strings/str_cat.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "models/files/json.h"
#include "models/files/new_file.h"
#include "nlohmann/json.hpp"

namespace nibu::internal {
namespace {

using Json = nlohmann::json;

// The format allows 100 MB, but even 100,000 tensors take less than this.
constexpr uint64_t kMaxHeader = 1 << 25;
constexpr size_t kMaxRank = 8;

// Reads a list of at most kMaxRank numbers that are not negative. Returns false if it is none.
bool ReadSizes(const Json& tensor, const char* key, std::vector<uint64_t>* sizes) {
  const auto list = tensor.find(key);
  if (list == tensor.end() || !list->is_array() || list->size() > kMaxRank) return false;
  for (const Json& size : *list) {
    if (!size.is_number_unsigned()) return false;
    sizes->push_back(size.get<uint64_t>());
  }
  return true;
}

constexpr std::pair<absl::string_view, DType> kTypes[] = {
    {"F32", DType::kFloat32}, {"F16", DType::kFloat16}, {"BF16", DType::kBFloat16},
    {"I8", DType::kInt8},     {"I16", DType::kInt16},   {"I32", DType::kInt32},
    {"I64", DType::kInt64},   {"U8", DType::kUint8}};
constexpr absl::string_view kFloat64 = "F64";  // read as float32
constexpr DType kWrittenTypes[] = {DType::kFloat32, DType::kFloat16, DType::kBFloat16};

absl::Status DamagedSafetensors(const FileBytes& file, absl::string_view what) {
  return Invalid(file.path(), ": not a whole safetensors file: ", what, "; download it again");
}

// A tensor of the header.
struct Entry {
  std::vector<uint64_t> offsets;  // begin, end; not yet compared with those of its neighbours
  std::string name;
  StoredTensor tensor;
};

absl::StatusOr<Entry> ReadEntry(const std::string& name, const Json& json, absl::string_view data,
                                std::shared_ptr<const FileBytes> file) {
  Entry entry{{}, name, {}};
  std::vector<uint64_t> shape;
  if (!json.is_object() || json.size() != 3 || !json.contains("dtype") ||
      !json["dtype"].is_string() || !ReadSizes(json, "shape", &shape) ||
      !ReadSizes(json, "data_offsets", &entry.offsets) || entry.offsets.size() != 2) {
    return DamagedSafetensors(*file,
                              absl::StrCat("\"", name, "\" is not {dtype, shape, data_offsets}"));
  }
  const bool is_float64 = json["dtype"].get_ref<const std::string&>() == kFloat64;
  const auto type = std::find_if(std::begin(kTypes), std::end(kTypes), [&](const auto& known) {
    return known.first == json["dtype"].get_ref<const std::string&>();
  });
  if (type == std::end(kTypes) && !is_float64) {
    return NotSupported(file->path(), ": tensor \"", name, "\" has type ",
                        QuotedJson(json["dtype"]), ", which nibu does not read");
  }
  TensorView& view = entry.tensor.view;
  view.dtype = is_float64 ? DType::kInt64 : type->second;  // the same size, until TakeFloat64
  view.shape.assign(shape.begin(), shape.end());  // a size of 2^63 or more becomes negative
  const std::optional<uint64_t> bytes = BytesOf(view.dtype, view.shape);
  if (!bytes.has_value()) {
    return DamagedSafetensors(*file, absl::StrCat("the shape of tensor \"", name, "\" overflows"));
  }
  const uint64_t begin = entry.offsets[0];
  const uint64_t end = entry.offsets[1];
  if (begin > end || end > data.size()) {
    return DamagedSafetensors(*file, absl::StrCat("tensor \"", name, "\" lies outside the file's ",
                                                  data.size(), " bytes of data"));
  }
  if (end - begin != *bytes) {
    return DamagedSafetensors(
        *file, absl::StrCat("tensor \"", name, "\" of shape ", ShapeString(view.shape), " needs ",
                            *bytes, " bytes, its place has ", end - begin));
  }
  view.data = data.data() + begin;
  if (is_float64) {
    entry.tensor.TakeFloat64(file->path(), data.substr(begin, *bytes));
  } else {
    entry.tensor.file = std::move(file);
  }
  return entry;
}

}  // namespace

absl::StatusOr<TensorSource> ReadSafetensors(std::shared_ptr<const FileBytes> file) {
  const absl::string_view bytes = file->bytes();
  uint64_t header_size = 0;
  if (bytes.size() < sizeof(header_size)) {
    return DamagedSafetensors(*file, absl::StrCat("it has only ", bytes.size(), " bytes"));
  }
  std::memcpy(&header_size, bytes.data(), sizeof(header_size));
  if (header_size > kMaxHeader || header_size > bytes.size() - sizeof(header_size)) {
    return DamagedSafetensors(
        *file, absl::StrCat("a header of ", header_size, " bytes in a file of ", bytes.size()));
  }
  const absl::string_view header = bytes.substr(sizeof(header_size), header_size);
  const absl::string_view data = bytes.substr(sizeof(header_size) + header_size);
  const absl::StatusOr<Json> json = ParseJson(header, "its header");
  if (!json.ok()) return DamagedSafetensors(*file, json.status().message());
  if (!json->is_object()) return DamagedSafetensors(*file, "its header is not a JSON object");
  std::vector<Entry> entries;
  for (const auto& [name, value] : json->items()) {
    if (name == "__metadata__") {
      const auto is_text = [](const Json& text) { return text.is_string(); };
      if (value.is_object() && std::all_of(value.begin(), value.end(), is_text)) continue;
      return DamagedSafetensors(*file, "its __metadata__ is more than texts");
    }
    NIBU_ASSIGN_OR_RETURN(Entry entry, ReadEntry(name, value, data, file));
    entries.push_back(std::move(entry));
  }
  // In the order of their places, each tensor must begin where the one before it ends.
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.offsets < b.offsets; });
  TensorSource source(file->path());
  uint64_t end = 0;
  for (Entry& entry : entries) {
    if (entry.offsets[0] != end) {
      return DamagedSafetensors(
          *file, absl::StrCat("tensor \"", entry.name, "\" begins at byte ", entry.offsets[0],
                              " of the data, expected ", end));
    }
    end = entry.offsets[1];
    NIBU_RETURN_IF_ERROR(source.Add(std::move(entry.name), std::move(entry.tensor)));
  }
  if (end != data.size()) {
    return DamagedSafetensors(*file, absl::StrCat("the header describes ", end,
                                                  " bytes of data, the file has ", data.size()));
  }
  return source;
}

absl::Status WriteSafetensors(const std::vector<TensorToWrite>& tensors, const std::string& path) {
  nlohmann::ordered_json header = {{"__metadata__", {{"format", "pt"}}}};
  uint64_t offset = 0;
  for (const TensorToWrite& tensor : tensors) {
    ABSL_ASSERT(absl::c_linear_search(kWrittenTypes, tensor.dtype));
    const uint64_t begin = offset;
    const auto type = std::find_if(std::begin(kTypes), std::end(kTypes),
                                   [&](const auto& known) { return known.second == tensor.dtype; });
    offset += TensorView{tensor.dtype, tensor.shape, nullptr}.bytes();
    header[tensor.name] = {
        {"dtype", type->first},
        {"shape", std::vector<int64_t>(tensor.shape.begin(), tensor.shape.end())},
        {"data_offsets", {begin, offset}}};
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');  // the data begin at a multiple of 8
  const uint64_t size = text.size();
  NIBU_ASSIGN_OR_RETURN(NewFile file, NewFile::Create(path));
  NIBU_RETURN_IF_ERROR(file.Append({reinterpret_cast<const char*>(&size), sizeof(size)}));
  NIBU_RETURN_IF_ERROR(file.Append(text));
  for (const TensorToWrite& tensor : tensors) {
    NIBU_ASSIGN_OR_RETURN(const std::string bytes, tensor.bytes());
    if (bytes.size() != (TensorView{tensor.dtype, tensor.shape, nullptr}.bytes())) {
      return absl::InternalError(
          absl::StrCat(path, ": tensor \"", tensor.name, "\" has ", bytes.size(), " bytes"));
    }
    NIBU_RETURN_IF_ERROR(file.Append(bytes));
  }
  return file.Sync();
}

}  // namespace nibu::internal
