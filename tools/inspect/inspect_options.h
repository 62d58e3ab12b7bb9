// The options of nibu-inspect and nibu-inspect attention that no other program has.
#ifndef NIBU_TOOLS_INSPECT_INSPECT_OPTIONS_H_
#define NIBU_TOOLS_INSPECT_INSPECT_OPTIONS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "tools/inspect/attention_numbers.h"
#include "tools/text/options/option_table.h"

namespace nibu::internal {

struct InspectOptions {
  bool tensors = true;
  bool json = false;
  std::optional<std::string> target;
  std::string html;
  bool ascii = false;
  std::string compare;  // the last one; FlagValues has all
  AttentionKind kind = AttentionKind::kCross;
  std::optional<int> layer;
  std::optional<int> head;
  std::vector<float> kernel = {0.25f, 0.5f, 0.25f};
  std::vector<float> alpha = {0.25f, 0.5f, 1, 2, 4, 8, 16};
};
absl::Span<const OptionRow> InspectOptionRows();

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_INSPECT_INSPECT_OPTIONS_H_
