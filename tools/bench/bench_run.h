// The work of nibu-bench: measures a model with many settings, and formats the results.
#ifndef NIBU_TOOLS_BENCH_BENCH_RUN_H_
#define NIBU_TOOLS_BENCH_BENCH_RUN_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/translator.h"
#include "tools/bench/bench_options.h"
#include "tools/cli/flags.h"
#include "tools/text/model/model_parts.h"

namespace nibu::internal {

// The settings that stay the same through a sweep.
struct BenchWorkload {
  std::vector<std::string> models;  // a result of FindModels, or a model's shape
  bool is_shape = false;            // a shape (configs/*.json), for which weights are made
  std::string src;                  // a file with a segment in each line; empty: random token ids
  int sentences = 256;              // number of random sources
  int output_length = 0;            // tokens of each output; 0: up to the EOS
  int repeat = 1;                   // number of measured runs; the fastest counts
};

// The settings of one run of a sweep.
struct BenchSettings {
  ModelOptions loading;  // differs between runs in its compute type alone
  ComputeType compute_type = ComputeType::kFloat32;  // what that means on this CPU
  Options text;
  DecodingOptions decoding;  // as in `text`, over the model's defaults
  TranslatorOptions translator;
  int source_length = 0;  // tokens of each random source; 0: 12 to 47
};

struct BenchResult {
  std::string model;
  BenchSettings settings;
  size_t sentences = 0;
  int64_t source_tokens = 0;
  int64_t target_tokens = 0;  // sum over the best hypotheses
  double seconds = 0;         // time of the whole run, from text to text
  double tokenizer_seconds = 0;
  double text_seconds = 0;  // time to make text of the results, summed over threads
  double load_seconds = 0;
  // The most memory that this process held while the model was loaded or the run went on. If the
  // system cannot reset this mark (Linux can), it is the most since the process started.
  int64_t peak_rss_bytes = 0;
  size_t weight_bytes = 0;
  Translator::Measurement measurement;
  double matmul_seconds = 0;        // matrix products of the worker for which they took longest
  size_t matmul_calls = 0;          // number of matrix products of all workers
  size_t own_matmul_calls = 0;      // number of these that our own kernels made
  double matmul_floor_seconds = 0;  // see MatmulFloor
};

// Measures one run after another. The model is loaded again if a run has another compute type than
// the run before, so runs of one type should follow each other. Workers, caches and matmul
// primitives are new for each run, which first does all the work once to warm up. Not thread-safe.
class Bench {
 public:
  explicit Bench(const BenchWorkload& workload) : workload_(workload) {}

  // Measures a run. Returns the errors of the model and the text, and InvalidArgument if lengths
  // are beyond the model's positions.
  absl::StatusOr<BenchResult> Run(const BenchSettings& settings);

 private:
  absl::Status Load(const ModelOptions& loading);
  absl::Status ReadText();
  absl::Status CheckLengths(const BenchSettings& settings) const;

  const BenchWorkload workload_;
  std::vector<std::string> lines_;           // the lines of workload_.src
  std::shared_ptr<const ModelParts> model_;  // null until one is loaded
  double load_seconds_ = 0;
  int64_t load_peak_bytes_ = 0;
};

// Returns `sentences` sources of `length` random tokens each (0: of 12 to 47), with ids below
// `vocabulary`. They are the same at every call.
std::vector<std::vector<int>> RandomSources(int sentences, int length, int vocabulary);

// Returns the value that a share `part` of the values does not exceed (nearest rank), or 0 if there
// are no values. REQUIRES: 0 <= part <= 1.
double Percentile(std::vector<double> values, double part);

// Returns the share of the run's time that its matmuls alone take, or nullopt if the run is too
// short to tell, since the matmuls took longer when they were replayed.
std::optional<double> FloorRatio(const BenchResult& result);

// Returns a JSON object, without a line end: `model`, `compute_type`, `isa`, `threads`,
// `beam_size`, `batch_size` (0: chosen by the engine), `sentences`, ...
std::string BenchJson(const BenchResult& result);

// Return the two lines above a table, and the table's line for a run, line ends included. Times of
// the profile are shown as shares of the threads' time.
std::string BenchTableHead();
std::string BenchTableRow(const BenchResult& result);

// Runs nibu-bench attention, which measures the mechanisms of engine/attention/mixer_spec.h at
// several lengths. The first argument is "attention".
absl::Status BenchAttention(int argc, char** argv);
// Returns the description of nibu-bench attention with its options.
ProgramInfo BenchAttentionProgram(BenchOptions* bench, ModelOptions* model);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_BENCH_BENCH_RUN_H_
