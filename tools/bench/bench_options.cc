// Lists the options of nibu-bench and its commands, as rows of the table of options.

#include "tools/bench/bench_options.h"

#include "tools/text/options/option_groups.h"

namespace nibu::internal {

namespace {

constexpr char kAttentionGroup[] = "Attention";

}  // namespace

absl::Span<const OptionRow> BenchOptionRows() {
  static const auto& rows = *new std::vector<OptionRow>(OptionRows({
      Row<&BenchOptions::config>(
          {.help =
               "File with the shape of a model that is measured with random weights. The folder "
               "configs has such files. nibu-bench needs --random_weights with it, and no "
               "--model. nibu-bench attention measures a Transformer-base without it.",
           .group = kModelGroup,
           .type = "path",
           .is_common = true}),
      Row<&BenchOptions::random_weights>(
          {.help = "Measure random weights of the shape in --config, in place of a model.",
           .programs = "bench",
           .is_common = true}),
      Row<&BenchOptions::src>(
          {.help = "File with the text to translate, one segment in each line. It is translated as "
                   "nibu-translate does it, but for two things: equal lines are translated each "
                   "time, and a document is read as lines. Empty: a text of 500 English lines that "
                   "comes with nibu-bench or, with --random_weights, --source_length or --lengths, "
                   "random token ids.",
           .group = kTextGroup,
           .type = "path",
           .programs = "bench",
           .is_common = true}),
      Row<&BenchOptions::ref>(
          {.help =
               "File with translations of --src, line by line, that those of a run are compared "
               "with. Each run then has its BLEU and chrF, which equal sacreBLEU's, and the "
               "share of lines that equal those of the first run with this beam. "
               "--compute_type=float32,int8 "
               "thus tells what int8 costs.",
           .type = "path",
           .needs = "src",
           .programs = "bench",
           .is_common = true}),
      Row<&BenchOptions::sentences>(
          {.help =
               "Number of lines of the text, from its first one on, or of random sources. 0: the "
               "whole text, or 256 random sources, which are the same in every run.",
           .least = 0,
           .programs = "bench",
           .is_common = true}),
      Row<&BenchOptions::source_length>(
          {.help = "Number of tokens of each random source; 0 means 12 to 47. It may be a list. "
                   "Sources are random if it is given.",
           .least = 0,
           .excludes = "src",
           .programs = "bench",
           .is_common = true}),
      Row<&BenchOptions::output_length>(
          {.help = "Exact number of tokens generated for each source; 0 means until the end token.",
           .least = 0,
           .programs = "bench",
           .is_common = true}),
      Row<&BenchOptions::lengths>(
          {.help = "Number of tokens of each random source and of its output. It may be a list, as "
                   "in 16,64,256,1024; the table then has the cost of a token at each length, and "
                   "the share of each part. 0: the lengths are those of the two flags above.",
           .least = 0,
           .excludes = "src source_length output_length",
           .programs = "bench"}),
      Row<&BenchOptions::lengths>(
          {.help = "Number of positions of a sentence. It may be a list, as in 64,512,4096.",
           .group = kAttentionGroup,
           .default_value = kDefaultAttentionLengths,
           .least = 1,
           .most = 65536,
           .programs = "bench-attention"}),
      Row<&BenchOptions::mechanisms>(
          {.help = "Mechanisms to measure, separated by semicolons. They have the forms of "
                   "--encoder_attention in nibu-translate, or with --cross of --cross_attention. "
                   "Empty: full, and others that need no weights of a model.",
           .programs = "bench-attention"}),
      Row<&BenchOptions::encoder>(
          {.help = "Measure whole encoders with random weights, in place of one layer's attention.",
           .programs = "bench-attention"}),
      Row<&BenchOptions::cross>(
          {.help = "Measure one step of a decoder layer's cross-attention. A beam of 4 hypotheses "
                   "looks at a source of each length.",
           .programs = "bench-attention"}),
      Row<&BenchOptions::repeat>(
          {.help = "Number of measured runs after one that warms up; the fastest counts. Its own "
                   "latencies, times by part and matmul floor are printed.",
           .group = kMeasuringGroup,
           .least = 1,
           .programs = "bench",
           .is_common = true}),
      Row<&BenchOptions::repeat>(
          {.help = "Number of measured runs after one that warms up; the fastest counts.",
           .least = 1,
           .programs = "bench-attention",
           .is_common = true}),
      Row<&BenchOptions::json>(
          {.help =
               "Print one JSON object for each run in place of a table. It has the whole workload "
               "and all figures, with their units in their names; the README of tools/bench "
               "describes it. Its target_tokens leaves out end tokens.",
           .programs = "bench",
           .is_common = true}),
      Row<&BenchOptions::progress>(
          {.help =
               "Show on standard error which run of a sweep is under way. auto: it is shown when "
               "standard error is a terminal.",
           .programs = "bench"}),
      Row<&BenchOptions::json>(
          {.help = "Print one JSON object for each mechanism and length in place of a table.",
           .programs = "bench-attention",
           .is_common = true}),
  }));
  return rows;
}

}  // namespace nibu::internal
