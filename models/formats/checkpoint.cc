// Lists the classes of checkpoints, and turns pickled options into JSON.
#include "models/formats/checkpoint.h"

#include <optional>
#include <utility>
#include <vector>

#include "engine/core/status_macros.h"
#include "models/files/directory.h"
#include "models/files/file_bytes.h"
#include "models/vocabulary/vocabulary_file.h"

namespace nibu::internal {
namespace {

using Json = nlohmann::json;
using Kind = PickleValue::Kind;

// Returns a number, a text or null as JSON; nothing for any other value.
std::optional<Json> Scalar(const PickleValue& value) {
  switch (value.kind) {
    case Kind::kNone:
      return Json();
    case Kind::kBool:
      return Json(value.integer != 0);
    case Kind::kInt:  // unsigned if it is not negative, like the JSON parser's numbers
      return value.integer < 0 ? Json(value.integer) : Json(static_cast<uint64_t>(value.integer));
    case Kind::kFloat:
      return Json(value.number);
    case Kind::kString:
      return Json(std::string(value.text));
    default:
      return std::nullopt;
  }
}

// The Python classes whose objects are found in checkpoints.
constexpr absl::string_view kClasses[] = {
    "argparse Namespace",
    // The state of fairseq's training: counters, numbers of NumPy.
    "fairseq.meters AverageMeter",
    "fairseq.meters StopwatchMeter",
    "fairseq.meters TimeMeter",
    "fairseq.logging.meters AverageMeter",
    "fairseq.logging.meters StopwatchMeter",
    "fairseq.logging.meters TimeMeter",
    "numpy dtype",
    "numpy.core.multiarray scalar",
    "numpy._core.multiarray scalar",
    "_codecs encode",
    // The vocabularies of OpenNMT-py 1 and 2.
    "collections Counter",
    "collections defaultdict",
    "onmt.inputters.text_dataset TextMultiField",
    "onmt.inputters.text_dataset _feature_tokenize",
    "onmt.inputters.inputter AlignField",
    "onmt.inputters.inputter make_src",
    "onmt.inputters.inputter make_tgt",
    "onmt.inputters.inputter parse_align_idx",
    "torchtext.data.field Field",
    "torchtext.data.field LabelField",
    "torchtext.data.field RawField",
    "torchtext.vocab Vocab",
    "functools partial",
    "torch float32",
    "torch int64",
};

}  // namespace

absl::StatusOr<TorchFile> ReadCheckpoint(std::shared_ptr<const FileBytes> file) {
  return TorchFile::Open(std::move(file), kClasses);
}

Json CheckpointOptions(const Pickle& pickle, const PickleValue* value) {
  Json options = Json::object();
  if (value == nullptr) return options;
  const PickleValue* dict = value->kind == Kind::kDict ? value : pickle.Attributes(*value);
  if (dict == nullptr) return options;
  for (size_t i = 0; i + 1 < dict->items.size(); i += 2) {
    if (!pickle.Is(dict->items[i], Kind::kString)) continue;
    const PickleValue& entry = pickle[dict->items[i + 1]];
    std::optional<Json> json = Scalar(entry);
    if (entry.kind == Kind::kList || entry.kind == Kind::kTuple) {
      json = Json::array();
      for (const PickleRef item : entry.items) {
        if (const auto element = Scalar(pickle[item]); element.has_value())
          json->push_back(*element);
      }
    }
    if (json.has_value()) options[std::string(pickle[dict->items[i]].text)] = *std::move(json);
  }
  return options;
}

absl::Status ReadSentencePieceFiles(const std::string& directory, ModelVocabulary* vocabulary) {
  std::vector<std::shared_ptr<const FileBytes>> models;
  NIBU_ASSIGN_OR_RETURN(const auto files, FilesIn(directory, {".model", ".spm"}));
  for (const std::string& path : files) {
    NIBU_ASSIGN_OR_RETURN(auto file, FileBytes::Open(path));
    NIBU_RETURN_IF_ERROR(ReadSentencePieces(file->bytes(), path).status());
    models.push_back(std::move(file));
  }
  if (models.size() == 1) models.push_back(models[0]);
  if (models.size() != 2) return absl::OkStatus();
  if (NameBeginsWith(models[1]->path(), {"source", "src"})) std::swap(models[0], models[1]);
  if (models[0] != models[1] && !(NameBeginsWith(models[0]->path(), {"source", "src"}) &&
                                  NameBeginsWith(models[1]->path(), {"target", "tgt"}))) {
    return absl::OkStatus();
  }
  vocabulary->source_sentencepiece = std::string(models[0]->bytes());
  vocabulary->target_sentencepiece = std::string(models[1]->bytes());
  return absl::OkStatus();
}

}  // namespace nibu::internal
