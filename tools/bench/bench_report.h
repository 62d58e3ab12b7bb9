// The figures of a run of nibu-bench, as JSON and as rows of a table.
#ifndef NIBU_TOOLS_BENCH_BENCH_REPORT_H_
#define NIBU_TOOLS_BENCH_BENCH_REPORT_H_

#include <optional>
#include <string>
#include <vector>

#include "tools/bench/bench_run.h"

namespace nibu::internal {

// Returns the model of the CPU as Linux names it, or an empty string.
std::string CpuName();

// Returns the value that a share `part` of the values does not exceed (nearest rank), or 0 if there
// are no values. REQUIRES: 0 <= part <= 1.
double Percentile(std::vector<double> values, double part);

// Returns the share of the run's time that its matmuls alone take, or nullopt if that cannot be
// told: the run is too short, or the matmuls took longer when they were replayed.
std::optional<double> FloorRatio(const BenchResult& result);
// Returns why there is no ratio, for the user; empty if there is one.
std::string WhyNoFloorRatio(const BenchResult& result);

// Returns a JSON object, without a line end: the workload, with everything in which two runs may
// differ, and the figures. The member `search` has the options of search that differ from nibu's
// own defaults.
std::string BenchJson(const BenchResult& result);

// The tables, which have different columns.
enum class BenchTable : char {
  kSpeed = 's',    // throughput, latency and memory
  kTime = 't',     // the time of each part, and how near the run is to its limits
  kQuality = 'q',  // BLEU and chrF beside speed and memory
  kLengths = 'l',  // the cost of a token at each length
};

// Return the two lines above a table, and the table's line for a run, line ends included.
// REQUIRES: with kQuality, the run has a quality.
std::string BenchTableHead(BenchTable table);
std::string BenchTableRow(BenchTable table, const BenchResult& result);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_BENCH_BENCH_REPORT_H_
