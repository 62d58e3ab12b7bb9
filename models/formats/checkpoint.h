// Training checkpoints saved by torch.save: a dictionary that holds weights, the options of the
// training and what it would go on with. The keys tell which program wrote one.
//
// What is neither number, text, list, dictionary nor tensor in it is an object of a Python class;
// the readers name the classes that they expect, and see no more of an object than its attributes.
#ifndef NIBU_MODELS_FORMATS_CHECKPOINT_H_
#define NIBU_MODELS_FORMATS_CHECKPOINT_H_

#include <string>

#include "absl/status/statusor.h"
#include "models/assembly/opened_model.h"
#include "models/containers/torch_file.h"
#include "models/files/json.h"

namespace nibu {

// Opens a checkpoint of any of the readers: fairseq.h, opennmt.h. Unimplemented naming a class that
// none of them expects.
absl::StatusOr<TorchFile> OpenCheckpointFile(std::shared_ptr<const FileBytes> file);

// Whether a directory holds a PyTorch file NAME.pt.
bool IsCheckpointDirectory(const std::string& directory);

// `path`: a checkpoint, its vocabularies beside it, or a directory with one checkpoint.
absl::StatusOr<OpenedModel> OpenCheckpoint(const std::string& path);

// For the readers: the directory that a file is in.
std::string DirectoryOf(const std::string& path);

// For the readers: the entries of a dictionary, or the attributes of an object, that are null,
// numbers, texts, or lists of these. None for any other value.
nlohmann::json CheckpointOptions(const Pickle& pickle, const PickleValue* value);

// For the readers: the SentencePiece models of a directory (*.model, *.spm): one for both sides, or
// two of which one is called source or src, the other target or tgt. None otherwise.
absl::Status ReadSentencePieceFiles(const std::string& directory, ModelVocabulary* vocabulary);

}  // namespace nibu

#endif  // NIBU_MODELS_FORMATS_CHECKPOINT_H_
