// The options of nibu-bench and nibu-bench attention.
#ifndef NIBU_TOOLS_BENCH_BENCH_OPTIONS_H_
#define NIBU_TOOLS_BENCH_BENCH_OPTIONS_H_

#include <string>

#include "absl/types/span.h"
#include "tools/text/options/option_table.h"

namespace nibu::internal {

struct BenchOptions {
  std::string config;
  bool random_weights = false;
  std::string src;
  int sentences = 256;
  int source_length = 0;
  int output_length = 0;
  int lengths = 1024;
  std::string mechanisms;
  bool encoder = false;
  bool cross = false;
  int repeat = 1;
  bool json = false;
};
absl::Span<const OptionRow> BenchOptionRows();

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_BENCH_BENCH_OPTIONS_H_
