// Finds the weights of a directory, and reads the files of an index one after the other.
#include "models/containers/weights_file.h"

#include <map>
#include <memory>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "models/containers/safetensors.h"
#include "models/containers/torch_file.h"
#include "models/files/file_bytes.h"
#include "models/files/foreign.h"
#include "models/files/json.h"

namespace nibu::internal {
namespace {

absl::StatusOr<TensorSource> ReadWeights(std::shared_ptr<const FileBytes> file) {
  if (!TorchFile::IsTorch(file->bytes())) {
    NIBU_RETURN_IF_ERROR(RefuseForeignFile(file->path(), file->bytes()));
    return ReadSafetensors(std::move(file));
  }
  NIBU_ASSIGN_OR_RETURN(const TorchFile torch, TorchFile::Open(std::move(file)));
  return torch.Tensors(torch.pickle()[torch.pickle().root()]);
}

absl::StatusOr<TensorSource> ReadSharded(const std::string& directory, const FileBytes& index) {
  NIBU_ASSIGN_OR_RETURN(const ConfigFile config, ConfigFile::Parse(index.bytes(), index.path()));
  const nlohmann::json* map = config.Find("weight_map");
  if (map == nullptr || !map->is_object()) {
    return config.Wrong("weight_map", "an object of tensor: file");
  }
  std::map<std::string, std::set<std::string>> shards;
  for (const auto& [tensor, file] : map->items()) {
    if (!file.is_string() || file.get<std::string>().empty() ||
        file.get<std::string>().find('/') != std::string::npos) {
      return Invalid(index.path(), ": the file of tensor \"", tensor,
                     "\" is not a name in this directory");
    }
    shards[file.get<std::string>()].insert(tensor);
  }
  TensorSource all(index.path());
  for (const auto& [name, tensors] : shards) {
    NIBU_ASSIGN_OR_RETURN(auto file, FileBytes::Open(absl::StrCat(directory, "/", name)));
    NIBU_ASSIGN_OR_RETURN(TensorSource part, ReadWeights(std::move(file)));
    // The reverse is no error: the converter of huggingface.co names copies of tied tensors in the
    // index, but leaves them out of the files.
    for (const std::string& tensor : part.Names()) {
      if (!tensors.contains(tensor)) {
        return Invalid(part.description(), ": tensor \"", tensor, "\" is not in ", index.path());
      }
    }
    NIBU_RETURN_IF_ERROR(all.Absorb(std::move(part)));
  }
  return all;
}

}  // namespace

absl::StatusOr<TensorSource> OpenWeights(const std::string& directory) {
  for (const char* name : {"model.safetensors", "pytorch_model.bin"}) {
    auto file = FileBytes::Open(absl::StrCat(directory, "/", name));
    if (file.ok()) return ReadWeights(*std::move(file));
    if (!absl::IsNotFound(file.status())) return file.status();
    const auto index = FileBytes::Open(absl::StrCat(directory, "/", name, ".index.json"));
    if (index.ok()) return ReadSharded(directory, **index);
    if (!absl::IsNotFound(index.status())) return index.status();
  }
  NIBU_RETURN_IF_ERROR(RefuseForeignDirectory(directory));
  return absl::NotFoundError(absl::StrCat(
      directory, ": no weights in it; expected model.safetensors, pytorch_model.bin, or ",
      "either's .index.json with the files that it names"));
}

}  // namespace nibu::internal
