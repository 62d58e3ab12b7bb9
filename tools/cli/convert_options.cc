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
          {.help =
               "Number type of the written weights. none keeps the stored types, and weights are "
               "packed when the model is loaded. With another type, a .nibu file holds them "
               "packed for this CPU, and loading need not pack them; other CPUs and compute "
               "types pack them anew. int8 and int4 are for a .nibu file alone; weights that "
               "are int8 already stay as they are with int8. int4 has weights of 4.5 bits in the "
               "decoder, and int8 in the encoder.",
           .values = "none float32 bfloat16 int8 int4",
           .is_common = true}),
      Row<&ConvertOptions::target_vocabulary>(
          {.help = "File with the target tokens that the model may generate, one a line. The rest "
                   "is left out of the output layer, of which each step reads all, so that one "
                   "sentence at a time is faster. Special and language tokens, bytes and single "
                   "characters stay in any case. Only for a .nibu file.",
           .type = "path"}),
      Row<&ConvertOptions::list_vocabulary>(
          {.help = "Text in the target language whose tokens are written to --out, the most "
                   "frequent ones first. The list, or its first lines, is for --target_vocabulary. "
                   "- is standard input. No model is written.",
           .type = "path"}),
  }));
  return rows;
}

}  // namespace nibu::internal
