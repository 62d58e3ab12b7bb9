// Reads the model, threads and text options that a program's flags ask for.
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
  bool random_weights = false;  // the path names a model's shape (configs/*.json), without weights
  ComputeType compute_type;
  TextModelOptions text;
};

// Returns the model that --model and the loading options ask for. Errors are wrong usage.
absl::StatusOr<ModelFlags> ReadModelFlags(const std::string& model, const ModelOptions& options);
// Does the same for programs that take one model, not an ensemble.
absl::StatusOr<ModelFlags> ReadOneModelFlags(const std::string& model, const ModelOptions& options);
// Opens the model or, with random_weights, makes weights, which are always the same.
absl::StatusOr<OpenedModel> Open(const ModelFlags& model);

// Returns the options of the threads, with position tables for the lengths that the options ask
// for. Errors are wrong usage.
absl::StatusOr<TranslatorOptions> ReadTranslatorFlags(const SpeedOptions& speed,
                                                      const ModelOptions& model,
                                                      const Options& options);

// Returns the options, with the model's defaults for those without a value. Errors are wrong usage.
absl::StatusOr<TextOptions> ReadTextFlags(const Options& options, const ModelFlags& model,
                                          const ModelDefaults& defaults);

// Loads a model for text or, if tokenized, pieces, and prints its notes as warnings. `text` gets
// the result of ReadTextFlags. Options that make no sense are a UsageError.
absl::StatusOr<TextModel> LoadForText(const ModelFlags& model, const Options& options,
                                      TextOptions* text);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_CLI_MODEL_FLAGS_H_
