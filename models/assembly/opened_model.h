// A model whose files have been read and understood, its weights not yet packed: what every
// format's reader returns, what a Model is built from, and what can be written in another format.
#ifndef NIBU_MODELS_ASSEMBLY_OPENED_MODEL_H_
#define NIBU_MODELS_ASSEMBLY_OPENED_MODEL_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/model/config.h"
#include "engine/search/shortlist.h"
#include "models/assembly/model_facts.h"
#include "models/assembly/name_table.h"
#include "models/containers/tensor_source.h"

namespace nibu::internal {

// The languages that a multilingual model has to be told: tokens of its vocabulary (source and
// target share it), one for each.
struct ModelLanguages {
  struct Language {
    std::string code;  // "de", "deu_Latn", "de_DE"
    int token;
  };
  std::vector<Language> languages;  // in the order of their codes; none: nothing to be told
  // [language] text source_suffix, else text source_suffix [language].
  bool source_in_front = true;
  // The decoder is given decoder_start and the target language, else the language alone.
  bool target_follows_start = true;
  // Codes of what is taken when nothing is said; empty: it must be said.
  std::string default_source;
  std::string default_target;
};

// What turns text into the model's token ids and back, as plain data (the tokenizer folder knows no
// model and this folder knows no tokenizer; tools joins them).
struct ModelVocabulary {
  // Token of each id. The target list equals the source list when the model shares them.
  std::vector<std::string> source_tokens;
  std::vector<std::string> target_tokens;
  // Contents of the SentencePiece models (serialized); empty: the model has none, and only
  // tokenized input can be translated.
  std::string source_sentencepiece;
  std::string target_sentencepiece;
  // A leading ">>xx<<" (OPUS-MT) or "<2xx>" (MADLAD-400) of a source line is one token when the
  // vocabulary has it.
  bool language_tokens = false;
  // As its files call them: "en", "eng_Latn"; empty: they do not.
  std::string source_language;
  std::string target_language;
  ModelLanguages languages;

  // Frees the tokens and SentencePiece models, once a tokenizer has been made of them.
  void ForgetTokens() {
    source_tokens = std::vector<std::string>();
    target_tokens = std::vector<std::string>();
    source_sentencepiece = std::string();
    target_sentencepiece = std::string();
  }
};

// Options that a model comes with.
struct ModelDefaults {
  std::optional<int> beam_size;
  std::optional<int> max_decoding_length;
  std::optional<int> no_repeat_ngram_size;
  std::optional<float> length_penalty;
  std::optional<float> word_penalty;
  std::optional<float> max_length_factor;  // see DecodingOptions
  bool early_stopping = false;             // likewise
  // Tokens of a translation for one token of its source, in the mean: what is far from it is
  // suspicious.
  std::optional<float> length_ratio;
};

// Move only.
struct OpenedModel {
  std::string format;       // "Hugging Face MarianMT", ...
  std::string config_file;  // what `config` was read from, for messages
  ModelConfig config;
  NameTable names;
  // Of the weights: views of mapped files.
  std::unique_ptr<TensorSource> source = std::make_unique<TensorSource>("");
  ModelVocabulary vocabulary;
  ModelDefaults defaults;
  std::shared_ptr<const Shortlist> shortlist;  // null: it has none
  ModelFacts facts = {};
};

}  // namespace nibu::internal

#endif  // NIBU_MODELS_ASSEMBLY_OPENED_MODEL_H_
