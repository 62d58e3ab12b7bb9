#include "engine/request.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "engine/core/status_macros.h"

namespace nibu {
namespace {

absl::Status Check(bool ok, absl::string_view message) {
  return ok ? absl::OkStatus() : absl::InvalidArgumentError(message);
}

absl::Status CheckIds(const char* what, const std::vector<int>& ids, int low, int vocabulary) {
  for (const int id : ids) {
    NIBU_RETURN_IF_ERROR(Check(
        id >= low && id < vocabulary,
        absl::StrCat("frame.", what, " has ", id, ", expected ", low, " to ", vocabulary - 1)));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status DecodingOptions::Validate() const {
  NIBU_RETURN_IF_ERROR(Check(beam_size >= 1 && beam_size <= 1024,
                             absl::StrCat("beam_size must be 1 to 1024, not ", beam_size)));
  NIBU_RETURN_IF_ERROR(
      Check(std::isfinite(patience) && patience > 0 && patience <= 1024,
            absl::StrCat("patience must be more than 0 and at most 1024, not ", patience)));
  const int finished = HypothesesToFinish(beam_size, patience);
  NIBU_RETURN_IF_ERROR(Check(num_hypotheses >= 1 && num_hypotheses <= finished,
                             absl::StrCat("num_hypotheses must be 1 to beam_size * patience = ",
                                          finished, ", not ", num_hypotheses)));
  NIBU_RETURN_IF_ERROR(
      Check(std::isfinite(length_penalty),
            absl::StrCat("length_penalty must be a number, not ", length_penalty)));
  NIBU_RETURN_IF_ERROR(
      Check(max_decoding_length >= 1,
            absl::StrCat("max_decoding_length must be at least 1, not ", max_decoding_length)));
  NIBU_RETURN_IF_ERROR(
      Check(std::isfinite(max_length_factor) && max_length_factor >= 0,
            absl::StrCat("max_length_factor must be at least 0, not ", max_length_factor)));
  return Check(min_decoding_length >= 0 && min_decoding_length <= max_decoding_length,
               absl::StrCat("min_decoding_length must be 0 to max_decoding_length = ",
                            max_decoding_length, ", not ", min_decoding_length));
}

absl::Status DecodingOptions::ValidateFor(const ModelConfig& config) const {
  NIBU_RETURN_IF_ERROR(Validate());
  const Frame whole = FrameFor(config);
  NIBU_RETURN_IF_ERROR(CheckIds("source_prefix", whole.source_prefix, 0, config.vocab_source));
  NIBU_RETURN_IF_ERROR(CheckIds("source_suffix", whole.source_suffix, 0, config.vocab_source));
  NIBU_RETURN_IF_ERROR(CheckIds("decoder_start", whole.decoder_start, -1, config.vocab_target));
  NIBU_RETURN_IF_ERROR(Check(whole.source_extra() < config.max_positions,
                             "frame: the model has no positions for a source token"));
  return Check(whole.target_extra() >= 0 && whole.target_extra() < config.max_positions,
               "frame: the model has no position for a generated token");
}

}  // namespace nibu
