// The rows of the benchmarks' options.

#include "tools/bench/bench_options.h"

#include <vector>

namespace nibu::internal {

absl::Span<const OptionRow> BenchOptionRows() {
  static const auto& rows = *new std::vector<OptionRow>{
      Row<&BenchOptions::config>(
          {.name = "config",
           .help = "Shape of a model (configs/*.json), for --random_weights and nibu-bench "
                   "attention.",
           .group = "Model",
           .is_common = true}),
      Row<&BenchOptions::random_weights>(
          {.name = "random_weights",
           .help = "Measure the shape of --config with random weights.",
           .group = "Model",
           .programs = "bench",
           .is_common = true}),
      Row<&BenchOptions::src>(
          {.name = "src",
           .help = "Text to translate, a segment a line; empty: random token ids.",
           .group = "Text",
           .programs = "bench",
           .is_common = true}),
      Row<&BenchOptions::sentences>({.name = "sentences",
                                     .help = "Random sources, the same in every run.",
                                     .group = "Text",
                                     .least = 1,
                                     .programs = "bench",
                                     .is_common = true}),
      Row<&BenchOptions::source_length>({.name = "source_length",
                                         .help = "Tokens of each random source; 0: 12 to 47.",
                                         .group = "Text",
                                         .least = 0,
                                         .programs = "bench",
                                         .is_common = true}),
      Row<&BenchOptions::output_length>(
          {.name = "output_length",
           .help = "Tokens of output for each source, exactly so many; 0: up to the EOS.",
           .group = "Text",
           .least = 0,
           .programs = "bench",
           .is_common = true}),
      Row<&BenchOptions::lengths>(
          {.name = "lengths",
           .help = "Positions of a sentence; a list is swept, as in 64,512,4096.",
           .group = "What",
           .least = 1,
           .most = 65536,
           .programs = "bench-attention"}),
      Row<&BenchOptions::mechanisms>(
          {.name = "mechanisms",
           .help = "Mechanisms to measure, with semicolons between them: see --encoder_attention.",
           .group = "What",
           .programs = "bench-attention"}),
      Row<&BenchOptions::encoder>(
          {.name = "encoder",
           .help = "Measure whole encoders with random weights, in place of the attention of a "
                   "layer: of --config, or of a Transformer-base.",
           .group = "What",
           .programs = "bench-attention"}),
      Row<&BenchOptions::repeat>(
          {.name = "repeat",
           .help =
               "Times that a run is measured, after one that warms up; the fastest counts, with "
               "its own latencies, profile and floor.",
           .group = "Measuring",
           .least = 1,
           .is_common = true}),
      Row<&BenchOptions::json>(
          {.name = "json",
           .help = "Print one JSON object a run instead of a table; target_tokens leaves the ends "
                   "of sentences out.",
           .group = "Measuring",
           .is_common = true}),
  };
  return rows;
}

}  // namespace nibu::internal
