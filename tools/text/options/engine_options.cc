// Checks options as users write them, and turns them into those of the engine.

#include "tools/text/options/engine_options.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "engine/core/option_error.h"
#include "engine/core/status_macros.h"
#include "engine/translator_options.h"
#include "models/assembly/opened_model.h"
#include "tools/text/options/option_table.h"
#include "tools/text/options/resources.h"

namespace nibu::internal {

absl::StatusOr<ProtectedKinds> ParseProtect(const std::string& value) {
  ProtectedKinds kinds;
  if (value == "none") return kinds;
  if (value == "all") return kinds.set();
  for (const absl::string_view name : absl::StrSplit(value, ',')) {
    const auto found = absl::c_find(kProtectedNames, name);
    if (found == kProtectedNames.end()) {
      return InvalidOption("protect", " must be all, none or any of ",
                           absl::StrJoin(kProtectedNames, ", "), ", not \"", value, "\"");
    }
    kinds.set(static_cast<size_t>(found - kProtectedNames.begin()));
  }
  return kinds;
}

absl::Status CheckOptions(const Options& options) {
  NIBU_RETURN_IF_ERROR(CheckValues(TextOptionRows(), options));
  std::vector<OptionField> fields;
  for (const OptionRow& row : TextOptionRows()) fields.push_back({&row, &options});
  NIBU_RETURN_IF_ERROR(CheckTogether(fields, ""));
  if (options.text == TextKind::kDocument && options.markup == Markup::kNone) {
    return InvalidOption("text", "=document needs markup=html or xml");
  }
  return ParseProtect(options.protect).status();
}

DecodingOptions MakeDecodingOptions(const Options& options, const ModelDefaults& defaults) {
  DecodingOptions decoding;
  decoding.sampling = {options.sampling_topk, options.sampling_topp, options.sampling_temperature,
                       options.seed};
  const int beam_size =
      decoding.sampling.is_on() ? 1 : defaults.beam_size.value_or(kDefaultBeamSize);
  decoding.beam_size = options.beam_size.value_or(beam_size);
  decoding.patience = options.patience;
  decoding.num_hypotheses = options.num_hypotheses;
  decoding.search_compat = options.search_compat;
  decoding.early_stopping = defaults.early_stopping;
  const auto choose = [](const auto& asked, const auto& of_model, auto* value) {
    *value = asked.value_or(of_model.value_or(*value));
  };
  choose(options.length_penalty, defaults.length_penalty, &decoding.length_penalty);
  choose(options.word_penalty, defaults.word_penalty, &decoding.word_penalty);
  decoding.coverage_penalty = options.coverage_penalty;
  choose(options.max_decoding_length, defaults.max_decoding_length, &decoding.max_decoding_length);
  // A shorter longest length that the user asks for limits the model's shortest length.
  choose(options.min_decoding_length, defaults.min_decoding_length, &decoding.min_decoding_length);
  if (!options.min_decoding_length.has_value()) {
    decoding.min_decoding_length =
        std::min(decoding.min_decoding_length, decoding.max_decoding_length);
  }
  decoding.score_as_search = options.min_decoding_length.has_value();
  decoding.max_length_factor = defaults.max_length_factor.value_or(0);
  choose(options.repetition_penalty, defaults.repetition_penalty, &decoding.repetition_penalty);
  // A model's penalty was chosen for transformers, the user's is meant for logits.
  decoding.hugging_face_rules =
      options.search_compat == SearchCompat::kHuggingFace ||
      (!options.repetition_penalty.has_value() && decoding.repetition_penalty != 1);
  if (options.end_token.empty()) decoding.end_tokens = defaults.end_tokens;
  decoding.begin_suppress_tokens = defaults.begin_suppress_tokens;
  decoding.suppress_sequences = defaults.suppress_sequences;
  choose(options.no_repeat_ngram_size, defaults.no_repeat_ngram_size,
         &decoding.no_repeat_ngram_size);
  decoding.disable_unk = options.disable_unk;
  decoding.on_repetition = options.on_repetition;
  decoding.prefix_bias_beta = options.prefix_bias_beta;
  decoding.return_alternatives = options.return_alternatives;
  decoding.min_alternative_expansion_prob = options.min_alternative_expansion_prob;
  decoding.return_scores = options.return_scores;
  decoding.alignment_layer = options.alignment_layer;
  decoding.alignment_heads = options.alignment_heads;
  return decoding;
}

TranslatorOptions MakeTranslatorOptions(const SpeedOptions& options) {
  TranslatorOptions made;
  made.threads = options.threads > 0 ? options.threads
                                     : std::min(UsableCores(), TranslatorOptions::kMostThreads);
  made.batch_size = options.batch_size;
  made.batch_type = options.batch_type;
  made.kernels = options.matmul;
  made.queue_size = static_cast<size_t>(options.queue_size);
  return made;
}

absl::StatusOr<ComputeType> ChooseComputeType(nibu::ComputeType type, const OpenedModel* model) {
  const bool is_int4 =
      model != nullptr && model->source->packed().compute_type == ComputeType::kInt4;
  const ComputeType types[] = {is_int4 ? ComputeType::kInt4 : FastestComputeType(),
                               ComputeType::kFloat32, ComputeType::kBFloat16, ComputeType::kInt8,
                               ComputeType::kInt4};
  const ComputeType chosen = types[static_cast<size_t>(type)];
  if (IsSupported(chosen)) return chosen;
  return InvalidOption("compute_type", "=", ComputeTypeName(chosen),
                       " needs AVX-512, this CPU has ", InstructionSet());
}

}  // namespace nibu::internal
