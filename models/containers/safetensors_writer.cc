#include "models/containers/safetensors_writer.h"

#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/core/status_macros.h"
#include "models/files/new_file.h"
#include "nlohmann/json.hpp"

namespace nibu {
namespace {

const char* SafetensorsName(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return "F16";
    case DType::kBFloat16:
      return "BF16";
    default:
      return "F32";
  }
}

}  // namespace

absl::Status WriteSafetensors(const std::vector<TensorToWrite>& tensors, const std::string& path) {
  nlohmann::ordered_json header = {{"__metadata__", {{"format", "pt"}}}};
  uint64_t offset = 0;
  for (const TensorToWrite& tensor : tensors) {
    const uint64_t begin = offset;
    offset += TensorView{tensor.dtype, tensor.shape, nullptr}.bytes();
    header[tensor.name] = {
        {"dtype", SafetensorsName(tensor.dtype)},
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

}  // namespace nibu
