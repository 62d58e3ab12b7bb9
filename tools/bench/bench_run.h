// Measures a model in many ways to run it, and formats the results: the work of nibu-bench.
#ifndef NIBU_TOOLS_BENCH_BENCH_RUN_H_
#define NIBU_TOOLS_BENCH_BENCH_RUN_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/translator.h"
#include "tools/bench/bench_options.h"
#include "tools/cli/flags.h"
#include "tools/cli/model_flags.h"
#include "tools/text/text_model.h"
#include "tools/text/text_options.h"

namespace nibu::internal {

// The settings that stay the same through a sweep.
struct BenchWorkload {
  ModelFlags model;
  TextOptions text;       // languages and lengths
  std::string src;        // text, a segment a line; empty: random token ids
  int sentences = 256;    // random sources
  int output_length = 0;  // tokens of each output; 0: up to the EOS
  int repeat = 1;         // measured runs; the fastest counts
};

// One run of a sweep.
struct BenchSettings {
  ComputeType compute_type = ComputeType::kFloat32;
  DecodingOptions decoding;
  TranslatorOptions translator;
  int source_length = 0;  // tokens of each random source; 0: 12 to 47
};

struct BenchResult {
  std::string model;
  BenchSettings settings;
  size_t sentences = 0;
  int64_t source_tokens = 0;
  int64_t target_tokens = 0;  // of the best hypotheses
  double seconds = 0;         // of the whole run, text to text
  double tokenizer_seconds = 0;
  double text_seconds = 0;  // of making text of the results
  double load_seconds = 0;
  // The most this process held while the model was loaded or the run went on. It is as if the run
  // had been the only one where the system lets the mark be reset (Linux does), else the most since
  // the process started.
  int64_t peak_rss_bytes = 0;
  size_t weight_bytes = 0;
  Translator::Measurement measurement;
  double matmul_seconds = 0;        // of the worker whose matrix products took the most time
  size_t matmul_calls = 0;          // matrix products of all workers
  size_t own_matmul_calls = 0;      // those of them that our own kernels made
  double matmul_floor_seconds = 0;  // see MatmulFloor
};

// Measures one run after another. A model is loaded when a run's compute type is not that of the
// run before, so runs of one type belong side by side; workers, caches and matmul primitives are
// fresh for each run, which does all the work once to warm up. Not thread-safe.
class Bench {
 public:
  explicit Bench(const BenchWorkload& workload) : workload_(workload) {}

  // Errors of the model and the text; InvalidArgument: lengths beyond the model's positions.
  absl::StatusOr<BenchResult> Run(const BenchSettings& settings);

 private:
  absl::Status Load(ComputeType compute_type);
  absl::Status ReadText();
  absl::Status CheckLengths(const BenchSettings& settings) const;

  const BenchWorkload workload_;
  std::vector<std::string> lines_;  // of workload_.src
  TextModel model_;                 // no model: none yet
  double load_seconds_ = 0;
  int64_t load_peak_bytes_ = 0;
};

// `sentences` sources of `length` tokens below `vocabulary` each (0: 12 to 47), the same at every
// call.
std::vector<std::vector<int>> RandomSources(int sentences, int length, int vocabulary);

// The value that a share `part` of the values does not exceed (nearest rank); 0 of none.
double Percentile(std::vector<double> values, double part);

// The part of the run's time that its matmuls alone take; nullopt: the run is too short to say,
// since they took longer when they were replayed.
std::optional<double> FloorRatio(const BenchResult& result);

// One JSON object, without a line end: `model`, `compute_type`, `isa`, `threads`, `beam_size`,
// `batch_size` (0: chosen by the engine), `sentences`, ...
std::string BenchJson(const BenchResult& result);

// The two lines above a table and a line of it for each run, line ends included. Of the profile the
// table shows the shares of the threads' time.
std::string BenchTableHead();
std::string BenchTableRow(const BenchResult& result);

// nibu-bench attention, what the mechanisms of engine/attention/mixer_spec.h cost at which length:
// the program, with "attention" as its first argument.
absl::Status BenchAttention(int argc, char** argv);
// Its description, with the options that it has.
ProgramInfo BenchAttentionProgram(BenchOptions* bench, ModelOptions* model);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_BENCH_BENCH_RUN_H_
