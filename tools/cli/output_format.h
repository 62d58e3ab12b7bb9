// Formats translations and scores for output.
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
  // The alignment stands behind " ||| " at the end of a line, and in JSON as "alignment" and
  // "attention".
  AlignmentKind alignment = AlignmentKind::kNone;
};

// Returns the output of the unit `index`, its line ends included. A unit without a result gives an
// empty line, or in a document its source.
std::string FormatResult(const OutputOptions& options, uint64_t index, const TextUnit& unit,
                         const nibu::Result& result);

// Returns the output of a scored line: its mean log-probability, or JSON with its tokens, too. The
// line is empty if there is no result.
std::string FormatScore(bool json, uint64_t index, const nibu::Result& result);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_CLI_OUTPUT_FORMAT_H_
