// Lists nibu-inspect's options, as rows of the table of options.

#include "tools/inspect/inspect_options.h"

#include "tools/text/options/option_groups.h"

namespace nibu::internal {

absl::Span<const OptionRow> InspectOptionRows() {
  static const auto& rows = *new std::vector<OptionRow>(OptionRows({
      Row<&InspectOptions::tensors>(
          {.help =
               "List every tensor of the model, and verify a .nibu file's checksums. A line has "
               "the tensor's name, type, shape, bytes, smallest and largest value and the number "
               "of NaNs.",
           .group = kModelGroup,
           .programs = "inspect"}),
      Row<&InspectOptions::target>(
          {.help = "Translation to look at, in place of the model's own. It is text or, with "
                   "--tokenized, tokens separated by single spaces.",
           .group = kTextGroup,
           .programs = "inspect-attention"}),
      Row<&InspectOptions::json>({.help = "Print one JSON object in place of text.",
                                  .group = kOutputGroup,
                                  .programs = "inspect"}),
      Row<&InspectOptions::json>(
          {.help = "Print one JSON object with tokens and attention matrices. It is "
                   "{\"source\":[...],\"target\":[...],\"encoder\":[layer][head][q][k],"
                   "\"decoder\":[layer][head][q][k],\"cross\":[layer][head][t][s]}; the README of "
                   "tools/cli describes it.",
           .programs = "inspect-attention"}),
      Row<&InspectOptions::html>(
          {.help =
               "File for a page that shows the attention in a browser; - is standard output. The "
               "page loads nothing from elsewhere. It has heat maps of all heads, a graph of the "
               "cross-attention, and each head's entropy and mean distance.",
           .type = "path",
           .programs = "inspect-attention"}),
      Row<&InspectOptions::ascii>(
          {.help = "Print a layer's cross-attention as characters, and the entropies of all heads. "
                   "This is also what is printed if neither --json nor --html is given.",
           .programs = "inspect-attention"}),
      Row<&InspectOptions::layer>(
          {.help = "Decoder layer that is shown first, from 0; -1 is the last. Unless given, it is "
                   "the layer that the model names for alignments.",
           .default_value = "-1",
           .programs = "inspect-attention"}),
      Row<&InspectOptions::head>(
          {.help =
               "Head that is shown first, from 0; -1 is the mean of all heads. Unless given, it "
               "is the head that the model names for alignments, if it names a single one.",
           .default_value = "-1",
           .programs = "inspect-attention"}),
  }));
  return rows;
}

}  // namespace nibu::internal
