// The options of nibu-bench and its commands.
#ifndef NIBU_TOOLS_BENCH_BENCH_OPTIONS_H_
#define NIBU_TOOLS_BENCH_BENCH_OPTIONS_H_

#include <string>

#include "absl/types/span.h"
#include "tools/text/options/option_table.h"

namespace nibu::internal {

// The lengths that nibu-bench attention measures unless --lengths names others.
inline constexpr char kDefaultAttentionLengths[] = "1024";

struct BenchOptions {
  std::string config;
  bool random_weights = false;
  std::string src;
  std::string ref;
  int sentences = 0;
  int source_length = 0;
  int output_length = 0;
  int lengths = 0;  // 0: not given
  std::string mechanisms;
  bool encoder = false;
  bool cross = false;
  int repeat = 1;
  bool json = false;
  AutoBool progress;
};
absl::Span<const OptionRow> BenchOptionRows();

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_BENCH_BENCH_OPTIONS_H_
