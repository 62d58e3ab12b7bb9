// nibu-bench attention: what the mechanisms of engine/attention/mixer.h cost at which length.
#ifndef NIBU_TOOLS_ATTENTION_BENCH_H_
#define NIBU_TOOLS_ATTENTION_BENCH_H_

#include "absl/status/status.h"

namespace nibu {

// The program, with "attention" as its first argument.
absl::Status BenchAttention(int argc, char** argv);

}  // namespace nibu

#endif  // NIBU_TOOLS_ATTENTION_BENCH_H_
