// Checks of decoding options: their ranges, and combinations that are impossible.
#include "engine/search/decoding_options.h"

#include "absl/strings/string_view.h"
#include "engine/core/option_error.h"
#include "engine/core/status_macros.h"

namespace nibu::internal {
namespace {

// Checks a number that must be above 0.
absl::Status CheckPositive(absl::string_view name, float value, float most) {
  if (value > 0 && value <= most) return absl::OkStatus();
  return InvalidOption(name, " must be more than 0 and at most ", most, ", not ", value);
}

// Refuses combinations of options that exclude each other.
absl::Status CheckTogether(const DecodingOptions& options) {
  const auto refuse = [](bool both, absl::string_view option, absl::string_view what) {
    return both ? InvalidOption(option, what) : absl::OkStatus();
  };
  const bool biased = options.prefix_bias_beta > 0;
  const bool samples = options.sampling.is_on();
  const bool other_rules = options.search_compat == SearchCompat::kMarian ||
                           options.search_compat == SearchCompat::kHuggingFace;
  NIBU_RETURN_IF_ERROR(refuse(samples && options.beam_size != 1, "sampling_topk",
                              " other than 1 needs beam_size=1"));
  NIBU_RETURN_IF_ERROR(refuse(samples && options.return_alternatives, "return_alternatives",
                              " are the most probable ones; not with sampling_topk"));
  NIBU_RETURN_IF_ERROR(
      refuse(samples && biased, "prefix_bias_beta", " does not go with sampling_topk"));
  NIBU_RETURN_IF_ERROR(refuse(biased && options.return_alternatives, "prefix_bias_beta",
                              " does not go with return_alternatives"));
  NIBU_RETURN_IF_ERROR(refuse(biased && options.coverage_penalty != 0, "prefix_bias_beta",
                              " does not go with coverage_penalty"));
  NIBU_RETURN_IF_ERROR(refuse(options.return_alternatives && options.coverage_penalty != 0,
                              "return_alternatives", " do not go with coverage_penalty"));
  NIBU_RETURN_IF_ERROR(refuse(
      options.on_repetition == OnRepetition::kRetry &&
          (options.return_alternatives || options.branches() > 1),
      "on_repetition", "=retry does not go with return_alternatives, nor with several samples"));
  NIBU_RETURN_IF_ERROR(
      refuse(options.coverage_penalty != 0 &&
                 (options.alignment_layer.has_value() || options.alignment_heads.has_value()),
             "coverage_penalty",
             " needs the model's own attention, without alignment_layer and "
             "alignment_heads"));
  NIBU_RETURN_IF_ERROR(refuse(options.beam_size == 1 && options.num_hypotheses > options.branches(),
                              "num_hypotheses",
                              " above 1 needs a beam, sampling_topk or return_alternatives"));
  return refuse(other_rules && options.patience != 1, "patience",
                " is a rule of search_compat=nibu and ctranslate2");
}

}  // namespace

absl::Status DecodingOptions::Validate() const {
  NIBU_RETURN_IF_ERROR(CheckRange("beam_size", beam_size, kBeamSizes));
  NIBU_RETURN_IF_ERROR(CheckPositive("patience", patience, kMostPatience));
  if (branches() > 1 || return_alternatives) {
    NIBU_RETURN_IF_ERROR(
        CheckRange("num_hypotheses", num_hypotheses, 1, kBeamSizes.most / beam_size));
  } else {
    const int finished = HypothesesToFinish(beam_size, patience);
    if (num_hypotheses < 1 || num_hypotheses > finished) {
      return InvalidOption("num_hypotheses", " must be 1 to beam_size * patience = ", finished,
                           ", not ", num_hypotheses,
                           "; more need a beam, sampling_topk or return_alternatives");
    }
  }
  NIBU_RETURN_IF_ERROR(CheckRange("length_penalty", length_penalty, kLengthPenalties));
  NIBU_RETURN_IF_ERROR(CheckRange("word_penalty", word_penalty, kPenalties));
  NIBU_RETURN_IF_ERROR(CheckRange("coverage_penalty", coverage_penalty, kPenalties));
  NIBU_RETURN_IF_ERROR(CheckRange("max_decoding_length", max_decoding_length, 1));
  NIBU_RETURN_IF_ERROR(CheckRange("max_length_factor", max_length_factor, 0.0f));
  if (min_decoding_length < 0 || min_decoding_length > max_decoding_length) {
    return InvalidOption("min_decoding_length",
                         " must be 0 to max_decoding_length = ", max_decoding_length, ", not ",
                         min_decoding_length);
  }
  NIBU_RETURN_IF_ERROR(CheckRange("repetition_penalty", repetition_penalty, kRepetitionPenalties));
  NIBU_RETURN_IF_ERROR(CheckRange("no_repeat_ngram_size", no_repeat_ngram_size, 0));
  for (const auto& sequence : suppress_sequences) {
    if (sequence.empty()) return InvalidOption("suppress_sequences", " has an empty one");
  }
  if (!(prefix_bias_beta >= 0 && prefix_bias_beta < 1)) {
    return InvalidOption("prefix_bias_beta", " must be at least 0 and below 1, not ",
                         prefix_bias_beta);
  }
  NIBU_RETURN_IF_ERROR(
      CheckRange("min_alternative_expansion_prob", min_alternative_expansion_prob, 0.0f, 1.0f));
  NIBU_RETURN_IF_ERROR(CheckRange("sampling_topk", sampling.topk, 0));
  NIBU_RETURN_IF_ERROR(CheckPositive("sampling_topp", sampling.topp, 1));
  NIBU_RETURN_IF_ERROR(
      CheckPositive("sampling_temperature", sampling.temperature, Sampling::kMostTemperature));
  return CheckTogether(*this);
}

bool DecodingOptions::allow_constraints() const {
  return beam_size > 1 && !sampling.is_on() && !return_alternatives && prefix_bias_beta == 0;
}

}  // namespace nibu::internal
