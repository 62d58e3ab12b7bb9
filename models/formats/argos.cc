#include "models/formats/argos.h"

#include "absl/strings/match.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "models/files/directory.h"
#include "models/files/json.h"
#include "models/files/zip.h"
#include "models/formats/ctranslate2.h"
#include "models/vocabulary/vocabulary_file.h"

namespace nibu::internal {

bool IsArgos(const std::string& directory) {
  return IsDirectory(directory + "/model") && FileBytes::Open(directory + "/metadata.json").ok();
}

absl::Status RefuseZippedArgos(const std::shared_ptr<const FileBytes>& file) {
  if (!ZipArchive::IsZip(file->bytes())) return absl::OkStatus();
  const auto zip = ZipArchive::Open(file);
  if (!zip.ok()) return absl::OkStatus();  // others may say what it is
  for (const auto& [name, member] : zip->members()) {
    if (!absl::EndsWith(name, "model/model.bin")) continue;
    return Invalid(file->path(), ": a zipped Argos Translate package; unpack it (unzip '",
                   file->path(), "' -d DIR) and give DIR as the model");
  }
  return absl::OkStatus();
}

absl::StatusOr<OpenedModel> OpenArgos(const std::string& directory) {
  NIBU_ASSIGN_OR_RETURN(const ConfigFile metadata,
                        ConfigFile::OpenOptional(directory + "/metadata.json"));
  NIBU_ASSIGN_OR_RETURN(const std::string type, metadata.String("type", "translate"));
  if (type != "translate") {
    return NotSupported(directory, ": an Argos package of type \"", type,
                        "\", which does not translate; give one of type \"translate\"");
  }
  if (!metadata.IsOff("target_prefix")) {
    return NotSupported(metadata.file(), ": \"target_prefix\" is not supported; use a package of ",
                        "one target language");
  }
  NIBU_ASSIGN_OR_RETURN(OpenedModel opened, OpenCTranslate2(directory + "/model"));
  const char* name = "sentencepiece.model";
  NIBU_ASSIGN_OR_RETURN(const bool has_pieces,
                        TakeSentencePieces(directory, name, name, &opened.vocabulary));
  if (!has_pieces && FileBytes::Open(directory + "/bpe.model").ok()) {
    return NotSupported(directory, "/bpe.model: subword-nmt behind Moses tokenization is not ",
                        "supported; use a package with a sentencepiece.model");
  }
  opened.format = "Argos Translate";
  opened.defaults.beam_size = 4;
  opened.defaults.length_penalty = 0.2f;
  opened.facts = ReadModelFacts(directory);
  return opened;
}

}  // namespace nibu::internal
