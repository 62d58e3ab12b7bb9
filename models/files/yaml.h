// The part of YAML that Marian's configuration and vocabulary files are written in:
//
//   block mappings and sequences, told apart by indentation; plain, 'single' and "double" quoted
//   scalars on one line; flow sequences [a, "b", 3] of scalars; {} ; comments; a leading ---
//   or a JSON document, which is YAML too
//
// Anchors, aliases, tags, block scalars, other flow mappings, ? keys and several documents are
// refused.
#ifndef NIBU_MODELS_FILES_YAML_H_
#define NIBU_MODELS_FILES_YAML_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"

namespace nibu {

// The document with JSON's types: plain scalars that look like null, booleans or numbers become
// such, keys are always text. InvalidArgument naming file and line.
absl::StatusOr<nlohmann::json> ParseYaml(absl::string_view text, const std::string& file);

}  // namespace nibu

#endif  // NIBU_MODELS_FILES_YAML_H_
