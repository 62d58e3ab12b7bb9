#include "models/load_model.h"

#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "engine/core/status_macros.h"
#include "models/ctranslate2.h"
#include "models/ctranslate2_bin.h"
#include "models/hugging_face.h"
#include "models/json.h"
#include "models/mapped_file.h"
#include "models/marian.h"

namespace nibu {
namespace {

constexpr char kExpected[] =
    "expected a Hugging Face MarianMT directory (config.json, model.safetensors or "
    "pytorch_model.bin, vocab.json, source.spm, target.spm), a Marian model (.npz or .bin with its "
    "vocabulary) or a CTranslate2 directory (model.bin with its vocabularies)";

absl::StatusOr<LoadedModel> Load(const std::string& path, ComputeType compute_type) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) {
    return absl::NotFoundError(absl::StrCat(path, ": no such file or directory; ", kExpected));
  }
  if (!std::filesystem::is_directory(status)) {
    NIBU_ASSIGN_OR_RETURN(const auto model, MappedFile::Open(path));
    if (IsMarianModel(*model)) return LoadMarian(path, compute_type);
    return absl::InvalidArgumentError(absl::StrCat(path, ": not a model; ", kExpected));
  }
  const auto bin = MappedFile::Open(absl::StrCat(path, "/model.bin"));
  if (bin.ok() && IsCTranslate2Bin((*bin)->bytes())) return LoadCTranslate2(path, compute_type);
  const std::string config_path = absl::StrCat(path, "/config.json");
  absl::StatusOr<std::shared_ptr<const MappedFile>> file = MappedFile::Open(config_path);
  if (absl::IsNotFound(file.status())) {
    if (IsMarianDirectory(path)) return LoadMarian(path, compute_type);
    return absl::NotFoundError(absl::StrCat(path, ": no config.json in it; ", kExpected));
  }
  if (!file.ok()) return file.status();
  NIBU_ASSIGN_OR_RETURN(const JsonConfig config, JsonConfig::Parse((*file)->bytes(), config_path));
  NIBU_ASSIGN_OR_RETURN(const std::string type, config.String("model_type", ""));
  if (type != "marian") return config.Wrong("model_type", "\"marian\"");
  return LoadHuggingFaceMarian(path, config, compute_type);
}

// Names in files may hold anything; a message is one line.
absl::Status OneLine(const absl::Status& status) {
  std::string message(status.message());
  for (char& c : message) {
    if (absl::ascii_iscntrl(static_cast<unsigned char>(c))) c = ' ';
  }
  return absl::Status(status.code(), message);
}

}  // namespace

absl::StatusOr<LoadedModel> LoadModel(const std::string& path, ComputeType compute_type) {
  absl::StatusOr<LoadedModel> loaded = Load(path, compute_type);
  if (!loaded.ok()) return OneLine(loaded.status());
  return loaded;
}

}  // namespace nibu
