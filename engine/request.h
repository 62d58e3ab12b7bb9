// A Translator's requests and results.
#ifndef NIBU_ENGINE_REQUEST_H_
#define NIBU_ENGINE_REQUEST_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/search/decoding_options.h"
#include "engine/search/hypothesis.h"
#include "engine/search/search_plan.h"

namespace nibu::internal {

// A token of a hypothesis that has just been chosen.
struct Step {
  size_t hypothesis = 0;  // Which of the samples; 0 without sampling.
  size_t position = 0;    // Its place in the hypothesis, from 0.
  int token = 0;
  float log_prob = 0;    // 0 for a token of the prefix; without return_scores, the logit.
  bool is_last = false;  // The hypothesis ends with it.
};

// Called with each token that greedy search or sampling chooses, the prefix and the end included,
// on the thread that decodes, whose other sentences wait meanwhile. True, or an exception, ends the
// sentence: what there is becomes its result.
using OnStep = std::function<bool(const Step& step)>;

// A sentence to be translated. Its result depends on what stands here alone (but for priority and
// deadline), whatever is decoded at the same time.
struct Request {
  using Clock = std::chrono::steady_clock;

  std::vector<int> source = {};  // token ids without their frame, at least one
  // How it is decoded, worked out by the Translator's Plan. Requests that are decoded in the same
  // way share it. Null: Submit works `options` out for this request alone.
  std::shared_ptr<const SearchPlan> plan = nullptr;
  DecodingOptions options = {};  // counts only without a plan
  // At most so many generated tokens, the prefix included, even if the options allow more. 0: the
  // result is empty. nullopt: the options alone decide.
  std::optional<int> max_length = std::nullopt;
  // The beginning of the translation: part of the result, counted in L and the length limits, not
  // in S (see prefix_bias_beta, too).
  std::vector<int> target_prefix = {};
  // Phrases that the result must have, as far as it can: at most kMostConstraints. Needs a beam.
  std::vector<Constraint> constraints = {};
  // By token id, whether it goes on with the word in front of it: then what stands there is no
  // phrase of a constraint but part of another word. Null, or beyond its end: it does not.
  std::shared_ptr<const std::vector<bool>> word_parts = nullptr;
  // To be scored in place of a search: the only hypothesis. With an end token behind it, or
  // without. target_prefix plays no part then.
  std::optional<std::vector<int>> target = {};
  // The function that is told of tokens; it may be null. A request with one needs a beam and a
  // patience of 1, and has neither a target nor on_repetition nor alternatives.
  OnStep on_step = nullptr;
  // It continues a request that another Translator has answered, and is taken even if the queue is
  // full. Its caller bounds the number of such requests: see Translator::AwaitRoom.
  bool continues = false;
  int64_t priority = 0;  // higher ones are taken first; one that is being decoded goes on
  Clock::time_point deadline = Clock::time_point::max();  // it ends then, at whatever step
  // The caller's own (a line's number): handed back with the result; sampling depends on it.
  uint64_t key = 0;
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

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_REQUEST_H_
