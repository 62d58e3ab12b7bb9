// Reads the parts of a Marian file in their order; the header describes the bytes.
#include "models/containers/marian_bin.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "models/files/byte_reader.h"

namespace nibu::internal {
namespace {

constexpr uint64_t kVersion = 1;
constexpr uint64_t kFloat32 = 0x404;
constexpr uint64_t kFloat16 = 0x402;
constexpr uint64_t kFloat64 = 0x408;  // becomes float32
constexpr uint64_t kInt8 = 0x101;
constexpr uint64_t kIntgemm8 = 0x10001;
constexpr uint64_t kIntgemm8Fork = 0x4101;

// A tensor's description, as it lies in the file.
struct Item {
  uint64_t name_bytes;
  uint64_t type;
  uint64_t rank;
  uint64_t data_bytes;
};

absl::Status DamagedMarian(const FileBytes& file, absl::string_view what) {
  return Invalid(file.path(), ": not a whole Marian model: ", what, "; download it again");
}

}  // namespace

bool IsMarianBin(absl::string_view bytes) {
  ByteReader reader(bytes);
  return reader.Read<uint64_t>() == kVersion && reader.Read<uint64_t>() > 0 && reader.ok();
}

absl::StatusOr<TensorSource> ReadMarianBin(std::shared_ptr<const FileBytes> file) {
  ByteReader reader(file->bytes());
  if (reader.Read<uint64_t>() != kVersion)
    return DamagedMarian(*file, "it does not begin like one");
  const auto count = reader.Read<uint64_t>();
  if (!reader.ok() || count > reader.remaining() / sizeof(Item)) {
    return DamagedMarian(*file, absl::StrCat(count, " tensors do not fit into it"));
  }
  std::vector<Item> items(count);
  for (Item& item : items) item = reader.Read<Item>();
  std::vector<StoredTensor> tensors(count);
  std::vector<std::string> names;
  for (const Item& item : items) {
    absl::string_view name = reader.ReadBytes(item.name_bytes);
    if (name.empty() || name.back() != '\0') return DamagedMarian(*file, "its names are damaged");
    name.remove_suffix(1);
    names.emplace_back(name);
  }
  for (size_t i = 0; i < count; ++i) {
    if (items[i].rank > 8) return DamagedMarian(*file, "its shapes are damaged");
    for (uint64_t r = 0; r < items[i].rank; ++r) {
      tensors[i].view.shape.push_back(reader.Read<int32_t>());
    }
  }
  reader.ReadBytes(reader.Read<uint64_t>());

  TensorSource source(file->path());
  for (size_t i = 0; i < count; ++i) {
    const uint64_t type = items[i].type;
    const bool quantized = type == kIntgemm8 || type == kIntgemm8Fork;
    StoredTensor& tensor = tensors[i];
    if (type == kFloat32) {
      tensor.view.dtype = DType::kFloat32;
    } else if (type == kFloat16) {
      tensor.view.dtype = DType::kFloat16;
    } else if (type == kFloat64) {
      tensor.view.dtype = DType::kInt64;  // the same size, until TakeFloat64 below
    } else if (quantized || type == kInt8) {
      tensor.view.dtype = DType::kInt8;
    } else {
      return NotSupported(
          file->path(), ": tensor \"", names[i], "\" has type 0x", absl::Hex(type),
          ", which is none of float64, float32, float16 and intgemm8 (packed for one kind of ",
          "CPU?); use one of these forms of the model");
    }
    const absl::string_view data = reader.ReadBytes(items[i].data_bytes);
    if (!reader.ok())
      return DamagedMarian(*file, absl::StrCat("it ends before \"", names[i], "\" does"));
    const std::optional<uint64_t> bytes = BytesOf(tensor.view.dtype, tensor.view.shape);
    if (!bytes.has_value()) {
      return DamagedMarian(*file, absl::StrCat("the shape of \"", names[i], "\" is impossible"));
    }
    const size_t scale_bytes = quantized ? sizeof(float) : 0;
    // Marian pads the data of a tensor to a multiple of 256 bytes.
    if (data.size() < scale_bytes || data.size() - scale_bytes < *bytes) {
      return DamagedMarian(
          *file, absl::StrCat("tensor \"", names[i], "\" of shape ", ShapeString(tensor.view.shape),
                              " needs ", *bytes + scale_bytes, " bytes, it has ", data.size()));
    }
    tensor.view.data = data.data();
    tensor.file = file;
    if (type == kFloat64) tensor.TakeFloat64(file->path(), data.substr(0, *bytes));
    if (quantized) {
      tensor.OwnScales({ByteReader(data.substr(*bytes)).Read<float>()});
      tensor.transposed = !absl::EndsWith(names[i], "Wemb");
    }
    NIBU_RETURN_IF_ERROR(source.Add(std::move(names[i]), std::move(tensor)));
  }
  if (reader.remaining() > 0) return DamagedMarian(*file, "it goes on after its last tensor");
  return source;
}

}  // namespace nibu::internal
