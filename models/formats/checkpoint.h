// Functions that the readers of training checkpoints share (fairseq.h, opennmt.h). A checkpoint is
// a dictionary, written by torch.save, that has the weights, the options of the training and the
// training's state.
//
// Every value in it that is no number, text, list, dictionary or tensor is an object of a Python
// class; the readers see no more of it than its attributes.
#ifndef NIBU_MODELS_FORMATS_CHECKPOINT_H_
#define NIBU_MODELS_FORMATS_CHECKPOINT_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/assembly/opened_model.h"
#include "models/containers/torch_file.h"
#include "models/files/pickle.h"
#include "nlohmann/json.hpp"

namespace nibu::internal {

// Reads a checkpoint, which may refer to the classes that fairseq and OpenNMT-py use. Errors are
// those of TorchFile::Open().
absl::StatusOr<TorchFile> ReadCheckpoint(std::shared_ptr<const FileBytes> file);

// Returns those entries of a dictionary, or attributes of an object, that are null, numbers, texts,
// or lists of these. The result is empty for any other value, and if `value` is null.
nlohmann::json CheckpointOptions(const Pickle& pickle, const PickleValue* value);

// Copies the SentencePiece models of a directory (*.model, *.spm) into the vocabulary, if there is
// one for both sides, or one whose name begins with source or src and one with target or tgt.
absl::Status ReadSentencePieceFiles(const std::string& directory, ModelVocabulary* vocabulary);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_FORMATS_CHECKPOINT_H_
