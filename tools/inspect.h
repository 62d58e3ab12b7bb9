// What a model is made of, as nibu-inspect shows it.
#ifndef NIBU_TOOLS_INSPECT_H_
#define NIBU_TOOLS_INSPECT_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/ops/linear.h"
#include "nlohmann/json.hpp"

namespace nibu {

struct Inspection {
  // model, format, ModelFacts, config, parameters, stored_bytes, vocabulary, defaults, shortlist,
  // packed, load, and tensors: name, dtype, shape, bytes, min, max, nan (of the weights: integers
  // by their scales).
  nlohmann::ordered_json facts;
  std::string text;  // the facts for people to read
  // What keeps the model from being used, although its parts could be read.
  absl::Status status;
};

// Loads the model with the compute type, too. `tensors`: every one is read. An error: there is
// nothing to show.
absl::StatusOr<Inspection> Inspect(const std::string& path, ComputeType compute_type, bool tensors);

}  // namespace nibu

#endif  // NIBU_TOOLS_INSPECT_H_
