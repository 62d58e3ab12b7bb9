#include "models/formats/checkpoint.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engine/core/status_macros.h"
#include "models/files/file_bytes.h"
#include "models/formats/fairseq.h"
#include "models/formats/opennmt.h"
#include "models/vocabulary/sentencepiece_pieces.h"

namespace nibu {
namespace {

using Json = nlohmann::json;
using Kind = PickleValue::Kind;

// The files of a directory whose names end in one of `endings`, in order.
std::vector<std::string> FilesEndingIn(const std::string& directory,
                                       const std::vector<absl::string_view>& endings) {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    const std::string path = entry.path().string();
    if (std::any_of(endings.begin(), endings.end(),
                    [&](absl::string_view ending) { return absl::EndsWith(path, ending); })) {
      files.push_back(path);
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> CheckpointsOf(const std::string& directory) {
  std::vector<std::string> checkpoints;
  for (const std::string& path : FilesEndingIn(directory, {".pt"})) {
    const auto file = FileBytes::Open(path);
    if (file.ok() && TorchFile::IsTorch((*file)->bytes())) checkpoints.push_back(path);
  }
  return checkpoints;
}

bool NameBeginsWith(const std::string& path, absl::string_view a, absl::string_view b) {
  const std::string name = std::filesystem::path(path).filename().string();
  return absl::StartsWith(name, a) || absl::StartsWith(name, b);
}

// A number, a text or null; false for anything else.
bool Scalar(const PickleValue& value, Json* json) {
  switch (value.kind) {
    case Kind::kNone:
      *json = nullptr;
      return true;
    case Kind::kBool:
      *json = value.integer != 0;
      return true;
    case Kind::kInt:
      // As the JSON parser has them.
      if (value.integer >= 0) {
        *json = static_cast<uint64_t>(value.integer);
      } else {
        *json = value.integer;
      }
      return true;
    case Kind::kFloat:
      *json = value.number;
      return true;
    case Kind::kString:
      *json = std::string(value.text);
      return true;
    default:
      return false;
  }
}

}  // namespace

std::string DirectoryOf(const std::string& path) {
  const std::string directory = std::filesystem::path(path).parent_path().string();
  return directory.empty() ? "." : directory;
}

Json CheckpointOptions(const Pickle& pickle, const PickleValue* value) {
  Json options = Json::object();
  if (value == nullptr) return options;
  const PickleValue* dict = value->kind == Kind::kDict ? value : pickle.Attributes(*value);
  if (dict == nullptr) return options;
  for (size_t i = 0; i + 1 < dict->items.size(); i += 2) {
    if (!pickle.Is(dict->items[i], Kind::kString)) continue;
    const PickleValue& entry = pickle[dict->items[i + 1]];
    Json json;
    if (entry.kind == Kind::kList || entry.kind == Kind::kTuple) {
      json = Json::array();
      for (const PickleRef item : entry.items) {
        Json element;
        if (Scalar(pickle[item], &element)) json.push_back(std::move(element));
      }
    } else if (!Scalar(entry, &json)) {
      continue;
    }
    options[std::string(pickle[dict->items[i]].text)] = std::move(json);
  }
  return options;
}

absl::Status ReadSentencePieceFiles(const std::string& directory, ModelVocabulary* vocabulary) {
  std::vector<std::shared_ptr<const FileBytes>> models;
  for (const std::string& path : FilesEndingIn(directory, {".model", ".spm"})) {
    NIBU_ASSIGN_OR_RETURN(auto file, FileBytes::Open(path));
    NIBU_RETURN_IF_ERROR(ReadSentencePieces(file->bytes(), path).status());
    models.push_back(std::move(file));
  }
  if (models.size() == 1) models.push_back(models[0]);
  if (models.size() != 2) return absl::OkStatus();
  if (NameBeginsWith(models[1]->path(), "source", "src")) std::swap(models[0], models[1]);
  if (models[0] != models[1] && !(NameBeginsWith(models[0]->path(), "source", "src") &&
                                  NameBeginsWith(models[1]->path(), "target", "tgt"))) {
    return absl::OkStatus();
  }
  vocabulary->source_sentencepiece = std::string(models[0]->bytes());
  vocabulary->target_sentencepiece = std::string(models[1]->bytes());
  return absl::OkStatus();
}

absl::StatusOr<TorchFile> OpenCheckpointFile(std::shared_ptr<const FileBytes> file) {
  static const std::vector<absl::string_view>& classes = *new std::vector<absl::string_view>([] {
    std::vector<absl::string_view> all;
    for (const auto& list : {FairseqClasses(), OpenNmtClasses()})
      all.insert(all.end(), list.begin(), list.end());
    return all;
  }());
  return TorchFile::Open(std::move(file), classes);
}

bool IsCheckpointDirectory(const std::string& directory) {
  return !CheckpointsOf(directory).empty();
}

absl::StatusOr<OpenedModel> OpenCheckpoint(const std::string& path) {
  std::string chosen = path;
  if (std::filesystem::is_directory(path)) {
    const std::vector<std::string> all = CheckpointsOf(path);
    if (all.size() != 1) {
      return absl::InvalidArgumentError(absl::StrCat(
          path, ": ", all.size(),
          " checkpoints in it, give one of them as the model: ", absl::StrJoin(all, ", ")));
    }
    chosen = all[0];
  }
  NIBU_ASSIGN_OR_RETURN(auto file, FileBytes::Open(chosen));
  NIBU_ASSIGN_OR_RETURN(const TorchFile torch, OpenCheckpointFile(std::move(file)));
  if (IsFairseq(torch)) return OpenFairseq(torch);
  if (IsOpenNmt(torch)) return OpenOpenNmt(torch);
  return absl::InvalidArgumentError(absl::StrCat(
      chosen,
      ": a PyTorch file, but not a checkpoint of fairseq or OpenNMT-py; weights alone need ",
      "their directory, with its configuration, as the model"));
}

}  // namespace nibu
