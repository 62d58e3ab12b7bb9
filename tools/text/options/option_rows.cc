// Lists the library's options for loading models and using the machine, as rows of the table of
// options. text_option_rows.cc lists those for translating texts.

#include "engine/translator_options.h"
#include "tools/text/options/option_groups.h"
#include "tools/text/options/option_table.h"

namespace nibu::internal {
namespace {

// Sets of programs.
constexpr char kLoading[] = "translate score bench bench-attention inspect inspect-attention serve";
constexpr char kModels[] = "translate score bench serve";

}  // namespace

absl::Span<const OptionRow> ModelOptionRows() {
  static const auto& rows = *new std::vector<OptionRow>(OptionRows({
      Row<&ModelOptions::ensemble_weights>(
          {.help = "Weights of the models of an ensemble, separated by commas. Each model has one, "
                   "a number above 0, with which its log-probabilities enter the average. Empty: "
                   "all models count equally.",
           .group = kModelGroup,
           .least = TranslatorOptions::kEnsembleWeights.least,
           .most = TranslatorOptions::kEnsembleWeights.most,
           .programs = kModels}),
      Row<&ModelOptions::pivot>(
          {.help = "Name, directory or file of a second model, which translates what comes out of "
                   "the first. It does so sentence by sentence. Tags, protected parts and terms of "
                   "a glossary are placed once, by both models' alignments. Scores and "
                   "alternatives are those of the second model. Empty: none.",
           .programs = "translate",
           .is_common = true}),
      Row<&ModelOptions::sentencepiece>(
          {.help = "Files with SentencePiece models, for a model that has none: "
                   "SOURCE.spm[,TARGET.spm]. One file serves both sides.",
           .type = "path",
           .excludes = "tokenized",
           .programs = "translate score bench inspect-attention convert"}),
      Row<&ModelOptions::encoder_attention>(
          {.help = "Attention mechanism that the encoder's layers use in place of full attention. "
                   "Examples are window:64, bigbird, lsh, mean:2 and pool. One mechanism holds for "
                   "all layers; several, separated by semicolons, hold for one layer each. An "
                   "ensemble uses it in its first model. Empty: the model's own attention. The "
                   "README of engine/attention/mixers lists the mechanisms.",
           .programs = "translate score bench inspect-attention convert serve"}),
      Row<&ModelOptions::cross_attention>(
          {.help =
               "Attention mechanism with which the decoder's layers see the source, in place of "
               "full attention. It is full, local_m, local_p, mean or reduction. Examples are "
               "local_m:width=16 and mean:2. As with --encoder_attention, one mechanism holds for "
               "all layers, or one for each; an ensemble uses it in its first model. Empty: the "
               "model's own attention.",
           .programs = "translate score bench inspect-attention convert serve"}),
      Row<&ModelOptions::compute_type>(
          {.help = "Number type in which matrices are multiplied. auto: the fastest type on this "
                   "CPU, which is int8 on any x86-64 CPU with SSE4.1, or int4 for a file that was "
                   "converted to it. bfloat16 needs AVX-512. int8 and bfloat16 are faster than "
                   "float32, and less exact. int4 takes the least memory, is less exact than int8, "
                   "and is the fastest for one sentence at a time with AVX-512 VNNI.",
           .group = kSpeedGroup,
           .values = "auto float32 bfloat16 int8 int4",
           .programs = kLoading,
           .is_common = true}),
      Row<&ModelOptions::shortlist>(
          {.help = "File with a lexical shortlist, which limits the output vocabulary for each "
                   "sentence. It has Marian's binary or text form, or is CTranslate2's vmap.txt. "
                   "Empty: the model's own shortlist, if it has one. none: no shortlist.",
           .type = "path",
           .programs = "translate bench inspect-attention convert serve"}),
      Row<&ModelOptions::draft_model>(
          {.help = "Directory, file or name of a smaller model, which guesses tokens for the model "
                   "to check. The translation stays the same. It helps where few lines are "
                   "translated at a time. Both models need the same vocabularies, and "
                   "--beam_size=1.",
           .type = "path",
           .programs = "translate bench"}),
  }));
  return rows;
}

absl::Span<const OptionRow> SpeedOptionRows() {
  static const auto& rows = *new std::vector<OptionRow>(OptionRows({
      Row<&SpeedOptions::threads>(
          {.help = "Number of worker threads; 0 means all cores that the process may use. Threads "
                   "divide the sentences among them and, with an int8 model, the work on a single "
                   "sentence, too.",
           .group = kSpeedGroup,
           .least = 0,
           .most = TranslatorOptions::kMostThreads,
           .programs = kModels,
           .is_common = true}),
      Row<&SpeedOptions::batch_size>(
          {.help = "Amount that a thread decodes together; 0 lets the engine choose for speed. "
                   "--batch_type is its unit.",
           .least = TranslatorOptions::kBatchSizes.least,
           .most = TranslatorOptions::kBatchSizes.most,
           .programs = kModels}),
      Row<&SpeedOptions::batch_type>(
          {.help = "Unit of --batch_size: sentences or tokens. examples: sentences. tokens: tokens "
                   "of the source sentences.",
           .values = "examples tokens",
           .programs = kModels}),
      Row<&SpeedOptions::matmul>(
          {.help = "Kernels that multiply matrices. auto: nibu's own int8 kernels where there are "
                   "some (x86-64 with AVX-512 VNNI or AMX), oneDNN's elsewhere and in matmuls with "
                   "several threads. onednn: oneDNN's alone. int8 results are the same bit for "
                   "bit.",
           .values = "auto onednn",
           .programs = kModels}),
      Row<&SpeedOptions::queue_size>(
          {.help = "Most sentences that may be submitted and not yet delivered; 0 chooses for "
                   "speed.",
           .least = 0,
           .programs = "library"}),
  }));
  return rows;
}

}  // namespace nibu::internal
