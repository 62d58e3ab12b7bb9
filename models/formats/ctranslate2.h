// Reader of CTranslate2 directories:
//
//   model.bin                weights and, as scalars, most of the configuration (ctranslate2_bin.h)
//   config.json              special tokens (binary version 6)
//   shared_vocabulary, or source_vocabulary and target_vocabulary: .json (an array) or .txt
//   (lines);
//                            <unk> is appended when it is missing
//   vmap.txt                 optional: a lexical shortlist (shortlist_file.h)
//   source.spm and target.spm, else sentencepiece.bpe.model, sentencepiece.model or spiece.model:
//                            optional; what cuts the text
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

// Reads a vocabulary, told apart by its first byte: a JSON array of strings, or lines.
absl::StatusOr<std::vector<std::string>> ReadCTranslate2Vocabulary(absl::string_view bytes,
                                                                   const std::string& file);

// Sizes, counted from the tensors, and options; token ids come from the vocabulary. The scalars
// that it knows count as used. InvalidArgument or Unimplemented naming file and variable.
absl::StatusOr<ModelConfig> ReadCTranslate2Config(absl::string_view spec, TensorSource* source);

NameTable CTranslate2Names(const ModelConfig& config, const TensorSource& source);

absl::StatusOr<OpenedModel> OpenCTranslate2(const Folder& folder);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_FORMATS_CTRANSLATE2_H_
