// Options from a YAML file.

#include "tools/cli/config_file.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "models/files/file_bytes.h"
#include "models/files/yaml.h"

namespace nibu::internal {
namespace {

// "FILE: line N" of the line that begins with the key, or "FILE" where none does (a map in braces
// on one line).
std::string PlaceOf(const std::string& path, absl::string_view text, absl::string_view key) {
  size_t number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    if (number == 1) absl::ConsumePrefix(&line, "\xef\xbb\xbf");
    line = absl::StripLeadingAsciiWhitespace(line);
    const bool is_quoted = absl::ConsumePrefix(&line, "\"") || absl::ConsumePrefix(&line, "'");
    if (!absl::ConsumePrefix(&line, key)) continue;
    if (is_quoted) line.remove_prefix(line.empty() ? 0 : 1);
    if (absl::StartsWith(absl::StripLeadingAsciiWhitespace(line), ":")) {
      return absl::StrCat(path, ": line ", number);
    }
  }
  return path;
}

// A scalar as text; false: it is none.
bool ScalarText(const nlohmann::json& value, std::string* text) {
  if (value.is_string()) {
    *text = value.get<std::string>();
  } else if (value.is_boolean() || value.is_number()) {
    *text = value.dump();
  }
  return value.is_string() || value.is_boolean() || value.is_number();
}

}  // namespace

absl::StatusOr<std::vector<ConfigEntry>> ReadConfigEntries(const std::string& path) {
  NIBU_ASSIGN_OR_RETURN(const auto file, FileBytes::Open(path));
  NIBU_ASSIGN_OR_RETURN(const nlohmann::json root, ParseYaml(file->bytes(), path));
  std::vector<ConfigEntry> entries;
  if (root.is_null()) return entries;
  if (!root.is_object()) {
    return Invalid(path, ": must be a map from names of options to values, as in beam_size: 4");
  }
  for (const auto& [key, value] : root.items()) {
    ConfigEntry entry = {key, "", PlaceOf(path, file->bytes(), key)};
    bool is_valid = ScalarText(value, &entry.value);
    if (value.is_array()) {
      std::vector<std::string> texts(value.size());
      is_valid = true;
      for (size_t i = 0; i < value.size(); ++i) is_valid &= ScalarText(value[i], &texts[i]);
      entry.value = absl::StrJoin(texts, ",");
    }
    if (!is_valid) {
      return Invalid(entry.place, ": ", key, " must be a value or a list of values");
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace nibu::internal
