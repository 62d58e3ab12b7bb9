// The model and the threads that the options of a program ask for.
#ifndef NIBU_TOOLS_CLI_MODEL_FLAGS_H_
#define NIBU_TOOLS_CLI_MODEL_FLAGS_H_

#include <string>

#include "absl/status/statusor.h"
#include "engine/translator.h"
#include "models/load_model.h"
#include "tools/text/text_model.h"
#include "tools/text/text_options.h"

namespace nibu::internal {

// A model to be loaded.
struct ModelFlags {
  std::string path;
  bool random_weights = false;  // the path is that of a model's shape (configs/*.json)
  ComputeType compute_type;
  TextModelOptions text;
};

// The model that --model and the options of loading ask for, checked. Errors are wrong usage.
absl::StatusOr<ModelFlags> ReadModelFlags(const std::string& model, const ModelOptions& options);
// The same for programs that take one model, not an ensemble.
absl::StatusOr<ModelFlags> ReadOneModelFlags(const std::string& model, const ModelOptions& options);
// OpenModel, or weights that are always the same.
absl::StatusOr<OpenedModel> Open(const ModelFlags& model);

// The threads, with room for sentences of the lengths that the options ask for. Errors are wrong
// usage.
absl::StatusOr<TranslatorOptions> ReadTranslatorFlags(const SpeedOptions& speed,
                                                      const ModelOptions& model,
                                                      const Options& options);

// The options over a model's defaults. Errors are wrong usage.
absl::StatusOr<TextOptions> ReadTextFlags(const Options& options, const ModelFlags& model,
                                          const ModelDefaults& defaults);

// Loads a model for text or, tokenized, pieces, and prints its notes as warnings. `text` is set to
// the options over the model's defaults. UsageError: they make no sense.
absl::StatusOr<TextModel> LoadForText(const ModelFlags& model, const Options& options,
                                      TextOptions* text);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_CLI_MODEL_FLAGS_H_
