// Token ids in, hypotheses out: schedules sentences over worker threads.
#ifndef NIBU_ENGINE_TRANSLATOR_H_
#define NIBU_ENGINE_TRANSLATOR_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/core/profile.h"
#include "engine/model/weights.h"
#include "engine/ops/linear.h"
#include "engine/search/beam_search.h"
#include "engine/search/shortlist.h"

namespace nibu {

// The tokens that belong to every sentence without being its text.
struct Frame {
  std::vector<int> source_prefix;
  std::vector<int> source_suffix;
  // What the decoder is given before it generates, at least one (-1: a zero vector). In neither the
  // result nor its score.
  std::vector<int> decoder_start;
};

struct DecodingOptions {
  int beam_size = 4;
  float patience = 1.0f;  // see SearchOptions
  int num_hypotheses = 1;
  float length_penalty = 1.0f;
  // In generated tokens. EOS has probability 0 in the first min_decoding_length steps; at step
  // max_decoding_length (never more than the model's positions) a sentence is cut.
  int min_decoding_length = 1;
  int max_decoding_length = 256;
  // Above 0: a sentence is cut at this many generated tokens a source token (EOS counted in both),
  // too.
  float max_length_factor = 0;
  // Narrows the output layer to the tokens that are worth it for each source. Null: all tokens.
  std::shared_ptr<const Shortlist> shortlist;
  // false: scores may be left 0, which spares greedy search the log-softmax.
  bool return_scores = true;
  // In place of the model's source_suffix and decoder_start: a multilingual model's languages.
  std::optional<Frame> frame;

  // InvalidArgument naming the option (beam_size < 1, num_hypotheses > beam_size * patience, ...).
  absl::Status Validate() const;
};

enum class BatchType : uint8_t { kExamples, kTokens };

struct TranslatorOptions {
  int threads = 1;
  // Sentences (or source tokens) that a worker decodes together. 0: chosen for speed. Never changes
  // a result.
  int batch_size = 0;
  BatchType batch_type = BatchType::kExamples;
  // Longest source that will be submitted, its frame not counted (and never more than the model's
  // positions allow).
  int max_source_length = 1024;
  // A smaller model of the same vocabularies, for speed alone: see Drafter. It takes the source's
  // frame from the model; its decoder starts in its own way unless DecodingOptions have a frame. A
  // worker uses it while it has a single sentence. beam_size must be 1. Null: none.
  std::shared_ptr<const Model> draft;

  // InvalidArgument naming the option.
  absl::Status Validate() const;
};

// Thread-safe.
class Translator {
 public:
  using Done = std::function<void(std::vector<Hypothesis>)>;

  static absl::StatusOr<std::unique_ptr<Translator>> Create(std::shared_ptr<const Model> model,
                                                            const DecodingOptions& decoding,
                                                            const TranslatorOptions& options);
  // Finishes everything that was submitted.
  ~Translator();

  // Queues a sentence and returns at once. `source`: token ids without their frame (added
  // here), at least one, at most max_source_length(). `done` is called exactly once, from a
  // worker thread, best hypothesis first; it must be quick and must not call the Translator.
  // Waiting sentences are taken longest first within windows of arrival, so that workers end
  // together. A result depends on the sentence and the DecodingOptions alone.
  void Submit(std::vector<int> source, Done done);

  // Submits all and waits for all; results in order. An empty sentence gives one empty hypothesis.
  std::vector<std::vector<Hypothesis>> Translate(const std::vector<std::vector<int>>& sources);

  // Longest source that may be submitted, its frame not counted: options.max_source_length or
  // what the model's positions allow.
  int max_source_length() const;
  const Model& model() const;

  // For benchmarks: what happened between the two calls. Call both when nothing is in flight.
  struct Measurement {
    Profile profile;                // summed over the workers
    std::vector<double> latencies;  // seconds from leaving the queue to the end, one a sentence
    std::vector<std::shared_ptr<const MatmulTrace>> traces;  // one a worker, for MatmulFloor
  };
  void StartMeasuring();
  Measurement FinishMeasuring();
  // The matmul floor: seconds to run exactly the matmuls with weights of one of this translator's
  // measurements once more, the workers side by side, nothing between the calls. Ends the workers:
  // submit nothing after it.
  double MatmulFloor(const Measurement& measurement);

 private:
  class Impl;
  explicit Translator(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace nibu

#endif  // NIBU_ENGINE_TRANSLATOR_H_
