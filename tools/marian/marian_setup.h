// Turns Marian's options into those of the library, and loads the model that they name.
#ifndef NIBU_TOOLS_MARIAN_MARIAN_SETUP_H_
#define NIBU_TOOLS_MARIAN_MARIAN_SETUP_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "nibu/nibu.h"
#include "tools/marian/marian_options.h"

namespace nibu::internal {

struct MarianSetup {
  SpeedOptions speed;
  Options text;
  std::shared_ptr<const nibu::Model> model;
  // The models of an ensemble, each by itself. They share their weights with `model`. Empty: it is
  // no ensemble.
  std::vector<std::shared_ptr<const nibu::Model>> members;
  float weight_sum = 1;        // of the ensemble's models
  bool writes_pieces = false;  // translations are printed as pieces, whatever text.tokenized says
};

// Checks the options and loads the model. Errors about options are UsageErrors, in which they have
// Marian's names; others name the file.
absl::StatusOr<MarianSetup> SetUpMarian(MarianCommand command, const MarianOptions& options);

// Returns an error of the library about one of its options with Marian's name for the option, as
// wrong usage.
absl::Status MarianError(const absl::Status& status);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_MARIAN_MARIAN_SETUP_H_
