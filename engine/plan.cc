// Checks of decoding options and requests against a model.
#include "engine/plan.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "engine/core/check_range.h"
#include "engine/core/status_macros.h"

namespace nibu::internal {
namespace {

// Checks the length of a list of tokens and its ids.
absl::Status CheckTokens(absl::string_view what, absl::Span<const int> ids, int shortest,
                         int longest, int vocabulary) {
  if (ids.size() < static_cast<size_t>(shortest) ||
      ids.size() > static_cast<size_t>(std::max(longest, 0))) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, " has ", ids.size(), " tokens, expected ", shortest, " to ", longest));
  }
  return CheckIds(what, ids, 0, vocabulary - 1, "the token ");
}

absl::Status CheckOnStep(const Request& request, const DecodingOptions& options) {
  if (request.on_step == nullptr) return absl::OkStatus();
  if (options.beam_size == 1 && options.patience == 1 && !options.return_alternatives &&
      options.on_repetition == OnRepetition::kKeep && !request.target.has_value()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      "on_step needs a beam_size of 1 and a patience of 1, and neither a target, "
      "return_alternatives nor on_repetition=retry");
}

absl::Status CheckConstraints(const Request& request, const DecodingOptions& options,
                              int vocabulary) {
  if (request.constraints.empty()) return absl::OkStatus();
  NIBU_RETURN_IF_ERROR(
      CheckRange<size_t>("constraints", request.constraints.size(), 0, kMostConstraints));
  if (!options.allow_constraints()) {
    return absl::InvalidArgumentError(
        "constraints need a beam_size above 1, and neither samples, return_alternatives nor "
        "prefix_bias_beta");
  }
  for (const Constraint& constraint : request.constraints) {
    if (constraint.empty()) return absl::InvalidArgumentError("constraints have an empty one");
    for (const std::vector<int>& phrase : constraint) {
      NIBU_RETURN_IF_ERROR(
          CheckTokens("constraints", phrase, 1, std::numeric_limits<int>::max(), vocabulary));
    }
  }
  return absl::OkStatus();
}

}  // namespace

Frame FrameFor(const DecodingOptions& options, const ModelConfig& config) {
  return options.frame.value_or(Frame{{}, config.source_suffix, {config.decoder_start}});
}

absl::Status ValidateFor(const DecodingOptions& options, const ModelConfig& config) {
  NIBU_RETURN_IF_ERROR(options.Validate());
  const Frame whole = FrameFor(options, config);
  const int source = config.vocab_source - 1;  // the last token of each vocabulary
  const int target = config.vocab_target - 1;
  NIBU_RETURN_IF_ERROR(CheckIds("frame.source_prefix", whole.source_prefix, 0, source));
  NIBU_RETURN_IF_ERROR(CheckIds("frame.source_suffix", whole.source_suffix, 0, source));
  NIBU_RETURN_IF_ERROR(CheckIds("frame.decoder_start", whole.decoder_start, -1, target));
  NIBU_RETURN_IF_ERROR(CheckIds("end_tokens", options.end_tokens, 0, target));
  NIBU_RETURN_IF_ERROR(CheckIds("begin_suppress_tokens", options.begin_suppress_tokens, 0, target));
  for (const auto& sequence : options.suppress_sequences) {
    NIBU_RETURN_IF_ERROR(CheckIds("suppress_sequences", sequence, 0, target));
  }
  if (whole.source_extra() >= config.max_positions) {
    return absl::InvalidArgumentError("frame: the model has no positions for a source token");
  }
  if (whole.target_extra() < 0 || whole.target_extra() >= config.max_positions) {
    return absl::InvalidArgumentError("frame: the model has no position for a generated token");
  }
  if (options.alignment_layer.has_value()) {
    NIBU_RETURN_IF_ERROR(CheckRange("alignment_layer", *options.alignment_layer,
                                    -config.layers_decoder, config.layers_decoder - 1));
  }
  return CheckRange("alignment_heads", options.alignment_heads.value_or(0), 0,
                    config.heads_decoder);
}

SearchModel SearchModelOf(const ModelConfig& config, Frame frame, int positions, uint64_t owner) {
  return {.eos = config.eos,
          .unk = config.unk_target,
          .suppressed = config.suppressed,
          .frame = std::move(frame),
          .positions = positions,
          .vocabulary = config.vocab_target,
          .owner = owner};
}

absl::Status CheckRequest(const Request& request, const DecodingOptions& options,
                          const TokenLimits& limits) {
  NIBU_RETURN_IF_ERROR(
      CheckTokens("source", request.source, 1, limits.max_source_length, limits.vocab_source));
  NIBU_RETURN_IF_ERROR(CheckTokens("target_prefix", request.target_prefix, 0,
                                   std::numeric_limits<int>::max(), limits.vocab_target));
  if (request.target.has_value()) {
    NIBU_RETURN_IF_ERROR(
        CheckTokens("target", *request.target, 1, limits.max_target_length, limits.vocab_target));
  }
  NIBU_RETURN_IF_ERROR(CheckRange("max_length", request.max_length.value_or(0), 0));
  NIBU_RETURN_IF_ERROR(CheckConstraints(request, options, limits.vocab_target));
  return CheckOnStep(request, options);
}

}  // namespace nibu::internal
