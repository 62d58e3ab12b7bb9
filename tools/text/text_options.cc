// Turns options as users write them into those that the text layer and the engine need.

#include "tools/text/text_options.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "engine/core/option_error.h"
#include "engine/core/status_macros.h"
#include "engine/ops/linear.h"
#include "engine/translator_options.h"
#include "models/assembly/opened_model.h"
#include "tools/text/option_table.h"
#include "tools/text/resources.h"

namespace nibu::internal {
namespace {

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

// Refuses what the table of options refuses, and a document without markup.
absl::Status CheckOptions(const Options& options) {
  NIBU_RETURN_IF_ERROR(CheckValues(TextOptionRows(), options));
  std::vector<OptionField> fields;
  for (const OptionRow& row : TextOptionRows()) fields.push_back({&row, &options});
  NIBU_RETURN_IF_ERROR(CheckTogether(fields, ""));
  if (options.text == TextKind::kDocument && options.markup == Markup::kNone) {
    return InvalidOption("text", "=document needs markup=html or xml");
  }
  return absl::OkStatus();
}

}  // namespace

DecodingOptions MakeDecodingOptions(const Options& options, const ModelDefaults& defaults) {
  DecodingOptions decoding;
  decoding.sampling = {options.sampling_topk, options.sampling_topp, options.sampling_temperature,
                       options.seed};
  const int beam_size = decoding.sampling.is_on() ? 1 : defaults.beam_size.value_or(4);
  decoding.beam_size = options.beam_size.value_or(beam_size);
  decoding.patience = options.patience;
  decoding.num_hypotheses = options.num_hypotheses;
  decoding.search_compat = static_cast<SearchCompat>(options.search_compat);
  decoding.early_stopping = defaults.early_stopping;
  decoding.length_penalty = options.length_penalty.value_or(defaults.length_penalty.value_or(1));
  decoding.word_penalty = options.word_penalty.value_or(defaults.word_penalty.value_or(0));
  decoding.coverage_penalty = options.coverage_penalty;
  decoding.min_decoding_length = options.min_decoding_length;
  decoding.max_decoding_length =
      options.max_decoding_length.value_or(defaults.max_decoding_length.value_or(256));
  decoding.max_length_factor = defaults.max_length_factor.value_or(0);
  decoding.repetition_penalty = options.repetition_penalty;
  decoding.no_repeat_ngram_size =
      options.no_repeat_ngram_size.value_or(defaults.no_repeat_ngram_size.value_or(0));
  decoding.disable_unk = options.disable_unk;
  decoding.on_repetition = static_cast<OnRepetition>(options.on_repetition);
  decoding.prefix_bias_beta = options.prefix_bias_beta;
  decoding.return_alternatives = options.return_alternatives;
  decoding.min_alternative_expansion_prob = options.min_alternative_expansion_prob;
  decoding.return_scores = options.return_scores;
  decoding.alignment_layer = options.alignment_layer;
  decoding.alignment_heads = options.alignment_heads;
  return decoding;
}

absl::StatusOr<TextOptions> MakeTextOptions(const Options& options, const ModelDefaults& defaults) {
  NIBU_RETURN_IF_ERROR(CheckOptions(options));
  TextOptions made;
  made.src_lang = options.src_lang;
  made.tgt_lang = options.tgt_lang;
  made.tokenized = options.tokenized;
  made.split_sentences = options.split_sentences;
  made.split_language = options.split_language;
  made.long_input = options.long_input;
  made.max_input_length = options.max_input_length;
  made.decoding = MakeDecodingOptions(options, defaults);
  NIBU_RETURN_IF_ERROR(made.decoding.Validate());
  made.end_tokens = options.end_token;
  for (const std::string& sequence : options.suppress_sequences) {
    // The engine's Validate refuses an empty sequence.
    made.suppress_sequences.push_back(absl::StrSplit(sequence, ' ', absl::SkipEmpty()));
  }
  made.replace_unknowns = options.replace_unknowns;
  made.alignment = options.alignment;
  made.align_words = options.alignment_level == AlignmentLevel::kWords;
  made.glossary = options.glossary;
  NIBU_ASSIGN_OR_RETURN(made.protect, ParseProtect(options.protect));
  made.protect_pattern = options.protect_pattern;
  return made;
}

TranslatorOptions MakeTranslatorOptions(const SpeedOptions& options) {
  TranslatorOptions made;
  made.threads = options.threads > 0 ? options.threads : std::min(UsableCores(), 1024);
  made.batch_size = options.batch_size;
  made.batch_type =
      options.batch_type == nibu::BatchType::kTokens ? BatchType::kTokens : BatchType::kExamples;
  made.kernels = options.matmul == nibu::MatmulKernels::kOneDnn ? MatmulKernels::kOneDnn
                                                                : MatmulKernels::kAuto;
  made.queue_size = static_cast<size_t>(options.queue_size);
  return made;
}

absl::StatusOr<ComputeType> ChooseComputeType(nibu::ComputeType type) {
  const ComputeType chosen = type == nibu::ComputeType::kAuto       ? FastestComputeType()
                             : type == nibu::ComputeType::kFloat32  ? ComputeType::kFloat32
                             : type == nibu::ComputeType::kBFloat16 ? ComputeType::kBFloat16
                                                                    : ComputeType::kInt8;
  if (IsSupported(chosen)) return chosen;
  return InvalidOption("compute_type", "=", ComputeTypeName(chosen),
                       " needs AVX-512, this CPU has ", InstructionSet());
}

}  // namespace nibu::internal
