// The rows of the programs' options for files, formats and reports.

#include "tools/cli/cli_options.h"

#include <vector>

namespace nibu::internal {

absl::Span<const OptionRow> CliOptionRows() {
  static const auto& rows = *new std::vector<OptionRow>{
      Row<&CliOptions::model>(
          {.name = "model",
           .help = "Directory or file of a model, in any supported format. Several with commas "
                   "between them are an ensemble; a comma within a path is written \\,. Empty: the "
                   "bundled English-German model.",
           .group = "Model",
           .programs = "translate score bench",
           .is_common = true}),
      Row<&CliOptions::model>(
          {.name = "model",
           .help = "Directory or file of a model, in any supported format. Empty: the bundled "
                   "English-German model. A comma within a path is written \\,.",
           .group = "Model",
           .programs = "inspect inspect-attention convert",
           .is_common = true}),
      Row<&CliOptions::config>(
          {.name = "config",
           .help = "YAML file with options by name, as in \"beam_size: 4\". The command line comes "
                   "before it, and it comes before the model's own defaults.",
           .group = "Model",
           .programs = "translate score split inspect inspect-attention"}),
      Row<&CliOptions::src>(
          {.name = "src",
           .help = "File with one segment a line; - is standard input. It is UTF-8, or compressed "
                   "with gzip; lines end in LF or CR LF.",
           .group = "Text",
           .programs = "translate",
           .is_common = true}),
      Row<&CliOptions::src>({.name = "src",
                             .help = "File with one source a line; - is standard input.",
                             .group = "Text",
                             .programs = "score",
                             .is_common = true}),
      Row<&CliOptions::src>(
          {.name = "src",
           .help = "File with text, split line by line; - is standard input. It is UTF-8, or "
                   "compressed with gzip.",
           .group = "Text",
           .programs = "split"}),
      Row<&CliOptions::tgt>({.name = "tgt",
                             .help = "File with the translations to be scored, line by line.",
                             .group = "Text",
                             .programs = "score",
                             .is_common = true}),
      Row<&CliOptions::tsv>({.name = "tsv",
                             .help = "Take both from --src: source, tab, target.",
                             .group = "Text",
                             .programs = "score",
                             .is_common = true}),
      Row<&CliOptions::language>(
          {.name = "language",
           .help = "Language of the text: en, de-DE, zho_Hans, ... A language that is not known "
                   "gets the rules that hold for all.",
           .group = "Text",
           .programs = "split"}),
      Row<&CliOptions::target_prefix>(
          {.name = "target_prefix",
           .help = "File of what the translations begin with, line by line with the source; an "
                   "empty line: nothing.",
           .group = "Search, of text",
           .excludes = "text=paragraphs text=document",
           .programs = "translate"}),
      Row<&CliOptions::glossary>(
          {.name = "glossary",
           .help = "File of terms, \"SOURCE<tab>TARGET\" a line. Where a source phrase is in a "
                   "sentence, one of its targets is to be in the translation. Needs a beam.",
           .group = "Search, of text",
           .programs = "translate",
           .is_common = true}),
      Row<&CliOptions::out>(
          {.name = "out",
           .help = "File for the output, a line each; - is standard output. A file appears under "
                   "its name when it is whole.",
           .group = "Output",
           .programs = "translate score split",
           .is_common = true}),
      Row<&CliOptions::output_format>(
          {.name = "output_format",
           .help = "Form of the output: text; jsonl (text, tokens, score and token_scores of every "
                   "hypothesis; \"finished\": false where it was cut at a length limit, and "
                   "\"warnings\" as of --warnings where there are any); or nbest (\"index ||| text "
                   "||| logprob= S ||| score\", a line a hypothesis).",
           .group = "Output",
           .values = "text jsonl nbest",
           .programs = "translate",
           .is_common = true}),
      Row<&CliOptions::output_format>(
          {.name = "output_format",
           .help =
               "Form of the output: text (the mean log-probability of a line's tokens, the end "
               "of each sentence included); or jsonl (tokens and token_scores, too, and "
               "scored_whole: whether source and target split into other sentences, so that the "
               "line was scored as one).",
           .group = "Output",
           .values = "text jsonl",
           .programs = "score",
           .is_common = true}),
      Row<&CliOptions::json>(
          {.name = "json",
           .help = "A JSON object for every line of text, with the bytes where its sentences begin "
                   "and end: {\"id\":0,\"sentences\":[{\"begin\":0,\"end\":3,\"text\":\"Oh!\"}]}.",
           .group = "Output",
           .programs = "split"}),
      Row<&CliOptions::print_scores>({.name = "print_scores",
                                      .help = "Print the score in front of the text, then a tab.",
                                      .group = "Output",
                                      .programs = "translate"}),
      Row<&CliOptions::progress>(
          {.name = "progress",
           .help = "Show progress on standard error; auto: when that is a terminal, and the output "
                   "is not.",
           .group = "Output",
           .programs = "translate score"}),
      Row<&CliOptions::stats>(
          {.name = "stats",
           .help = "Print one line of JSON on standard error at the end: counts, times, memory. "
                   "target_tokens leaves out the ends of sentences, unfinished_sentences were cut "
                   "at a length limit, looping_sentences repeat themselves, warnings are lines by "
                   "what --warnings says of them.",
           .group = "Output",
           .programs = "translate",
           .is_common = true}),
      Row<&CliOptions::stats>(
          {.name = "stats",
           .help = "Print one line of JSON on standard error at the end: counts, times, memory. "
                   "log_prob is of all tokens and perplexity of a token, the ends of sentences "
                   "included; target_tokens leaves them out.",
           .group = "Output",
           .programs = "score",
           .is_common = true}),
      Row<&CliOptions::warnings>(
          {.name = "warnings",
           .help =
               "Print a line on standard error for each suspicious translation, with the line's "
               "number: short or long for its source, repetition, unfinished (cut at a length "
               "limit), truncated (the source was), numbers or protected (parts that are not "
               "those of the source).",
           .group = "Output",
           .programs = "translate",
           .is_common = true}),
  };
  return rows;
}

}  // namespace nibu::internal
