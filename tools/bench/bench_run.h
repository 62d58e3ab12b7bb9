// The work of nibu-bench: measures a model with many settings.
#ifndef NIBU_TOOLS_BENCH_BENCH_RUN_H_
#define NIBU_TOOLS_BENCH_BENCH_RUN_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/translator.h"
#include "tools/bench/bleu.h"
#include "tools/bench/matmul_recorder.h"
#include "tools/text/model/model_parts.h"

namespace nibu::internal {

// The settings that stay the same through a sweep.
struct BenchWorkload {
  std::vector<std::string> models;  // a result of FindModels, or a model's shape
  bool is_shape = false;            // a shape (configs/*.json), for which weights are made
  // A text, a line each; empty: the sources are random token ids.
  TextLines lines = {};
  std::string source_file = {};    // the text's file, or "bundled"
  std::string source_sha256 = {};  // that of the lines, each with a line feed behind it
  int sentences = 256;             // number of random sources
  // Translations of the lines, to which those of a run are compared, their file and its checksum.
  std::vector<TextLines> references = {};
  std::string reference_file = {};
  std::string reference_sha256 = {};
  int repeat = 1;  // number of measured runs; the fastest counts
};

// The settings of one run of a sweep.
struct BenchSettings {
  ModelOptions loading;  // differs between runs in its compute type alone
  ComputeType compute_type = ComputeType::kFloat32;  // what that means; set by Bench::Run
  SpeedOptions speed;
  Options text;
  DecodingOptions decoding;  // as in `text`, over the model's defaults
  TranslatorOptions translator;
  int source_length = 0;  // tokens of each random source; 0: 12 to 47
  int output_length = 0;  // tokens of each output; 0: up to the end token
};

struct BenchResult {
  std::string model;
  BenchSettings settings;
  std::string source_file;  // empty: random sources
  std::string source_sha256;
  std::string reference_file;  // empty: none
  std::string reference_sha256;
  int repeat = 1;
  std::string encoder_attention;  // the mechanisms in effect
  std::string cross_attention;
  bool has_shortlist = false;
  size_t lines = 0;      // lines of the text, or random sources
  size_t sentences = 0;  // sentences that were translated, and pieces of long ones
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
  TextLines translations = {};  // a line each; none for random sources
  // The seconds that each line took from its submission to its result. The measurement's latencies
  // leave out the time in the queue.
  std::vector<double> line_latencies = {};
  Translator::Measurement measurement = {};
  double matmul_seconds = 0;        // matrix products of the worker for which they took longest
  size_t matmul_calls = 0;          // number of matrix products of all workers
  size_t own_matmul_calls = 0;      // number of these that our own kernels made
  double matmul_floor_seconds = 0;  // see MatmulFloor
  MachinePeak peak = {};
  double limit_seconds = 0;  // see MatmulRecorder::Limit; the worker for which it is longest
  // With references: the scores, and the share of the lines that equal those of the first run with
  // the same beam.
  std::optional<Quality> quality = {};
  double equal_lines = 1;
};

// Measures one run after another. The model is loaded again if a run has another compute type than
// the run before, so runs of one type should follow each other. Workers, caches and matmul
// primitives are new for each run, which first does all the work once to warm up. Not thread-safe.
class Bench {
 public:
  explicit Bench(BenchWorkload workload) : workload_(std::move(workload)) {}

  // Loads the model, and checks the lengths of all runs. Returns the errors of the model, and
  // InvalidArgument if lengths are beyond its positions. A model that is only a shape, whose
  // positions have no weights, gets as many as the runs need.
  absl::Status Begin(absl::Span<const BenchSettings> runs);
  // Measures a run. Returns the errors of the model and the text. REQUIRES: Begin was called.
  absl::StatusOr<BenchResult> Run(const BenchSettings& settings);

 private:
  absl::Status Load(const ModelOptions& loading);
  absl::Status CheckLengths(const BenchSettings& settings) const;
  // Measures how near the run is to what the machine can do at most.
  absl::Status CompareWithLimit(const std::vector<MatmulRecorder>& products,
                                const TranslatorOptions& options, BenchResult* result);
  // Compares the run's translations with the references and with those of the first run with this
  // beam.
  absl::Status Score(BenchResult* result);
  // Sets what the result says of its workload.
  void Describe(const BenchSettings& settings, BenchResult* result) const;

  const BenchWorkload workload_;
  std::shared_ptr<ModelParts> model_;       // null until one is loaded
  nibu::ComputeType loaded_as_{};           // as it was asked for
  std::optional<float> max_length_factor_;  // the model's default
  double load_seconds_ = 0;
  int64_t load_peak_bytes_ = 0;
  // The peaks that were measured, by compute type, kernels, threads and bytes.
  std::map<std::tuple<ComputeType, MatmulKernels, int, size_t>, MachinePeak> peaks_;
  std::map<int, TextLines> first_;  // the translations of the first run, by beam size
  int longest_ = 0;                 // the most tokens of a random source or its output
};

// Returns `sentences` sources of `length` random tokens each (0: of 12 to 47), with ids below
// `vocabulary`. They are the same at every call.
std::vector<std::vector<int>> RandomSources(int sentences, int length, int vocabulary);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_BENCH_BENCH_RUN_H_
