// Describes a model whose files have been read, but whose weights have not been packed yet. Every
// format's reader returns an OpenedModel. A Model is built from it, and writers write it in other
// formats.
#ifndef NIBU_MODELS_ASSEMBLY_OPENED_MODEL_H_
#define NIBU_MODELS_ASSEMBLY_OPENED_MODEL_H_

#include <map>
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

// The languages that a multilingual model has to be told. Each has a token in the vocabulary, which
// source and target share.
struct ModelLanguages {
  struct Language {
    std::string code;  // "de", "deu_Latn", "de_DE"
    int token;
  };
  std::vector<Language> languages;  // in the order of their codes; empty: nothing has to be told
  // The source is [language] text source_suffix if this is true, else text source_suffix
  // [language].
  bool source_in_front = true;
  // The decoder starts from decoder_start and the target language if this is true, else from the
  // language alone.
  bool target_follows_start = true;
  // The codes of the languages that are taken when the user names none; empty: he must name them.
  std::string default_source;
  std::string default_target;
};

// A token that was added to those of the SentencePiece model. A text is searched for its name
// before SentencePiece cuts what is between such tokens. The rules are those of Hugging Face's
// tokenizers.
struct AddedToken {
  int token = 0;             // its id in the vocabulary, which has its name
  bool special = false;      // it is no text: translations are without it
  bool lstrip = false;       // it takes the white space in front of it
  bool rstrip = false;       // it takes the white space behind it
  bool single_word = false;  // it is not found beside a letter, a digit or "_"
  bool normalized = true;    // its name is searched in the text in Unicode's form NFKC
};

// The data that turn text into the model's token ids and back. They are plain data, because the
// tokenizer folder knows no model and this folder knows no tokenizer; tools/text joins them.
struct ModelVocabulary {
  // The token of each id. Both lists are equal if source and target share a vocabulary.
  std::vector<std::string> source_tokens;
  std::vector<std::string> target_tokens;
  // The serialized SentencePiece models, or the texts of subword-nmt's merges; empty: the model has
  // none, and only tokenized input can be translated.
  std::string source_sentencepiece;
  std::string target_sentencepiece;
  // The target languages that a token in front of a source line chooses: ">>xx<<" (OPUS-MT) or
  // "<2xx>" (MADLAD-400). Empty: the model has no such tokens. OpenModel sets it, whatever the
  // format.
  std::vector<ModelLanguages::Language> language_tokens;
  std::vector<AddedToken> added_tokens;
  // True if text behind an added token begins a word, with or without a blank in between. Nearly
  // all tokenizers do so; that of a T5 with "legacy": false does not.
  bool words_follow_added = true;
  // The codes in the model's files, such as "en" and "eng_Latn"; empty: they name none.
  std::string source_language;
  std::string target_language;
  ModelLanguages languages;
};

// Decoding options that a model comes with.
struct ModelDefaults {
  std::optional<int> beam_size;
  std::optional<int> min_decoding_length;
  std::optional<int> max_decoding_length;
  std::optional<float> repetition_penalty;  // as transformers applies it: see hugging_face_rules
  std::optional<int> no_repeat_ngram_size;
  std::optional<float> length_penalty;
  std::optional<float> word_penalty;
  std::optional<float> max_length_factor;  // see DecodingOptions
  bool early_stopping = false;             // likewise
  // The mean number of a translation's tokens for each token of its source. Translations whose
  // length is far from it are suspicious.
  std::optional<float> length_ratio;
  // Token ids of the target. Any of end_tokens ends a translation; empty: the model's `eos` alone.
  std::vector<int> end_tokens;
  std::vector<int> begin_suppress_tokens;
  std::vector<std::vector<int>> suppress_sequences;
  // The token that the decoder is given behind its start, which is not a part of the translation.
  std::optional<int> forced_bos;
  // The options that would change translations and that nibu does not obey, with their values as
  // JSON.
  std::map<std::string, std::string> ignored;
  // The fields that were read, as "FILE: FIELD VALUE".
  std::vector<std::string> sources;
};

// Movable, not copyable.
struct OpenedModel {
  std::string format;       // "Hugging Face MarianMT", ...
  std::string config_file;  // the file of `config`, for messages
  ModelConfig config;
  NameTable names;
  // The weights, as views of mapped files.
  std::unique_ptr<TensorSource> source = std::make_unique<TensorSource>("");
  ModelVocabulary vocabulary;
  ModelDefaults defaults;
  std::shared_ptr<const Shortlist> shortlist;  // null: it has none
  ModelFacts facts = {};
};

}  // namespace nibu::internal

#endif  // NIBU_MODELS_ASSEMBLY_OPENED_MODEL_H_
