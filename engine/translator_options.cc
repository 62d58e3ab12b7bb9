// Checks of a translator's options, its models, and whether these go together.
#include "engine/translator_options.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/base/macros.h"
#include "absl/strings/str_cat.h"
#include "engine/core/status_macros.h"
#include "engine/plan.h"
#include "engine/schedule/core_budget.h"
#include "engine/search/decoding_options.h"

namespace nibu::internal {
namespace {

// Checks a model beside the translator's own. `fits`: it has the same vocabularies.
absl::Status CheckBeside(absl::string_view what, const ModelConfig& other, bool fits) {
  NIBU_RETURN_IF_ERROR(other.Validate());
  return fits ? absl::OkStatus()
              : absl::InvalidArgumentError(absl::StrCat(what, " has another vocabulary"));
}

}  // namespace

absl::Status TranslatorOptions::Validate() const {
  NIBU_RETURN_IF_ERROR(CheckRange("threads", threads, 1, kMostThreads));
  if (cores != nullptr) {
    NIBU_RETURN_IF_ERROR(CheckRange("cores", cores->cores(), 1));
    if (cores->is_forked()) {
      return absl::FailedPreconditionError(
          "cores belong to the parent process; create a budget after fork()");
    }
  }
  NIBU_RETURN_IF_ERROR(CheckRange("batch_size", batch_size, kBatchSizes));
  NIBU_RETURN_IF_ERROR(CheckRange("max_source_length", max_source_length, 1));
  return CheckRange("max_decoding_length", max_decoding_length, 1);
}

absl::Status TranslatorOptions::ValidateFor(const Model& model) const {
  ABSL_ASSERT(absl::c_none_of(ensemble, [](const auto& each) { return each == nullptr; }));
  NIBU_RETURN_IF_ERROR(model.config.Validate());
  for (const auto& other : ensemble) {
    NIBU_RETURN_IF_ERROR(
        CheckBeside("a model of the ensemble", other->config,
                    other->config.eos == model.config.eos &&
                        other->config.output_tokens == model.config.output_tokens));
  }
  const ModelConfig common = WithCommonTokens(model.config, *this);
  // All models of an ensemble read what a draft model guesses, so it has their common tokens.
  if (draft != nullptr) {
    const ModelConfig& other = draft->config;
    NIBU_RETURN_IF_ERROR(CheckBeside("the draft model", other,
                                     other.vocab_source == common.vocab_source &&
                                         other.vocab_target == common.vocab_target &&
                                         other.eos == common.eos));
  }
  ModelConfig framed = common;
  // The frame that is checked is the model's own, whose decoder start may be a token that the
  // others do not have: they begin with tokens of their own.
  framed.vocab_target = model.config.vocab_target;
  NIBU_RETURN_IF_ERROR(internal::ValidateFor(DecodingOptions(), framed));
  if (ensemble_weights.empty()) return absl::OkStatus();
  if (ensemble_weights.size() != ensemble.size() + 1) {
    return absl::InvalidArgumentError(absl::StrCat("ensemble_weights must be one for each of ",
                                                   ensemble.size() + 1, " models, not ",
                                                   ensemble_weights.size()));
  }
  for (const float weight : ensemble_weights) {
    NIBU_RETURN_IF_ERROR(CheckRange("ensemble_weights", weight, kEnsembleWeights));
  }
  return absl::OkStatus();
}

ModelConfig WithCommonTokens(ModelConfig config, const TranslatorOptions& options) {
  for (const auto& other : options.ensemble) {
    config.vocab_source = std::min(config.vocab_source, other->config.vocab_source);
    config.vocab_target = std::min(config.vocab_target, other->config.vocab_target);
  }
  return config;
}

}  // namespace nibu::internal
