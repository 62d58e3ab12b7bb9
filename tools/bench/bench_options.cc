// Lists the options of nibu-bench and nibu-bench attention, as rows of the table of options.

#include "tools/bench/bench_options.h"

#include "tools/text/options/option_groups.h"

namespace nibu::internal {

namespace {

constexpr char kAttentionGroup[] = "Attention";

}  // namespace

absl::Span<const OptionRow> BenchOptionRows() {
  static const absl::Span<const OptionRow> rows = OptionRows({
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
          {.help =
               "File with the text to translate, one segment in each line. Its sentences are not "
               "split. Empty: the sources are random token ids.",
           .group = kTextGroup,
           .type = "path",
           .programs = "bench",
           .is_common = true}),
      Row<&BenchOptions::sentences>({.help = "Number of random sources, which are the same in "
                                             "every run.",
                                     .least = 1,
                                     .programs = "bench",
                                     .is_common = true}),
      Row<&BenchOptions::source_length>({.help = "Number of tokens of each random source; 0 means "
                                                 "12 to 47. It may be a list, and does not go "
                                                 "with --src.",
                                         .least = 0,
                                         .programs = "bench",
                                         .is_common = true}),
      Row<&BenchOptions::output_length>(
          {.help = "Exact number of tokens generated for each source; 0 means until the end token.",
           .least = 0,
           .programs = "bench",
           .is_common = true}),
      Row<&BenchOptions::lengths>(
          {.help = "Number of positions of a sentence. It may be a list, as in 64,512,4096.",
           .group = kAttentionGroup,
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
          {.help = "Print one JSON object for each run in place of a table. Its target_tokens "
                   "leaves out end tokens.",
           .programs = "bench",
           .is_common = true}),
      Row<&BenchOptions::json>(
          {.help = "Print one JSON object for each mechanism and length in place of a table.",
           .programs = "bench-attention",
           .is_common = true}),
  });
  return rows;
}

}  // namespace nibu::internal
