// YAML files, read by yaml-cpp (which Marian reads and writes them with) and without trust.
#ifndef NIBU_MODELS_FILES_YAML_H_
#define NIBU_MODELS_FILES_YAML_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"

namespace nibu::internal {

// The one document of a text with JSON's types: plain scalars that look like null, booleans or
// numbers become such, keys are always text. InvalidArgument naming file and line: not YAML, a key
// that is there twice, or what no model's file has: anchors, aliases, tags, several documents,
// nesting deeper than 32, a value of more than 64 KB, more than 16 MB.
absl::StatusOr<nlohmann::json> ParseYaml(absl::string_view text, const std::string& file);

// The same with all scalars but null as the text that they are written as, and with the line, from
// 1, in which each key of the outermost map stands.
absl::StatusOr<nlohmann::json> ParseYamlText(absl::string_view text, const std::string& file,
                                             std::map<std::string, int>* lines);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_FILES_YAML_H_
