// Lists nibu-convert's options, as rows of the table of options.

#include "tools/cli/convert_options.h"

#include "tools/text/options/option_groups.h"

namespace nibu::internal {

absl::Span<const OptionRow> ConvertOptionRows() {
  static const auto& rows = *new std::vector<OptionRow>(OptionRows({
      Row<&ConvertOptions::config>(
          {.help = "File with the shape of a model that gets random weights, in place of --model. "
                   "The folder configs has such files. Such models serve measurements.",
           .group = kModelGroup,
           .type = "path"}),
      Row<&ConvertOptions::out>(
          {.help = "File NAME.nibu, or directory NAME/, to write. It appears only when it is "
                   "complete and has been read back. A directory gets safetensors, and must not "
                   "exist yet.",
           .group = kOutputGroup,
           .type = "path",
           .is_common = true}),
      Row<&ConvertOptions::format>(
          {.help = "Format to write: nibu, safetensors, or auto, by the ending of --out. nibu: one "
                   "file, which is used from where it lies. safetensors: a Hugging Face MarianMT "
                   "directory.",
           .values = "auto nibu safetensors"}),
      Row<&ConvertOptions::quantization>(
          {.help = "Number type of the written weights; none keeps the stored types. int8 is for a "
                   ".nibu file alone; weights that are int8 already stay as they are with it, and "
                   "embedding tables keep their type.",
           .values = "none float32 bfloat16 int8",
           .is_common = true}),
      Row<&ConvertOptions::prepack>(
          {.help =
               "Compute type whose weights a .nibu file also holds packed for this CPU. Loading "
               "need not pack them then. auto: the type that --compute_type=auto is on this CPU. "
               "none: no packed weights. On other CPUs, and for other compute types, weights are "
               "packed when the model is loaded.",
           .values = "auto none float32 bfloat16 int8"}),
  }));
  return rows;
}

}  // namespace nibu::internal
