// Opens a model of any supported format.
#ifndef NIBU_MODELS_LOAD_MODEL_H_
#define NIBU_MODELS_LOAD_MODEL_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/model/weights.h"
#include "engine/search/shortlist.h"

namespace nibu {

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
  // A leading ">>xx<<" of a source line is one token when the vocabulary has it (OPUS-MT).
  bool language_tokens = false;
};

// Search options that a model comes with.
struct ModelDefaults {
  std::optional<int> beam_size;
  std::optional<float> length_penalty;
};

struct LoadedModel {
  std::shared_ptr<const Model> model;
  ModelVocabulary vocabulary;
  ModelDefaults defaults;
  std::shared_ptr<const Shortlist> shortlist;  // null: it has none
  std::string format;                          // "Hugging Face MarianMT", ...
};

// `path`: a directory or file, told apart by content. Errors are one line: what, which file, what
// to do.
absl::StatusOr<LoadedModel> LoadModel(const std::string& path, ComputeType compute_type);

}  // namespace nibu

#endif  // NIBU_MODELS_LOAD_MODEL_H_
