// Reads the file of --config=FILE, which sets options.
#ifndef NIBU_TOOLS_CLI_CONFIG_FILE_H_
#define NIBU_TOOLS_CLI_CONFIG_FILE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace nibu::internal {

// A key of a configuration file and its value as it is written, without quotes; a list has commas
// between its elements.
struct ConfigEntry {
  std::string name;
  std::string value;
  std::string place;                  // "FILE: line 3", for messages
  std::vector<std::string> elements;  // the elements of a list
};

// Returns the entries of a YAML file, which is a map from names of options to values. Returns an
// error that names the file if it cannot be read, is not YAML, or has a value that is a map or
// null.
absl::StatusOr<std::vector<ConfigEntry>> ReadConfigEntries(const std::string& path);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_CLI_CONFIG_FILE_H_
