// Reads the model, threads and search that a program's flags ask for, for programs that use the
// engine directly.
#ifndef NIBU_TOOLS_CLI_MODEL_FLAGS_H_
#define NIBU_TOOLS_CLI_MODEL_FLAGS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/translator.h"
#include "models/load_model.h"
#include "nibu/options.h"

namespace nibu::internal {

// Returns the paths of the models that --model and the loading options ask for (FindModels). Errors
// are wrong usage.
absl::StatusOr<std::vector<std::string>> ReadModelFlags(const std::string& model,
                                                        const ModelOptions& options);
// Does the same for programs that take one model, not an ensemble.
absl::StatusOr<std::string> ReadOneModelFlag(const std::string& model, const ModelOptions& options);

// Opens the model, which must be there. With `is_shape`, the path names a model's shape
// (configs/*.json), for which weights are made; they are always the same.
absl::StatusOr<OpenedModel> OpenModelOrShape(const std::string& path, bool is_shape,
                                             const ModelOptions& options);

// Returns the options of the threads, with position tables for the lengths that the options ask
// for. Errors are wrong usage.
absl::StatusOr<TranslatorOptions> ReadTranslatorFlags(const SpeedOptions& speed,
                                                      const ModelOptions& model,
                                                      const Options& options);

// Returns the options of the search, with the model's defaults for those without a value. Errors
// are wrong usage.
absl::StatusOr<DecodingOptions> ReadDecodingFlags(const Options& options, const ModelOptions& model,
                                                  const ModelDefaults& defaults);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_CLI_MODEL_FLAGS_H_
