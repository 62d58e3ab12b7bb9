// The options of the programs that turn text into lines: files, formats and reports.
#ifndef NIBU_TOOLS_CLI_CLI_OPTIONS_H_
#define NIBU_TOOLS_CLI_CLI_OPTIONS_H_

#include <string>

#include "absl/types/span.h"
#include "tools/text/options/option_table.h"

namespace nibu::internal {

enum class OutputFormat {
  kText,   // a line with the best hypothesis
  kJsonl,  // a JSON object on one line
  kNBest,  // "index ||| text ||| logprob= S ||| score" on a line for each hypothesis
};

// The form of the input's lines.
enum class InputFormat {
  kText,   // text
  kJsonl,  // a JSON object with a text, and options for it
};

// The options; not all programs have all of them.
struct CliOptions {
  std::string model;  // empty: the bundled model
  std::string config;
  std::string src = "-";
  std::string tgt;
  std::string shard;  // "K/N"; empty: the whole input
  bool tsv = false;
  InputFormat input_format = InputFormat::kText;
  int tsv_column = 0;  // from 1; 0: the input is not TSV
  std::string target_prefix;
  std::string glossary;
  std::string language = "en";
  std::string out = "-";
  bool resume = false;
  OutputFormat output_format = OutputFormat::kText;
  bool json = false;
  bool print_scores = false;
  AutoBool progress;
  bool stats = false;
  bool warnings = false;
};
absl::Span<const OptionRow> CliOptionRows();

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_CLI_CLI_OPTIONS_H_
