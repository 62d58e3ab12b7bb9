// The options of nibu-inspect and nibu-inspect attention that no other program has.
#ifndef NIBU_TOOLS_INSPECT_INSPECT_OPTIONS_H_
#define NIBU_TOOLS_INSPECT_INSPECT_OPTIONS_H_

#include <optional>
#include <string>

#include "absl/types/span.h"
#include "tools/text/options/option_table.h"

namespace nibu::internal {

struct InspectOptions {
  bool tensors = true;
  bool json = false;
  std::optional<std::string> target;
  std::string html;
  bool ascii = false;
  std::optional<int> layer;
  std::optional<int> head;
};
absl::Span<const OptionRow> InspectOptionRows();

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_INSPECT_INSPECT_OPTIONS_H_
