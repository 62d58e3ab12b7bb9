// The contents of a nibu::Model, and how they are loaded.
#ifndef NIBU_TOOLS_TEXT_MODEL_MODEL_PARTS_H_
#define NIBU_TOOLS_TEXT_MODEL_MODEL_PARTS_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/assembly/layer_attention.h"
#include "models/load_model.h"
#include "nibu/model.h"
#include "nibu/options.h"
#include "tools/text/model/text_coder.h"

namespace nibu::internal {

struct ModelParts {
  LoadedModel loaded;  // Only the coder has the vocabulary's tokens and the SentencePiece models.
  TextCoder coder;
  std::shared_ptr<const Model> draft = nullptr;             // null: no draft model
  std::vector<std::shared_ptr<const Model>> ensemble = {};  // all but the first one
  std::vector<float> ensemble_weights = {};                 // see TranslatorOptions
  std::vector<std::string> notes = {};                      // those of the models, and others

  // Returns the memory of all weights.
  size_t weight_bytes() const;

  // Returns a model with these parts. Its paths are those of FindModels; the facts are
  // OpenedModel::facts.
  static std::shared_ptr<const nibu::Model> MakeModel(const std::vector<std::string>& paths,
                                                      const ModelFacts& facts, ModelParts parts);
};

// Checks which model a user asks for, and returns its path, or those of an ensemble. `path`: see
// nibu::Model::Load; empty: the bundled model. Returns NotFound if that is missing, and
// InvalidArgument with the option's name if a value makes no sense. Whether there is such a file is
// CheckModelExists's to say.
absl::StatusOr<std::vector<std::string>> FindModels(const std::string& path,
                                                    const ModelOptions& options);

// Returns the mechanisms of attention that the options name, or InvalidArgument.
absl::StatusOr<LayerAttention> LayerAttentionOf(const ModelOptions& options);

// Replaces the model's SentencePiece models, shortlist and attention by those that the options
// name, and makes its languages tokens like others if they say so. Errors name the file, or the
// option (InvalidArgument).
absl::Status ApplyOverrides(const ModelOptions& options, OpenedModel* model);

// Completes an opened model by ApplyOverrides and loads it, and with it its draft model and the
// other models of an ensemble: `paths` is a result of FindModels, of which the first one has been
// opened. `open`, if not null, opens the others in place of OpenModel. The vocabularies of an
// ensemble begin with the same tokens; the longer one may have more. Those of a draft model are
// equal. Errors name the file.
using OpenFunction = std::function<absl::StatusOr<OpenedModel>(const std::string& path)>;
absl::StatusOr<ModelParts> LoadParts(OpenedModel opened, const std::vector<std::string>& paths,
                                     const ModelOptions& options, const OpenFunction& open = {});

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_MODEL_MODEL_PARTS_H_
