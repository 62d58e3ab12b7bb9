// Reads a package's metadata, and its model as a CTranslate2 directory.
#include "models/formats/argos.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "models/assembly/model_defaults.h"
#include "models/files/directory.h"
#include "models/files/json.h"
#include "models/files/zip.h"
#include "models/formats/ctranslate2.h"
#include "models/vocabulary/vocabulary_file.h"

namespace nibu::internal {

bool IsArgos(const std::string& directory) {
  return IsDirectory(directory + "/model") && FileBytes::Open(directory + "/metadata.json").ok();
}

absl::StatusOr<std::optional<Folder>> FindZippedArgos(
    const std::shared_ptr<const FileBytes>& file) {
  if (!ZipArchive::IsZip(file->bytes())) return std::nullopt;
  absl::StatusOr<ZipArchive> zip = ZipArchive::Open(file);
  if (!zip.ok()) {
    if (absl::EndsWith(file->path(), ".argosmodel")) return zip.status();
    return std::nullopt;  // another reader may know what it is
  }
  const auto archive = std::make_shared<const ZipArchive>(*std::move(zip));
  std::optional<Folder> package;
  for (const auto& [name, member] : archive->members()) {
    absl::string_view folder = name;
    if (!absl::ConsumeSuffix(&folder, "model/model.bin")) continue;
    if (!folder.empty() && !absl::ConsumeSuffix(&folder, "/")) continue;
    if (package.has_value()) {
      return Invalid(file->path(), ": more than one Argos Translate package in it; unpack it, and ",
                     "give the folder of one of them as the model");
    }
    package.emplace(file->path(), archive, std::string(folder));
  }
  return package;
}

absl::StatusOr<OpenedModel> OpenArgos(const Folder& folder) {
  NIBU_ASSIGN_OR_RETURN(const ConfigFile metadata,
                        ConfigFile::OpenOptional(folder, "metadata.json"));
  NIBU_ASSIGN_OR_RETURN(const std::string type, metadata.String("type", "translate"));
  if (type != "translate") {
    return NotSupported(folder.path(), ": an Argos package of type \"", type,
                        "\", which does not translate; give one of type \"translate\"");
  }
  NIBU_ASSIGN_OR_RETURN(OpenedModel opened, OpenCTranslate2(folder.Below("model")));
  const char* name = "sentencepiece.model";
  NIBU_ASSIGN_OR_RETURN(const bool has_pieces,
                        TakeSentencePieces(folder, name, name, &opened.vocabulary));
  const char* merges = "bpe.model";
  if (!has_pieces) {
    NIBU_RETURN_IF_ERROR(TakeSentencePieces(folder, merges, merges, &opened.vocabulary).status());
  }
  NIBU_ASSIGN_OR_RETURN(const std::string prefix, metadata.String("target_prefix", ""));
  if (!prefix.empty()) {
    const auto token = FindToken(opened.vocabulary.target_tokens, prefix, metadata.file());
    if (!token.ok() || *token == opened.config.eos) {
      return metadata.Wrong("target_prefix", "a token of the model's target vocabulary");
    }
    opened.defaults.forced_bos = *token;
    AddSource(metadata, "target_prefix", &opened.defaults);
  }
  opened.format = "Argos Translate";
  opened.defaults.beam_size = 4;
  opened.defaults.length_penalty = 0.2f;
  opened.facts = ReadModelFacts(folder);
  return opened;
}

}  // namespace nibu::internal
