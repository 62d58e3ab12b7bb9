// Reader of Hugging Face directories of the multilingual models M2M-100, NLLB and mBART:
//
//   config.json              model_type "m2m_100" (M2M-100 and NLLB) or "mbart"
//   generation_config.json   optional; its token ids win over config.json's
//   model.safetensors        weights, or their other forms (weights_file.h)
//   sentencepiece.bpe.model  one for all languages
//   vocab.json               M2M-100 alone: {piece: id}. Else id 0 to 3 are <s>, <pad>, </s> and
//                            <unk>, and the n-th piece, n from 3 on, has id n + 1
//   tokenizer.json           optional; its "added_tokens" are {content, id} of the language tokens,
//   tokenizer_config.json    so are its "added_tokens_decoder", {id: {content}},
//   added_tokens.json        and {content: id}; where none of the three is there,
//   special_tokens_map.json  "additional_special_tokens" lists them, with ids from behind the
//                            pieces' on
//
// A language token is "__de__" (M2M-100), "deu_Latn" (NLLB) or "de_DE" (mBART). Source:
//   [language] text </s>     M2M-100, NLLB, mBART-50
//   text </s> [language]     NLLB with "legacy_behaviour" (tokenizer_config.json), the first mBART
// The decoder is given </s> and the target language, that of the first mBART the language alone.
//
// All are pre-norm, with a norm behind the last layer of each stack; embeddings are scaled when
// "scale_embedding". M2M-100 and NLLB: sinusoidal positions, sin | cos halves, angle
// (p + 2) * 10000^(-i / (d/2 - 1)). mBART: learned positions, row p + 2, and a norm behind them.
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

// The code that a language token stands for; empty for any other token.
std::string LanguageCode(absl::string_view token);

// The one for all languages.
inline constexpr char kMultilingualSentencePiece[] = "sentencepiece.bpe.model";

// What the vocabulary of a multilingual model is made from, in whatever format it came.
struct MultilingualParts {
  std::vector<std::string> tokens;  // by id; empty: the id is not used
  int first_language = 0;           // no id below it is a language's
  std::string sentencepiece;        // serialized
  std::optional<int> forced_target;
  ConfigFile tokenizer;  // tokenizer_config.json
  bool is_mbart = false;
  // Where no class of tokenizer is known: mBART of the first kind, whose decoder is given the
  // language alone.
  bool language_starts = false;
  std::string tokenizer_class;  // the tokenizer's own wins; may be empty
};

// The vocabulary with its languages, framed as above. `directory`: for messages. Sets model->unk,
// unk_target, source_suffix (to model->eos) and suppressed.
absl::StatusOr<ModelVocabulary> MultilingualVocabulary(const std::string& directory,
                                                       MultilingualParts parts, ModelConfig* model);

// `config`: the directory's config.json under its generation_config.json. Absent fields have
// transformers' defaults. InvalidArgument or Unimplemented naming the field that is wrong or not
// supported.
absl::StatusOr<OpenedModel> OpenMultilingual(const std::string& directory,
                                             const ConfigFile& config);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_FORMATS_MULTILINGUAL_H_
