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
                   "\"decoder\":[layer][head][q][k],\"cross\":[layer][head][t][s],"
                   "\"details\":{...}}; the README of tools/cli describes it.",
           .programs = "inspect-attention"}),
      Row<&InspectOptions::html>(
          {.help =
               "File for a page that shows the attention in a browser; - is standard output. The "
               "page loads nothing from elsewhere. It has maps and graphs of all attentions, their "
               "queries, keys, scores and values, and what layers and heads have in common.",
           .type = "path",
           .programs = "inspect-attention"}),
      Row<&InspectOptions::ascii>(
          {.help =
               "Print a layer's attention as characters, and what there is to say of all layers. "
               "That is mechanisms and entropies, the terms of the first layer's scores, and the "
               "mechanisms of --compare. It is also what is printed if neither --json nor --html "
               "is given.",
           .programs = "inspect-attention"}),
      Row<&InspectOptions::compare>(
          {.help = "Mechanism of the encoder that is shown beside others; give the flag again for "
                   "each. The model reads the same source and target with it, in the form of "
                   "--encoder_attention. Its maps are shown, the log-probability of the target, "
                   "the query-key pairs that it computes, and how its receptive field grows with "
                   "depth.",
           .programs = "inspect-attention"}),
      Row<&InspectOptions::kind>(
          {.help = "Attention that is shown first. It is the encoder's self-attention, the "
                   "decoder's masked self-attention, or cross-attention.",
           .values = "encoder decoder cross",
           .programs = "inspect-attention"}),
      Row<&InspectOptions::layer>(
          {.help =
               "Layer that is shown first, from 0; -1 is the last. Unless given, it is the last "
               "or, in cross-attention, the one that the model names for alignments.",
           .default_value = "-1",
           .programs = "inspect-attention"}),
      Row<&InspectOptions::head>(
          {.help =
               "Head that is shown first, from 0; -1 is the mean of all heads. Unless given, it "
               "is the mean or, in cross-attention, the head that the model names for alignments, "
               "if it names a single one.",
           .default_value = "-1",
           .programs = "inspect-attention"}),
      Row<&InspectOptions::kernel>(
          {.help =
               "Taps of the convolution that self-attention becomes, separated by commas. Their "
               "number is odd, 15 at most; the one in the middle is multiplied by the position "
               "itself.",
           .group = kTextGroup,
           .programs = "inspect-convolution"}),
      Row<&InspectOptions::alpha>(
          {.help =
               "Factors of the quadratic encoding of distances, separated by commas. The larger "
               "one is, the more each head looks at one position alone.",
           .programs = "inspect-convolution"}),
      Row<&InspectOptions::json>({.help = "Print one JSON object in place of text.",
                                  .group = kOutputGroup,
                                  .programs = "inspect-convolution"}),
      Row<&InspectOptions::html>({.help =
                                      "File for a page that shows maps, signals and differences "
                                      "in a browser; - is standard output.",
                                  .type = "path",
                                  .programs = "inspect-convolution"}),
  }));
  return rows;
}

}  // namespace nibu::internal
