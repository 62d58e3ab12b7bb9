// Writes Hugging Face MarianMT directories (hugging_face.h): config.json, generation_config.json,
// model.safetensors, vocab.json (and target_vocab.json), source.spm, target.spm,
// tokenizer_config.json, special_tokens_map.json.
//
// Properties that a MarianMT model does not have are expressed in its terms. A decoder that starts
// from a zero vector gets a padding token whose embedding is zero; positions of another formula are
// stored as embed_positions; integers become float32. "layer_norm_eps" is written if it is not
// 1e-5. nibu knows that field, "normalize_before" and the like; not every version of transformers
// does.
#ifndef NIBU_MODELS_WRITERS_HUGGING_FACE_WRITER_H_
#define NIBU_MODELS_WRITERS_HUGGING_FACE_WRITER_H_

#include <string>

#include "absl/status/status.h"
#include "models/assembly/opened_model.h"
#include "models/assembly/tensor_plan.h"

namespace nibu::internal {

// Writes the directory. It appears whole, after it has been read back. FailedPrecondition: it is
// there already. Unimplemented, naming the reason: the format cannot express the model (an SSRU
// decoder, a shortlist, ...).
// REQUIRES: quantization is neither kInt8 nor kInt4; the model has no packed linears
// (UnpackLinears).
absl::Status WriteHuggingFace(const OpenedModel& model, Quantization quantization,
                              const std::string& directory);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_WRITERS_HUGGING_FACE_WRITER_H_
