// Checks and applies the flags of nibu-translate and nibu-score for models and texts.
#ifndef NIBU_TOOLS_CLI_TEXT_FLAGS_H_
#define NIBU_TOOLS_CLI_TEXT_FLAGS_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "nibu/nibu.h"

namespace nibu::internal {

// Loads a model for text or, if tokenized, pieces, and prints its notes as warnings. Options that
// make no sense are a UsageError.
absl::StatusOr<std::shared_ptr<const nibu::Model>> LoadModel(const std::string& path,
                                                             const ModelOptions& options,
                                                             bool tokenized);

// Returns wrong usage if an option that needs text was given with --tokenized, or --split_language
// without --split_sentences.
absl::Status CheckTextFlags(const Options& options);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_CLI_TEXT_FLAGS_H_
