// A model with all that text needs.
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

// What stands in for, or is added to, what a model's files have. Paths; empty: nothing.
struct TextModelOptions {
  std::string sentencepiece;  // "SOURCE.spm[,TARGET.spm]"
  std::string shortlist;      // Marian's, or a vmap.txt; "none": without the model's own, too
  std::string draft_model;    // a smaller model of the same vocabularies: see Drafter
  LayerAttention attention;   // of the (first) model
  std::vector<std::string> ensemble;  // more models of the same vocabularies, as far as these go
};

// A model that is to be loaded.
struct ModelSource {
  std::string path;  // of the first model of an ensemble
  ComputeType compute_type;
  TextModelOptions options;
};
// Reads what a user asks for. `path`: see nibu::Model::Load; empty: the bundled model, NotFound if
// that is not there. CheckModelExists is left to the caller. InvalidArgument with the option's
// name: a value makes no sense.
absl::StatusOr<ModelSource> ReadModelSource(const std::string& path, const ModelOptions& options);

// Puts the SentencePiece models, the shortlist and the layers' attention in place of the model's
// own. Errors name the file, or begin with sentencepiece (InvalidArgument).
absl::Status Complete(const TextModelOptions& options, OpenedModel* model);

struct TextModel {
  LoadedModel loaded;
  std::shared_ptr<const Model> draft = nullptr;  // null: none
  std::vector<std::shared_ptr<const Model>> ensemble = {};
  std::vector<std::string> notes = {};  // LoadedModel::note of each, if there is one
};

// Completes and loads what has been opened, and the rest. Errors name the file.
absl::StatusOr<TextModel> LoadTextModel(OpenedModel opened, ComputeType compute_type,
                                        const TextModelOptions& options);

// What tells a multilingual model its languages (see TextOptions); none for a model that is not to
// be told. InvalidArgument that begins with src_lang or tgt_lang, with the codes that there are: a
// language is missing, unknown, ambiguous, or not wanted.
absl::StatusOr<std::optional<Frame>> ChooseLanguages(const ModelVocabulary& vocabulary,
                                                     const ModelConfig& config,
                                                     const std::string& src_lang,
                                                     const std::string& tgt_lang);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_TEXT_MODEL_H_
