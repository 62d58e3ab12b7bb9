// How a translation is printed.
#ifndef NIBU_TOOLS_CLI_OUTPUT_FORMAT_H_
#define NIBU_TOOLS_CLI_OUTPUT_FORMAT_H_

#include <cstdint>
#include <string>

#include "nibu/result.h"
#include "nibu/text.h"
#include "tools/cli/cli_options.h"

namespace nibu::internal {

struct OutputOptions {
  OutputFormat format = OutputFormat::kText;
  bool print_scores = false;  // text: "score<TAB>text"
  // Behind " ||| " at the end of a line; in JSON as "alignment" and "attention".
  AlignmentKind alignment = AlignmentKind::kNone;
};

// The output of the unit `index`, its line ends included. A unit without a result keeps its place:
// an empty line, or in a document its source.
std::string FormatResult(const OutputOptions& options, uint64_t index, const TextUnit& unit,
                         const nibu::Result& result);

// The output of a scored line: its mean log-probability, or as JSON its tokens, too. Empty where
// there is no result.
std::string FormatScore(bool json, uint64_t index, const nibu::Result& result);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_CLI_OUTPUT_FORMAT_H_
