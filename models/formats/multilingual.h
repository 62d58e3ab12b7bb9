// Reads Hugging Face directories of the multilingual models M2M-100, NLLB and mBART:
//
//   config.json              model_type "m2m_100" (M2M-100 and NLLB) or "mbart"
//   generation_config.json   optional; its token ids win over config.json's
//   model.safetensors        weights, or their other forms (weights_file.h)
//   sentencepiece.bpe.model  one for all languages
//   vocab.json               M2M-100 alone: {piece: id}. In the others ids 0 to 3 are <s>, <pad>,
//                            </s> and <unk>, and the n-th piece, n from 3 on, has id n + 1
// The language tokens and their ids are in any of
//   tokenizer.json           "added_tokens": [{content, id}, ...]
//   tokenizer_config.json    "added_tokens_decoder": {id: {content}, ...}
//   added_tokens.json        {content: id, ...}
// If they are in none of these,
//   special_tokens_map.json  "additional_special_tokens" lists them; their ids follow the pieces'.
//                            tokenizer_config.json may have the list, too
//
// A language token is "__de__" (M2M-100), "deu_Latn" (NLLB) or "de_DE" (mBART). Source:
//   [language] text </s>     M2M-100, NLLB, mBART-50
//   text </s> [language]     NLLB with "legacy_behaviour" (tokenizer_config.json), the first mBART
// The decoder starts from </s> and the target language; that of the first mBART, from the language
// alone.
//
// All are pre-norm, with a norm behind the last layer of each stack; embeddings are scaled if
// "scale_embedding" is true. M2M-100 and NLLB have sinusoidal positions, in sin | cos halves with
// the angle (p + 2) * 10000^(-i / (d/2 - 1)). mBART has learned positions (row p + 2) and a norm
// behind them.
//
// Papers: Fan et al. 2020 (M2M-100), NLLB Team 2022, Tang et al. 2020 (mBART-50), Liu et al. 2020.
// https://huggingface.co/docs/transformers/model_doc/m2m_100, .../nllb, .../mbart
#ifndef NIBU_MODELS_FORMATS_MULTILINGUAL_H_
#define NIBU_MODELS_FORMATS_MULTILINGUAL_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "models/assembly/opened_model.h"
#include "models/files/json.h"

namespace nibu::internal {

// Returns the code of a language token; empty for any other token.
std::string LanguageCode(absl::string_view token);

// The file name of the SentencePiece model, which is the same for all languages.
inline constexpr char kMultilingualSentencePiece[] = "sentencepiece.bpe.model";

// The parts from which MultilingualVocabulary makes a vocabulary, whatever the model's format.
struct MultilingualParts {
  std::vector<std::string> tokens;   // by id; an empty text: the id is not used
  int first_language = 0;            // ids below it are no language tokens
  std::string sentencepiece;         // serialized
  std::optional<int> forced_target;  // the token of the default target language
  ConfigFile tokenizer;              // tokenizer_config.json
  bool is_mbart = false;
  // If no tokenizer class is known, true for the first mBART, whose decoder starts from the
  // language alone.
  bool language_starts = false;
  std::string tokenizer_class;  // may be empty; the one in `tokenizer` counts first
};

// Returns the vocabulary with its languages, which stand in sources and targets as described above.
// `directory` is for messages. Sets model->unk, unk_target, source_suffix and
// suppressed. InvalidArgument: a default language is not among the languages, or <unk> is missing.
absl::StatusOr<ModelVocabulary> MultilingualVocabulary(const std::string& directory,
                                                       MultilingualParts parts, ModelConfig* model);

// `config`: the directory's config.json under its generation_config.json. Absent fields have
// transformers' defaults. InvalidArgument or Unimplemented naming the field: it is wrong, or not
// supported.
absl::StatusOr<OpenedModel> OpenMultilingual(const std::string& directory,
                                             const ConfigFile& config);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_FORMATS_MULTILINGUAL_H_
