// Requests to a Translator, and their results.
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
  size_t hypothesis = 0;  // The number of the sample; 0 without sampling.
  size_t position = 0;    // Its place in the hypothesis, from 0.
  int token = 0;
  float log_prob = 0;    // 0 for a token of the prefix; without return_scores, the logit.
  bool is_last = false;  // The hypothesis ends with it.
};

// A function that is called with each token that greedy search or sampling chooses, the prefix and
// the end included. It runs on the thread that decodes, whose other sentences wait meanwhile. If it
// returns true or throws, the sentence ends: the tokens that it has become its result.
using OnStep = std::function<bool(const Step& step)>;

// A sentence to be translated. Its result depends on nothing but the fields here, priority and
// deadline excepted, whatever is decoded at the same time.
struct Request {
  using Clock = std::chrono::steady_clock;

  std::vector<int> source = {};  // token ids without their frame, at least one
  // The way in which the sentence is decoded, as worked out by Translator::Plan. Requests that are
  // decoded in the same way share a plan. Null: Submit works `options` out for this request alone.
  std::shared_ptr<const SearchPlan> plan = nullptr;
  DecodingOptions options = {};  // read only if there is no plan
  // The most generated tokens, the prefix included; the options may allow fewer. 0: the result is
  // empty. nullopt: the options alone decide.
  std::optional<int> max_length = std::nullopt;
  // The beginning of the translation. It is part of the result and counts in L and the length
  // limits, but not in S. With DecodingOptions::prefix_bias_beta, it is only favoured.
  std::vector<int> target_prefix = {};
  // Phrases that the result must have, as far as possible: at most kMostConstraints. They need a
  // beam.
  std::vector<Constraint> constraints = {};
  // Says of each token id whether the token continues the word in front of it. If it does, what
  // stands there is not a phrase of a constraint, but part of another word. Null, or an id beyond
  // its end: the token does not.
  std::shared_ptr<const std::vector<bool>> word_parts = nullptr;
  // A translation to be scored in place of a search, with an end token or without; it is the only
  // hypothesis of the result. target_prefix is ignored then.
  std::optional<std::vector<int>> target = {};
  // The function that is told of tokens; it may be null. A request with one needs a beam and a
  // patience of 1, and has neither a target nor on_repetition nor alternatives.
  OnStep on_step = nullptr;
  // The request continues one that another Translator has answered, and is taken even if the queue
  // is full. The caller bounds the number of such requests: see Translator::AwaitRoom.
  bool continues = false;
  // Requests of higher priority are taken first. It does not interrupt those that are decoded.
  int64_t priority = 0;
  // After this time, the request ends with DeadlineExceeded, before its next step at the latest.
  Clock::time_point deadline = Clock::time_point::max();
  // A number of the caller's own, such as that of a line. It comes back with the result, and the
  // noise of sampling depends on it.
  uint64_t key = 0;
};

// Hypotheses, best first, or the reason why there are none: Cancelled, DeadlineExceeded,
// ResourceExhausted (no memory for this sentence), Internal (a kernel failed).
using Result = absl::StatusOr<std::vector<Hypothesis>>;

// A function that is called once with a request's key and result. It must not block for long, since
// other results wait behind it. What it throws is dropped.
using Done = std::function<void(uint64_t key, Result result)>;

// Names a request that has been submitted, for Translator::Cancel.
struct Job;
using Ticket = std::weak_ptr<Job>;

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_REQUEST_H_
