// Reads options from a YAML file.

#include "tools/cli/config_file.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "models/files/file_bytes.h"
#include "models/files/yaml.h"

namespace nibu::internal {
namespace {

// Writes a scalar as text. Returns false if the value is not a scalar.
bool ScalarText(const nlohmann::json& value, std::string* text) {
  if (value.is_string()) *text = value.get<std::string>();
  return value.is_string();
}

}  // namespace

absl::StatusOr<std::vector<ConfigEntry>> ReadConfigEntries(const std::string& path) {
  NIBU_ASSIGN_OR_RETURN(const auto file, FileBytes::Open(path));
  std::map<std::string, int> lines;
  NIBU_ASSIGN_OR_RETURN(const nlohmann::json root, ParseYamlText(file->bytes(), path, &lines));
  std::vector<ConfigEntry> entries;
  if (root.is_null()) return entries;
  if (!root.is_object()) {
    return Invalid(path, ": must be a map from names of options to values, as in beam_size: 4");
  }
  for (const auto& [key, value] : root.items()) {
    ConfigEntry entry = {key, "", absl::StrCat(path, ": line ", lines[key]), {}};
    bool is_valid = ScalarText(value, &entry.value);
    if (value.is_array()) {
      entry.elements.resize(value.size());
      is_valid = true;
      for (size_t i = 0; i < value.size(); ++i)
        is_valid &= ScalarText(value[i], &entry.elements[i]);
      entry.value = absl::StrJoin(entry.elements, ",");
    }
    if (!is_valid) {
      return Invalid(entry.place, ": ", key, " must be a value or a list of values");
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace nibu::internal
