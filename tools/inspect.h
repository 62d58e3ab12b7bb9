// What a model is made of, as nibu-inspect shows it.
#ifndef NIBU_TOOLS_INSPECT_H_
#define NIBU_TOOLS_INSPECT_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/ops/linear.h"
#include "nlohmann/json.hpp"

namespace nibu {

struct InspectOptions {
  ComputeType compute_type = ComputeType::kFloat32;  // that the model is loaded with
  bool tensors = true;                               // every tensor, all of it read
};

struct Inspection {
  // model, format, config, parameters, stored_bytes, vocabulary, defaults, shortlist, packed, load,
  // and tensors: name, dtype, shape, bytes, min, max, nan (of the weights: integers by their
  // scales).
  nlohmann::ordered_json facts;
  // What keeps the model from being used, although its parts could be read.
  absl::Status status;
};

// An error: there is nothing to show.
absl::StatusOr<Inspection> Inspect(const std::string& path, const InspectOptions& options);

// The facts for people to read.
std::string InspectionText(const nlohmann::ordered_json& facts);

}  // namespace nibu

#endif  // NIBU_TOOLS_INSPECT_H_
