// How nibu-bench shows what it measured.
#ifndef NIBU_TOOLS_BENCH_REPORT_H_
#define NIBU_TOOLS_BENCH_REPORT_H_

#include <string>

#include "tools/bench_run.h"

namespace nibu {

// One JSON object, without a line end: `model`, `compute_type`, `isa`, `threads`, `beam_size`,
// `batch_size` (0: chosen by the engine), `sentences`, ...
std::string BenchJson(const BenchResult& result);

// The two lines above a table and a line of it for each run, line ends included. Of the profile the
// table shows the shares of the threads' time.
std::string BenchTableHead();
std::string BenchTableRow(const BenchResult& result);

}  // namespace nibu

#endif  // NIBU_TOOLS_BENCH_REPORT_H_
