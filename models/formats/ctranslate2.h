// Reads CTranslate2 directories:
//
//   model.bin       weights and, as scalars, most of the configuration (ctranslate2_bin.h)
//   config.json     special tokens (binary version 6)
//   shared_vocabulary, or source_vocabulary and target_vocabulary
//                   .json (an array) or .txt (lines); <unk> is appended if it is missing
//   vmap.txt        optional: a lexical shortlist (shortlist_file.h)
//   source.spm and target.spm, else sentencepiece.bpe.model, sentencepiece.model or spiece.model
//                   optional: SentencePiece models
//
// Multilingual models: ctranslate2_languages.h.
#ifndef NIBU_MODELS_FORMATS_CTRANSLATE2_H_
#define NIBU_MODELS_FORMATS_CTRANSLATE2_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "models/assembly/opened_model.h"
#include "models/containers/tensor_source.h"
#include "models/files/folder.h"

namespace nibu::internal {

// Reads a vocabulary, which is a JSON array of strings or consists of lines, as its first bytes
// tell. `file` is for messages.
absl::StatusOr<std::vector<std::string>> ReadCTranslate2Vocabulary(absl::string_view bytes,
                                                                   const std::string& file);

// Returns the configuration without token ids, which come from the vocabulary. Sizes are those of
// the tensors, and options are scalars, which count as used then. Unimplemented naming file and
// variable: nibu does not have the model's architecture.
absl::StatusOr<ModelConfig> ReadCTranslate2Config(absl::string_view spec, TensorSource* source);

// Returns CTranslate2's names of a model's tensors.
NameTable CTranslate2Names(const ModelConfig& config, const TensorSource& source);

// InvalidArgument, NotFound or Unimplemented naming the file: it is damaged, missing or not
// supported.
absl::StatusOr<OpenedModel> OpenCTranslate2(const Folder& folder);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_FORMATS_CTRANSLATE2_H_
