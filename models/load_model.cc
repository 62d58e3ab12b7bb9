#include "models/load_model.h"

#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/core/status_macros.h"
#include "models/containers/ctranslate2_bin.h"
#include "models/files/file_bytes.h"
#include "models/files/json.h"
#include "models/formats/checkpoint.h"
#include "models/formats/ctranslate2.h"
#include "models/formats/hugging_face.h"
#include "models/formats/marian.h"
#include "models/formats/multilingual.h"
#include "models/formats/t5.h"
#include "models/native/native.h"

namespace nibu {
namespace {

constexpr char kExpected[] =
    "expected a .nibu file; a Hugging Face directory (config.json, model.safetensors or "
    "pytorch_model.bin, and its vocabulary files) of MarianMT, M2M-100, NLLB, mBART, T5, mT5 or "
    "MADLAD; a Marian model (.npz or .bin with its vocabulary); a CTranslate2 directory (model.bin "
    "with its vocabularies); or a checkpoint of fairseq (.pt with its dict.XX.txt) "
    "or OpenNMT-py (.pt)";

bool IsGzip(absl::string_view bytes) { return absl::StartsWith(bytes, "\x1f\x8b"); }

// A file of a directory that gzip has compressed; empty: none.
std::string CompressedFile(const std::string& directory) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    const auto file = FileBytes::Open(entry.path().string());
    if (file.ok() && IsGzip((*file)->bytes())) return entry.path().string();
  }
  return "";
}

absl::Status Compressed(const std::string& file) {
  return absl::InvalidArgumentError(absl::StrCat(
      file, ": compressed by gzip; run gunzip on the model and on the files beside it"));
}

absl::StatusOr<OpenedModel> Open(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) {
    return absl::NotFoundError(absl::StrCat(path, ": no such file or directory; ", kExpected));
  }
  if (!std::filesystem::is_directory(status)) {
    NIBU_ASSIGN_OR_RETURN(const auto model, FileBytes::Open(path));
    if (IsNative(model->bytes())) {
      NIBU_ASSIGN_OR_RETURN(auto file, FileBytes::OpenCopyOnWrite(path));
      return OpenNative(std::move(file));
    }
    if (IsMarianModel(*model)) return OpenMarian(path);
    if (TorchFile::IsTorch(model->bytes())) return OpenCheckpoint(path);
    if (IsGzip(model->bytes())) return Compressed(path);
    return absl::InvalidArgumentError(absl::StrCat(path, ": not a model; ", kExpected));
  }
  const auto bin = FileBytes::Open(absl::StrCat(path, "/model.bin"));
  if (bin.ok() && IsCTranslate2Bin((*bin)->bytes())) return OpenCTranslate2(path);
  const std::string config_path = absl::StrCat(path, "/config.json");
  absl::StatusOr<std::shared_ptr<const FileBytes>> file = FileBytes::Open(config_path);
  if (absl::IsNotFound(file.status())) {
    if (IsMarianDirectory(path)) return OpenMarian(path);
    if (IsCheckpointDirectory(path)) return OpenCheckpoint(path);
    const std::string compressed = CompressedFile(path);
    if (!compressed.empty()) return Compressed(compressed);
    return absl::NotFoundError(absl::StrCat(path, ": no config.json in it; ", kExpected));
  }
  if (!file.ok()) return file.status();
  NIBU_ASSIGN_OR_RETURN(const ConfigFile config, ConfigFile::Parse((*file)->bytes(), config_path));
  NIBU_ASSIGN_OR_RETURN(const std::string type, config.String("model_type", ""));
  if (type == "marian") return OpenHuggingFaceMarian(path, config);
  if (type == "m2m_100" || type == "mbart") return OpenMultilingual(path, config);
  if (type == "t5" || type == "mt5") return OpenT5(path, config);
  return config.Wrong("model_type", "\"marian\", \"m2m_100\", \"mbart\", \"t5\" or \"mt5\"");
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

absl::StatusOr<OpenedModel> OpenModel(const std::string& path) {
  absl::StatusOr<OpenedModel> opened = Open(path);
  if (!opened.ok()) return OneLine(opened.status());
  if (const absl::Status status = opened->config.Validate(); !status.ok()) {
    return OneLine(
        absl::Status(status.code(), absl::StrCat(opened->config_file, ": ", status.message())));
  }
  return opened;
}

absl::StatusOr<LoadedModel> LoadModel(const std::string& path, ComputeType compute_type) {
  NIBU_ASSIGN_OR_RETURN(OpenedModel opened, OpenModel(path));
  return LoadModel(std::move(opened), compute_type);
}

absl::StatusOr<LoadedModel> LoadModel(OpenedModel opened, ComputeType compute_type) {
  absl::StatusOr<std::shared_ptr<const Model>> model =
      BuildModel(opened.config, opened.names, compute_type, opened.source.get());
  if (!model.ok()) return OneLine(model.status());
  LoadedModel loaded{*std::move(model),           std::move(opened.vocabulary), opened.defaults,
                     std::move(opened.shortlist), std::move(opened.format),     ""};
  const PackedLinears& packed = opened.source->packed();
  if (!packed.linears.empty() && packed.compute_type == compute_type &&
      packed.fingerprint != PackFingerprint()) {
    loaded.note = absl::StrCat(opened.config_file, ": its packed weights are for ",
                               packed.fingerprint, ", this is ", PackFingerprint(),
                               "; they were packed again (converting the model does so for good)");
  }
  return loaded;
}

}  // namespace nibu
