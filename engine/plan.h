// Checks decoding options and requests against a model, and finds the facts about a model that a
// search needs.
#ifndef NIBU_ENGINE_PLAN_H_
#define NIBU_ENGINE_PLAN_H_

#include <cstdint>

#include "absl/status/status.h"
#include "engine/model/config.h"
#include "engine/request.h"
#include "engine/search/decoding_options.h"
#include "engine/search/search_plan.h"

namespace nibu::internal {

// Returns the tokens around a sentence: those of the options, or the model's own.
Frame FrameFor(const DecodingOptions& options, const ModelConfig& config);

// Checks options, and that the model has their token ids, the positions of their frame, and their
// layer and heads of attention. InvalidArgument: its message begins with the option's name.
absl::Status ValidateFor(const DecodingOptions& options, const ModelConfig& config);

// Returns what a search has to know of a model. `frame`: what FrameFor returns for the options.
// `positions`: the number of tokens that the decoder can generate behind the frame. `owner`: see
// SearchPlan::owner.
SearchModel SearchModelOf(const ModelConfig& config, Frame frame, int positions, uint64_t owner);

// The token ids and lengths that the requests of a translator may have.
struct TokenLimits {
  int vocab_source;
  int vocab_target;
  int max_source_length;  // without the frame
  int max_target_length;  // for Request::target
};

// Checks what a request has beside its plan, whose options these are. InvalidArgument says what is
// wrong.
absl::Status CheckRequest(const Request& request, const DecodingOptions& options,
                          const TokenLimits& limits);

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_PLAN_H_
