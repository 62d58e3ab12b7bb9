// Writer of Hugging Face MarianMT directories (hugging_face.h): config.json,
// generation_config.json, model.safetensors, vocab.json (and target_vocab.json), source.spm,
// target.spm, tokenizer_config.json, special_tokens_map.json.
//
// What differs from a MarianMT model is put in its terms: a decoder that starts from a zero vector
// gets a padding token whose embedding is zero; positions of another formula are stored as
// embed_positions; integers become float32. "layer_norm_eps" is written where it is not 1e-5; it,
// "normalize_before" and the like are known to nibu, but not to every version of transformers.
#ifndef NIBU_MODELS_WRITERS_HUGGING_FACE_WRITER_H_
#define NIBU_MODELS_WRITERS_HUGGING_FACE_WRITER_H_

#include <string>

#include "absl/status/status.h"
#include "models/assembly/opened_model.h"
#include "models/assembly/tensor_plan.h"

namespace nibu::internal {

// Writes the directory, which must not be there and appears whole, after it has been read back.
// Unimplemented, in one line: what the format cannot express (SSRU decoders, shortlists, ...).
// REQUIRES: quantization is not kInt8.
absl::Status WriteHuggingFace(const OpenedModel& model, Quantization quantization,
                              const std::string& directory);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_WRITERS_HUGGING_FACE_WRITER_H_
