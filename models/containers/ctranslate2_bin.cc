// Reads the variables of a model.bin one after the other; the header describes the bytes.
#include "models/containers/ctranslate2_bin.h"

#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "models/files/byte_reader.h"

namespace nibu::internal {
namespace {

constexpr uint32_t kNewest = 6;
constexpr absl::string_view kScale = "_scale";

absl::Status DamagedCTranslate2(const FileBytes& file, absl::string_view what) {
  return Invalid(file.path(), ": not a whole CTranslate2 model: ", what, "; download it again");
}

// Returns the next string without its NUL. If it has none, the reader's ok() becomes false.
std::string ReadString(ByteReader* reader) {
  absl::string_view text = reader->ReadBytes(reader->Read<uint16_t>());
  if (text.empty() || text.back() != '\0') {
    reader->ReadBytes(~uint64_t{0});
    return "";
  }
  text.remove_suffix(1);
  return std::string(text);
}

// Sets `*dtype` to the type of a code, before version 4 of a size. Returns false if it is unknown.
bool TypeOf(uint32_t version, uint8_t code, DType* dtype) {
  static constexpr DType kTypes[] = {DType::kFloat32, DType::kInt8,    DType::kInt16,
                                     DType::kInt32,   DType::kFloat16, DType::kBFloat16};
  if (version < 4) {
    if (code != 1 && code != 2 && code != 4) return false;
    *dtype = code == 4 ? DType::kFloat32 : code == 2 ? DType::kInt16 : DType::kInt8;
    return true;
  }
  if (code >= sizeof(kTypes) / sizeof(kTypes[0])) return false;
  *dtype = kTypes[code];
  return true;
}

absl::Status ReadVariable(uint32_t version, const std::shared_ptr<const FileBytes>& file,
                          ByteReader* reader, TensorSource* source) {
  std::string name = ReadString(reader);
  StoredTensor tensor;
  tensor.file = file;
  const auto rank = reader->Read<uint8_t>();
  if (rank > 8) return DamagedCTranslate2(*file, absl::StrCat("\"", name, "\" has rank ", rank));
  for (int i = 0; i < rank; ++i) tensor.view.shape.push_back(reader->Read<uint32_t>());
  const auto type = reader->Read<uint8_t>();
  if (!reader->ok()) return DamagedCTranslate2(*file, "it ends too early");
  if (!TypeOf(version, type, &tensor.view.dtype)) {
    return DamagedCTranslate2(*file, absl::StrCat("\"", name, "\" has the unknown type ", type));
  }
  uint64_t bytes = reader->Read<uint32_t>();
  if (version < 4) bytes *= type;
  const std::optional<uint64_t> expected = BytesOf(tensor.view.dtype, tensor.view.shape);
  if (!expected.has_value()) {
    return DamagedCTranslate2(*file, absl::StrCat("the shape of \"", name, "\" is impossible"));
  }
  if (bytes != *expected) {
    return DamagedCTranslate2(
        *file, absl::StrCat("\"", name, "\" of shape ", ShapeString(tensor.view.shape), " needs ",
                            *expected, " bytes, it has ", bytes));
  }
  tensor.view.data = reader->ReadBytes(bytes).data();
  if (!reader->ok())
    return DamagedCTranslate2(*file, absl::StrCat("it ends inside of \"", name, "\""));
  return source->Add(std::move(name), std::move(tensor));
}

// Attaches the values of every NAME_scale to NAME.
absl::Status AttachScales(const FileBytes& file, TensorSource* source) {
  for (const std::string& name : source->Names()) {
    if (!absl::EndsWith(name, kScale)) continue;
    const std::string weight = name.substr(0, name.size() - kScale.size());
    StoredTensor* target = source->Mutable(weight);
    if (target == nullptr) continue;  // another kind of scale, such as T5's of queries
    const StoredTensor* scale = source->Find(name);
    if (scale->view.dtype != DType::kFloat32 || scale->view.shape.size() > 1) {
      return DamagedCTranslate2(file, absl::StrCat("\"", name, "\" is not the scale of anything"));
    }
    std::vector<float> values(static_cast<size_t>(scale->view.elements()));
    if (!values.empty()) std::memcpy(values.data(), scale->view.data, scale->view.bytes());
    target->OwnScales(std::move(values));
    source->Ignore(name);
  }
  return absl::OkStatus();
}

}  // namespace

bool IsCTranslate2Bin(absl::string_view bytes) {
  ByteReader reader(bytes);
  const auto version = reader.Read<uint32_t>();
  if (version == 1) return reader.Read<uint32_t>() > 0 && reader.ok();
  if (version < 2 || version > 1000) return false;
  const std::string spec = ReadString(&reader);
  return reader.ok() && !spec.empty();
}

absl::StatusOr<CTranslate2File> ReadCTranslate2Bin(std::shared_ptr<const FileBytes> file) {
  ByteReader reader(file->bytes());
  const auto version = reader.Read<uint32_t>();
  if (version == 1 || version > kNewest) {
    return NotSupported(file->path(), ": CTranslate2 binary version ", version,
                        " is not supported, 2 to ", kNewest, " are; convert the model again");
  }
  if (version == 0) return DamagedCTranslate2(*file, "it has no version");
  CTranslate2File result{ReadString(&reader), TensorSource(file->path())};
  reader.Read<uint32_t>();  // revision
  const auto count = reader.Read<uint32_t>();
  if (!reader.ok()) return DamagedCTranslate2(*file, "it ends too early");
  for (uint32_t i = 0; i < count; ++i) {
    NIBU_RETURN_IF_ERROR(ReadVariable(version, file, &reader, &result.source));
  }
  NIBU_RETURN_IF_ERROR(AttachScales(*file, &result.source));
  if (version >= 3) {
    const auto aliases = reader.Read<uint32_t>();
    for (uint32_t i = 0; i < aliases && reader.ok(); ++i) {
      std::string alias = ReadString(&reader);
      const std::string name = ReadString(&reader);
      if (!reader.ok()) break;
      const StoredTensor* target = result.source.Find(name);
      if (target == nullptr) {
        return DamagedCTranslate2(
            *file, absl::StrCat("\"", alias, "\" stands for \"", name, "\", which is not there"));
      }
      NIBU_RETURN_IF_ERROR(result.source.Add(std::move(alias), *target));
    }
  }
  if (!reader.ok()) return DamagedCTranslate2(*file, "it ends too early");
  if (reader.remaining() > 0)
    return DamagedCTranslate2(*file, "it goes on after its last variable");
  return result;
}

}  // namespace nibu::internal
