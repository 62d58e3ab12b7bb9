// Recognizes the format of a model, and calls its reader.
#include "models/load_model.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "models/assembly/build_model.h"
#include "models/assembly/equalize.h"
#include "models/containers/ctranslate2_bin.h"
#include "models/containers/torch_file.h"
#include "models/files/directory.h"
#include "models/files/file_bytes.h"
#include "models/files/folder.h"
#include "models/files/foreign.h"
#include "models/files/json.h"
#include "models/formats/argos.h"
#include "models/formats/checkpoint.h"
#include "models/formats/ctranslate2.h"
#include "models/formats/fairseq.h"
#include "models/formats/hugging_face.h"
#include "models/formats/marian.h"
#include "models/formats/marian_files.h"
#include "models/formats/multilingual.h"
#include "models/formats/opennmt.h"
#include "models/formats/t5.h"
#include "models/native/native.h"
#include "models/native/unpack.h"
#include "models/vocabulary/added_tokens.h"
#include "models/vocabulary/vocabulary_file.h"

namespace nibu::internal {
namespace {

constexpr char kExpected[] =
    "expected a .nibu file; a Hugging Face directory (config.json, model.safetensors or "
    "pytorch_model.bin, and its vocabulary files) of MarianMT, M2M-100, NLLB, mBART, T5, mT5 or "
    "MADLAD; a Marian model (.npz or .bin with its vocabulary); a CTranslate2 directory (model.bin "
    "with its vocabularies), also as an Argos Translate package (.argosmodel, or unpacked: "
    "metadata.json, model/); or a checkpoint of fairseq (.pt with its dict.XX.txt) or OpenNMT-py "
    "(.pt)";

// Opens a training checkpoint, whose keys tell which program wrote it.
absl::StatusOr<OpenedModel> OpenCheckpoint(const std::string& path) {
  NIBU_ASSIGN_OR_RETURN(auto file, FileBytes::Open(path));
  NIBU_ASSIGN_OR_RETURN(const TorchFile torch, ReadCheckpoint(std::move(file)));
  if (IsFairseq(torch)) return OpenFairseq(torch);
  if (IsOpenNmt(torch)) return OpenOpenNmt(torch);
  return Invalid(
      path, ": a PyTorch file, but not a checkpoint of fairseq or OpenNMT-py; weights alone need ",
      "their directory, with its configuration, as the model");
}

absl::StatusOr<OpenedModel> OpenFile(const std::string& path) {
  NIBU_ASSIGN_OR_RETURN(const auto model, FileBytes::Open(path));
  if (IsNative(model->bytes())) {
    NIBU_ASSIGN_OR_RETURN(auto file, FileBytes::Open(path, /*copy_on_write=*/true));
    return OpenNative(std::move(file));
  }
  if (IsMarianModel(*model) || IsMarianDecoderYml(*model)) return OpenMarian(path);
  NIBU_ASSIGN_OR_RETURN(const std::optional<Folder> package, FindZippedArgos(model));
  if (package.has_value()) return OpenArgos(*package);
  if (TorchFile::IsTorch(model->bytes())) return OpenCheckpoint(path);
  NIBU_RETURN_IF_ERROR(RefuseForeignFile(path, model->bytes()));
  return Invalid(path, ": not a model; ", kExpected);
}

// Opens the model in a directory without config.json, or the only one below it.
absl::StatusOr<OpenedModel> OpenByFiles(const std::string& directory) {
  NIBU_ASSIGN_OR_RETURN(const std::vector<std::string> files, FilesIn(directory));
  if (IsMarianDirectory(files)) return OpenMarian(directory);
  std::vector<std::string> models;
  absl::Status foreign;  // the error for a file of a format that nibu does not read
  for (const std::string& path : files) {
    if (IsArgos(path)) models.push_back(path);
    const auto file = FileBytes::Open(path);
    if (absl::IsDataLoss(file.status())) foreign = file.status();
    if (!file.ok()) continue;
    const auto package = FindZippedArgos(*file);
    if (!package.ok() || package->has_value()) {
      models.push_back(path);  // if it is damaged, OpenFile says how
      continue;
    }
    // The message should be about the model rather than about a file beside it.
    if (foreign.ok() || NameBeginsWith(path, {"model"})) {
      const absl::Status refused = RefuseForeignFile(path, (*file)->bytes());
      if (!refused.ok()) foreign = refused;
    }
    if (absl::EndsWith(path, ".pt") && TorchFile::IsTorch((*file)->bytes())) models.push_back(path);
  }
  if (models.size() == 1) return IsArgos(models[0]) ? OpenArgos(models[0]) : OpenFile(models[0]);
  if (!models.empty()) {
    return Invalid(directory, ": ", models.size(),
                   " models in it, give one of them as the model: ", absl::StrJoin(models, ", "));
  }
  NIBU_RETURN_IF_ERROR(foreign);
  return absl::NotFoundError(absl::StrCat(directory, ": no config.json in it; ", kExpected));
}

// Opens a directory: CTranslate2's by its model.bin, Argos's by its files, Hugging Face's by the
// "model_type" of its config.json, and others by their files.
absl::StatusOr<OpenedModel> OpenDirectory(const std::string& path) {
  const auto bin = FileBytes::Open(absl::StrCat(path, "/model.bin"));
  if (absl::IsDataLoss(bin.status())) return bin.status();
  if (bin.ok() && IsCTranslate2Bin((*bin)->bytes())) {
    NIBU_ASSIGN_OR_RETURN(const ConfigFile config,
                          ConfigFile::OpenOptional(absl::StrCat(path, "/config.json")));
    NIBU_RETURN_IF_ERROR(RefuseForeignQuantization(config));
    return OpenCTranslate2(path);
  }
  if (IsArgos(path)) return OpenArgos(path);
  const std::string config_path = absl::StrCat(path, "/config.json");
  const auto config_bytes = FileBytes::Open(config_path);
  if (absl::IsNotFound(config_bytes.status())) return OpenByFiles(path);
  NIBU_RETURN_IF_ERROR(config_bytes.status());
  NIBU_ASSIGN_OR_RETURN(const ConfigFile file,
                        ConfigFile::Parse((*config_bytes)->bytes(), config_path));
  NIBU_RETURN_IF_ERROR(RefuseForeignQuantization(file));
  NIBU_ASSIGN_OR_RETURN(const std::string type, file.String("model_type", ""));
  NIBU_ASSIGN_OR_RETURN(ConfigFile generation,
                        ConfigFile::OpenOptional(absl::StrCat(path, "/generation_config.json")));
  const ConfigFile config = file.Under(std::move(generation));
  if (type == "marian") return OpenHuggingFaceMarian(path, config);
  if (type == "m2m_100" || type == "mbart") return OpenMultilingual(path, config);
  if (type == "t5" || type == "mt5") return OpenT5(path, config);
  if (type.empty()) NIBU_RETURN_IF_ERROR(RefuseForeignDirectory(path));
  return config.Wrong("model_type", "\"marian\", \"m2m_100\", \"mbart\", \"t5\" or \"mt5\"");
}

absl::StatusOr<OpenedModel> OpenPath(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    if (error) {
      return absl::FailedPreconditionError(
          absl::StrCat(path, ": cannot be opened: ", error.message()));
    }
    // TensorFlow gives this name, with different endings, to all files of a checkpoint.
    const std::string index = absl::StrCat(path, ".index");
    if (FileBytes::Open(index).ok()) NIBU_RETURN_IF_ERROR(RefuseForeignFile(index, ""));
    return absl::NotFoundError(absl::StrCat(path, ": no such file or directory"));
  }
  return IsDirectory(path) ? OpenDirectory(path) : OpenFile(path);
}

// Adds the facts of a model that its reader has opened, and checks its configuration.
absl::StatusOr<OpenedModel> Complete(const std::string& path, OpenedModel opened) {
  // The readers of .nibu files and of Argos packages, which may be one file, have read all facts.
  const bool has_facts = opened.format == "nibu" || opened.format == "Argos Translate";
  if (!has_facts && opened.facts.empty()) {
    opened.facts = ReadModelFacts(IsDirectory(path) ? path : DirectoryOf(path));
  }
  // Languages that the format's reader found replace those of the facts.
  for (const auto& [name, language] :
       {std::pair("source_language", &opened.vocabulary.source_language),
        {"target_language", &opened.vocabulary.target_language}}) {
    if (!language->empty()) opened.facts[name] = *language;
    if (opened.facts.contains(name)) *language = opened.facts[name];
  }
  ModelVocabulary& vocabulary = opened.vocabulary;
  if (opened.format != "nibu" && IsDirectory(path)) {
    NIBU_RETURN_IF_ERROR(AddTokensOfFiles(path, &opened));
  }
  if (vocabulary.languages.languages.empty()) {
    vocabulary.language_tokens = LanguageTokens(vocabulary.source_tokens);
  }
  std::vector<int>& suppressed = opened.config.suppressed;
  std::sort(suppressed.begin(), suppressed.end());
  suppressed.erase(std::unique(suppressed.begin(), suppressed.end()), suppressed.end());
  if (const absl::Status status = opened.config.Validate(); !status.ok()) {
    return absl::Status(status.code(), absl::StrCat(opened.config_file, ": ", status.message()));
  }
  return opened;
}

absl::StatusOr<LoadedModel> Load(OpenedModel&& opened, ComputeType compute_type) {
  NIBU_RETURN_IF_ERROR(opened.config.Validate());
  if (opened.source->packed().compute_type != compute_type) {
    NIBU_RETURN_IF_ERROR(UnpackLinears(&opened));
  }
  const PackedLinears& packed = opened.source->packed();
  const bool has_packed = !packed.linears.empty();
  std::vector<std::string> notes;
  if (HasInt8Inputs(compute_type)) {
    std::string note;
    if (!has_packed) {
      note = EqualizeForInt8(opened.config, opened.names, opened.source.get());
    }
    // A file that was written in int8 has the note that was made then.
    if (note.empty()) note = opened.facts[kInt8Fact];
    if (!note.empty()) notes.push_back(std::move(note));
  }
  if (has_packed && packed.fingerprint != PackFingerprint()) {
    notes.push_back(absl::StrCat(
        opened.config_file, ": its packed weights are for ", packed.fingerprint, ", this is ",
        PackFingerprint(), "; they were packed again (converting the model does so for good)"));
  }
  if (!opened.defaults.ignored.empty()) {
    notes.push_back(
        absl::StrCat(opened.config_file, ": nibu does not obey these options of the model: ",
                     absl::StrJoin(opened.defaults.ignored, ", ", absl::PairFormatter(" "))));
  }
  NIBU_ASSIGN_OR_RETURN(std::shared_ptr<const Model> model,
                        BuildModel(opened.config, opened.names, compute_type, opened.source.get()));
  return LoadedModel{std::move(model),         std::move(opened.vocabulary),
                     opened.defaults,          std::move(opened.shortlist),
                     std::move(opened.format), std::move(notes)};
}

// Returns f(). An error's message becomes one short line, since names in files may be long, and
// have any bytes.
template <typename F>
auto WithShortMessage(const std::string& path, F f) -> decltype(f()) {
  constexpr size_t kMost = 1000;
  constexpr size_t kEnd = 200;  // bytes of the end, which says what to do
  return WithinMemory(path, [&]() -> decltype(f()) {
    auto result = f();
    if (result.ok()) return result;
    std::string message(result.status().message());
    if (message.size() > kMost) {
      message.replace(kMost - kEnd, message.size() - kMost, "...");
    }
    return absl::Status(result.status().code(), PrintableLine(message));
  });
}

}  // namespace

absl::StatusOr<OpenedModel> OpenModel(const std::string& path) {
  return WithShortMessage(path, [&]() -> absl::StatusOr<OpenedModel> {
    NIBU_ASSIGN_OR_RETURN(OpenedModel opened, OpenPath(path));
    return Complete(path, std::move(opened));
  });
}

absl::StatusOr<OpenedModel> OpenModel(const MarianFiles& files) {
  return WithShortMessage(files.model, [&]() -> absl::StatusOr<OpenedModel> {
    NIBU_ASSIGN_OR_RETURN(OpenedModel opened, OpenMarian(files));
    return Complete(files.model, std::move(opened));
  });
}

absl::StatusOr<LoadedModel> LoadModel(const std::string& path, ComputeType compute_type) {
  NIBU_ASSIGN_OR_RETURN(OpenedModel opened, OpenModel(path));
  return LoadModel(std::move(opened), compute_type);
}

absl::StatusOr<LoadedModel> LoadModel(OpenedModel opened, ComputeType compute_type) {
  return WithShortMessage(opened.config_file,
                          [&] { return Load(std::move(opened), compute_type); });
}

}  // namespace nibu::internal
