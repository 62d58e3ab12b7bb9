// How a translation is printed.
#ifndef NIBU_TOOLS_CLI_OUTPUT_FORMAT_H_
#define NIBU_TOOLS_CLI_OUTPUT_FORMAT_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "tools/text/text_options.h"

namespace nibu::internal {

enum class OutputFormat {
  kText,   // the best hypothesis, a line
  kNBest,  // "index ||| text ||| logprob= S ||| score", a line a hypothesis
  kJsonl,  // one JSON object a line
};

struct OutputOptions {
  OutputFormat format = OutputFormat::kText;
  bool print_scores = false;  // text: "score<TAB>text"
  // Behind " ||| " at the end of a line; in JSON as "alignment" and "attention".
  AlignmentKind alignment = AlignmentKind::kNone;
};

// The output of line `index`, its line ends included. Bytes of `source` that are not UTF-8 are
// replaced in JSON.
std::string FormatResult(const OutputOptions& options, uint64_t index, absl::string_view source,
                         const TextResult& result);

// The output of a scored line: its mean log-probability, or as JSON its tokens, too. Empty where
// there is no result.
std::string FormatScore(bool json, uint64_t index, const TextResult& result);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_CLI_OUTPUT_FORMAT_H_
