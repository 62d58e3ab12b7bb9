// What a Translator is asked, and what it answers.
#ifndef NIBU_ENGINE_REQUEST_H_
#define NIBU_ENGINE_REQUEST_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/model/config.h"
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

  // Positions of the source that are not its text.
  int source_extra() const { return static_cast<int>(source_prefix.size() + source_suffix.size()); }
  // Positions of the decoder before the first generated token's.
  int target_extra() const { return static_cast<int>(decoder_start.size()) - 1; }
};

struct DecodingOptions {
  int beam_size = 4;
  float patience = 1.0f;  // see SearchOptions
  int num_hypotheses = 1;
  float length_penalty = 1.0f;
  // In generated tokens. EOS has probability 0 in the first min_decoding_length steps; at step
  // max_decoding_length (never more than the model and the Translator have positions for) a
  // sentence is cut.
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

  // InvalidArgument whose message begins with the option's name (beam_size < 1, num_hypotheses >
  // beam_size * patience, ...).
  absl::Status Validate() const;
  // The same, with what the model has to do with it: the frame.
  absl::Status ValidateFor(const ModelConfig& config) const;

  Frame FrameFor(const ModelConfig& config) const {
    return frame.value_or(Frame{{}, config.source_suffix, {config.decoder_start}});
  }
};

// A sentence to be translated. Its result depends on `source` and `options` alone, whatever is
// decoded at the same time.
struct Request {
  using Clock = std::chrono::steady_clock;

  std::vector<int> source = {};  // token ids without their frame, at least one
  DecodingOptions options = {};
  int priority = 0;  // higher ones are taken first; one that is being decoded goes on
  Clock::time_point deadline = Clock::time_point::max();  // it ends then, at whatever step
  uint64_t key = 0;  // the caller's own (a line's number); handed back with the result
};

// Hypotheses, best first; or why there are none: Cancelled, DeadlineExceeded, ResourceExhausted (no
// memory for this sentence), Internal (a kernel failed).
using Result = absl::StatusOr<std::vector<Hypothesis>>;

// Called once with a request's key and result. Must not block for long (results wait behind it);
// what it throws is dropped.
using Done = std::function<void(uint64_t key, Result result)>;

// A request on its way, for Translator::Cancel.
struct Job;
using Ticket = std::weak_ptr<Job>;

}  // namespace nibu

#endif  // NIBU_ENGINE_REQUEST_H_
