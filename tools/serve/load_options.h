// The options of nibu-load.
#ifndef NIBU_TOOLS_SERVE_LOAD_OPTIONS_H_
#define NIBU_TOOLS_SERVE_LOAD_OPTIONS_H_

#include <string>

#include "absl/types/span.h"
#include "tools/text/options/option_table.h"

namespace nibu::internal {

// The values of nibu-load's flags; fields have the flags' names.
struct LoadOptions {
  std::string url = "http://127.0.0.1:5000";
  std::string src = "-";
  std::string source = "en";
  std::string target = "de";
  std::string format;
  int clients = 1;
  int requests = 0;
  int texts = 1;
  float rate = 0;
  float abandon = 0;
  int idle = 0;
  int slow = 0;
  bool health = false;
  std::string out;
};
absl::Span<const OptionRow> LoadOptionRows();

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_SERVE_LOAD_OPTIONS_H_
