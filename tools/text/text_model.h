// Loads a model with everything that text needs, and chooses a multilingual model's languages.
#ifndef NIBU_TOOLS_TEXT_TEXT_MODEL_H_
#define NIBU_TOOLS_TEXT_TEXT_MODEL_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/request.h"
#include "models/assembly/layer_attention.h"
#include "models/load_model.h"
#include "nibu/options.h"

namespace nibu::internal {

// Files and settings that replace those of a model, or are added to it. An empty path: none.
struct TextModelOptions {
  std::string sentencepiece;  // "SOURCE.spm[,TARGET.spm]"
  std::string shortlist;      // Marian's, or a vmap.txt; "none": without the model's own, too
  std::string draft_model;    // a smaller model of the same vocabularies: see Drafter
  LayerAttention attention;   // for the model, or the first one of an ensemble
  // Further models of an ensemble. Their vocabularies begin with the same tokens; the longer one
  // may have more.
  std::vector<std::string> ensemble;
};

// A model that is to be loaded.
struct ModelSource {
  std::string path;  // the model, or the first one of an ensemble
  ComputeType compute_type;
  TextModelOptions options;
};
// Checks which model a user asks for. `path`: see nibu::Model::Load; empty: the bundled model.
// Returns NotFound if that is missing, and InvalidArgument with the option's name if a value makes
// no sense. The caller has to call CheckModelExists.
absl::StatusOr<ModelSource> ReadModelSource(const std::string& path, const ModelOptions& options);

// Replaces the model's SentencePiece models, shortlist and attention by those of the options.
// Errors name the file, or the option (InvalidArgument).
absl::Status ApplyOverrides(const TextModelOptions& options, OpenedModel* model);

struct TextModel {
  LoadedModel loaded;
  std::shared_ptr<const Model> draft = nullptr;  // null: no draft model
  std::vector<std::shared_ptr<const Model>> ensemble = {};
  std::vector<std::string> notes = {};  // LoadedModel::note of each model that has one, and others
};

// Completes and loads an opened model, and loads its draft model and ensemble. Errors name the
// file.
absl::StatusOr<TextModel> LoadTextModel(OpenedModel opened, ComputeType compute_type,
                                        const TextModelOptions& options);

// Returns the special tokens that tell a multilingual model its languages (see TextOptions), or
// nullopt for a model that is not told them. Returns InvalidArgument that begins with src_lang or
// tgt_lang and lists the model's codes if a language is missing, unknown or ambiguous, or if the
// model is for other languages.
absl::StatusOr<std::optional<Frame>> ChooseLanguages(const ModelVocabulary& vocabulary,
                                                     const ModelConfig& config,
                                                     const std::string& src_lang,
                                                     const std::string& tgt_lang);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_TEXT_MODEL_H_
