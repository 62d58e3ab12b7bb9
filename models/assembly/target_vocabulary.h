// Leaves target tokens out of a model's output layer.
#ifndef NIBU_MODELS_ASSEMBLY_TARGET_VOCABULARY_H_
#define NIBU_MODELS_ASSEMBLY_TARGET_VOCABULARY_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "models/assembly/opened_model.h"

namespace nibu::internal {

// Returns the target tokens with which every text can be written, and without which a model cannot
// be told what to do: ascending. Those are special tokens ("<s>", "<0x0A>"), added tokens and those
// of languages, the ones that the configuration and the defaults name, and single characters, also
// with the mark of a word's begin or end.
std::vector<int> NeededTargetTokens(const OpenedModel& model);

// Leaves only the given target tokens, and those of NeededTargetTokens, in the output layer. Token
// ids and the embedding table stay as they are, so that a translation changes only where the model
// would generate another token. InvalidArgument naming the token: the target vocabulary does not
// have it. FailedPrecondition: tokens have been left out before. Other errors are those of
// BuildModel. REQUIRES: the model has no packed linears.
absl::Status RestrictOutput(absl::Span<const std::string> tokens, OpenedModel* model);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_ASSEMBLY_TARGET_VOCABULARY_H_
