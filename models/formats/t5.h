// Reads Hugging Face directories of the T5 family (T5 1.0 and 1.1, Flan-T5, mT5, MADLAD-400):
//
//   config.json              "model_type": "t5" or "mt5" (fields: ReadT5Config)
//   generation_config.json   optional; its token ids win over config.json's
//   model.safetensors        weights, or their other forms (weights_file.h)
//   spiece.model             the SentencePiece model; its ids are the model's, which may have more
//                            ids behind them, for "<extra_id_N>" and unused
//   tokenizer_config.json    optional
//
// The text itself names the task: "translate English to German: ..." for T5, and "<2de> ...", whose
// language token is an ordinary piece, for MADLAD.
//
// Raffel et al. 2020, Xue et al. 2021, Kudugunta et al. 2023;
// https://huggingface.co/docs/transformers/model_doc/t5
#ifndef NIBU_MODELS_FORMATS_T5_H_
#define NIBU_MODELS_FORMATS_T5_H_

#include <string>

#include "absl/status/statusor.h"
#include "models/assembly/opened_model.h"
#include "models/files/json.h"
#include "models/formats/hugging_face.h"

namespace nibu::internal {

// `config`: the directory's config.json under its generation_config.json. Absent fields have
// transformers' defaults. InvalidArgument naming the field: it is wrong.
absl::StatusOr<HuggingFaceConfig> ReadT5Config(const ConfigFile& config);
absl::StatusOr<OpenedModel> OpenT5(const std::string& directory, const ConfigFile& config);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_FORMATS_T5_H_
