// nibu-bench attention, which measures the mechanisms of engine/attention/mixer_spec.h.
#ifndef NIBU_TOOLS_BENCH_ATTENTION_BENCH_H_
#define NIBU_TOOLS_BENCH_ATTENTION_BENCH_H_

#include "absl/status/status.h"
#include "nibu/options.h"
#include "tools/bench/bench_options.h"
#include "tools/cli/flags.h"

namespace nibu::internal {

// Runs nibu-bench attention. The first argument is "attention".
absl::Status BenchAttention(int argc, char** argv);
// Returns the description of nibu-bench attention with its options.
ProgramInfo BenchAttentionProgram(BenchOptions* bench, ModelOptions* model);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_BENCH_ATTENTION_BENCH_H_
