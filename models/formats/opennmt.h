// Reads OpenNMT-py's Transformer checkpoints, versions 1 to 3:
//
//   NAME.pt         {"model": {name: tensor}, "generator": {name: tensor}, "opt": options,
//                    "vocab": vocabularies, ...}; options are an object
//   *.model, *.spm  optional: SentencePiece models beside it
//
// "vocab" has, for "src" and "tgt", a list of tokens by id (version 3). Before, it had a field, or
// a field of fields, whose vocabulary has such a list; it may also be a list of pairs
// (side, vocabulary).
//
// All are pre-norm, with a norm behind the last layer of each stack. Positions are counted from 0,
// sin and cos in turn, or, with "SinusoidalConcat", sin | cos halves. The source has no </s>; the
// decoder starts from <s>, or from "decoder_start_token". <blank>, the padding, is never generated.
//
// https://github.com/OpenNMT/OpenNMT-py
#ifndef NIBU_MODELS_FORMATS_OPENNMT_H_
#define NIBU_MODELS_FORMATS_OPENNMT_H_

#include "absl/status/statusor.h"
#include "models/assembly/opened_model.h"
#include "models/containers/torch_file.h"
#include "models/files/json.h"

namespace nibu::internal {

// Returns true if a checkpoint is OpenNMT-py's.
bool IsOpenNmt(const TorchFile& torch);

// Reads the options; absent ones have OpenNMT-py's defaults. The sizes of the vocabularies and the
// token ids come from the vocabularies. InvalidArgument or Unimplemented naming the option: it is
// wrong, or not supported.
absl::StatusOr<ModelConfig> ReadOpenNmtConfig(const ConfigFile& options);

absl::StatusOr<OpenedModel> OpenOpenNmt(const TorchFile& torch);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_FORMATS_OPENNMT_H_
