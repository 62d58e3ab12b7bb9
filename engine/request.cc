#include "engine/request.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "engine/core/check_range.h"
#include "engine/core/status_macros.h"

namespace nibu {
namespace {

absl::Status CheckIds(const char* what, const std::vector<int>& ids, int low, int vocabulary) {
  for (const int id : ids) {
    if (id >= low && id < vocabulary) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("frame.", what, " has ", id, ", expected ", low, " to ", vocabulary - 1));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status DecodingOptions::Validate() const {
  NIBU_RETURN_IF_ERROR(CheckRange("beam_size", beam_size, 1, 1024));
  if (!(patience > 0 && patience <= 1024)) {
    return absl::InvalidArgumentError(
        absl::StrCat("patience must be more than 0 and at most 1024, not ", patience));
  }
  const int finished = HypothesesToFinish(beam_size, patience);
  if (num_hypotheses < 1 || num_hypotheses > finished) {
    return absl::InvalidArgumentError(absl::StrCat(
        "num_hypotheses must be 1 to beam_size * patience = ", finished, ", not ", num_hypotheses));
  }
  if (!std::isfinite(length_penalty)) {
    return absl::InvalidArgumentError(
        absl::StrCat("length_penalty must be a number, not ", length_penalty));
  }
  NIBU_RETURN_IF_ERROR(CheckRange("max_decoding_length", max_decoding_length, 1));
  NIBU_RETURN_IF_ERROR(CheckRange("max_length_factor", max_length_factor, 0.0f));
  if (min_decoding_length < 0 || min_decoding_length > max_decoding_length) {
    return absl::InvalidArgumentError(
        absl::StrCat("min_decoding_length must be 0 to max_decoding_length = ", max_decoding_length,
                     ", not ", min_decoding_length));
  }
  return absl::OkStatus();
}

absl::Status DecodingOptions::ValidateFor(const ModelConfig& config) const {
  NIBU_RETURN_IF_ERROR(Validate());
  const Frame whole = FrameFor(config);
  NIBU_RETURN_IF_ERROR(CheckIds("source_prefix", whole.source_prefix, 0, config.vocab_source));
  NIBU_RETURN_IF_ERROR(CheckIds("source_suffix", whole.source_suffix, 0, config.vocab_source));
  NIBU_RETURN_IF_ERROR(CheckIds("decoder_start", whole.decoder_start, -1, config.vocab_target));
  if (whole.source_extra() >= config.max_positions) {
    return absl::InvalidArgumentError("frame: the model has no positions for a source token");
  }
  if (whole.target_extra() < 0 || whole.target_extra() >= config.max_positions) {
    return absl::InvalidArgumentError("frame: the model has no position for a generated token");
  }
  return absl::OkStatus();
}

}  // namespace nibu
