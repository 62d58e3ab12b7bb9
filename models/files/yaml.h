// Reads YAML files with yaml-cpp, as Marian does; nothing in them is trusted.
#ifndef NIBU_MODELS_FILES_YAML_H_
#define NIBU_MODELS_FILES_YAML_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"

namespace nibu::internal {

// Reads the one document of a text into JSON's types. Plain scalars that look like null, booleans
// or numbers become such; keys are always text. InvalidArgument naming file and line: it is not
// YAML, a key is there twice, or it has something that no model's file has: anchors, aliases, tags,
// several documents, nesting deeper than 32, a value of more than 64 KB, more than 16 MB.
absl::StatusOr<nlohmann::json> ParseYaml(absl::string_view text, const std::string& file);

// Does the same, but leaves all scalars except null as text, and sets the line, counted from 1, in
// which each key of the outermost map stands.
absl::StatusOr<nlohmann::json> ParseYamlText(absl::string_view text, const std::string& file,
                                             std::map<std::string, int>* lines);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_FILES_YAML_H_
