// What the readers of training checkpoints share (fairseq.h, opennmt.h). torch.save wrote them: a
// dictionary that holds weights, the options of the training and what it would go on with.
//
// What is neither number, text, list, dictionary nor tensor in it is an object of a Python class;
// the readers see no more of it than its attributes.
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

// A checkpoint, in which the classes that fairseq and OpenNMT-py use may be named.
absl::StatusOr<TorchFile> ReadCheckpoint(std::shared_ptr<const FileBytes> file);

// The entries of a dictionary, or the attributes of an object, that are null,
// numbers, texts, or lists of these. None for any other value.
nlohmann::json CheckpointOptions(const Pickle& pickle, const PickleValue* value);

// The SentencePiece models of a directory (*.model, *.spm): one for both sides, or
// two of which one is called source or src, the other target or tgt. None otherwise.
absl::Status ReadSentencePieceFiles(const std::string& directory, ModelVocabulary* vocabulary);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_FORMATS_CHECKPOINT_H_
