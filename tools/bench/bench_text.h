// The text that a benchmark translates.
#ifndef NIBU_TOOLS_BENCH_BENCH_TEXT_H_
#define NIBU_TOOLS_BENCH_BENCH_TEXT_H_

#include "absl/status/status.h"
#include "tools/bench/bench_options.h"
#include "tools/bench/bench_run.h"

namespace nibu::internal {

// The name of the text that comes with nibu-bench (bundled_text.txt), in place of a file's.
inline constexpr char kBundledText[] = "bundled";

// Sets the lines of --src, or of the bundled text, and their references, as far as --sentences asks
// for them. Returns the errors of the files, and InvalidArgument if there is no text, or if the
// references have other lines.
absl::Status ReadBenchText(const BenchOptions& bench, BenchWorkload* workload);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_BENCH_BENCH_TEXT_H_
