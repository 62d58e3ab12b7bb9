// Lists the programs' options for files, formats and reports, as rows of the table of options.

#include "tools/cli/cli_options.h"

#include "tools/text/options/option_groups.h"

namespace nibu::internal {

absl::Span<const OptionRow> CliOptionRows() {
  static const auto& rows = *new std::vector<OptionRow>(OptionRows({
      Row<&CliOptions::model>(
          {.help =
               "Name, directory or file of a model, in any supported format. A name is that of a "
               "model that tools/get_model.sh (installed as nibu-get-model) has fetched. Several, "
               "separated by commas, are an ensemble of models with the same vocabulary; a comma "
               "within a path is written \\,. Empty: the bundled English-German model.",
           .group = kModelGroup,
           .type = "path",
           .programs = "translate score bench",
           .is_common = true}),
      Row<&CliOptions::model>(
          {.help =
               "Name, directory or file of a model, in any supported format. A name is that of a "
               "model that tools/get_model.sh (installed as nibu-get-model) has fetched. It is one "
               "model, not an ensemble; a comma within a path is written \\,. Empty: the bundled "
               "English-German model.",
           .type = "path",
           .programs = "inspect inspect-attention convert",
           .is_common = true}),
      Row<&CliOptions::config>(
          {.help = "YAML file with options by name, as in \"beam_size: 4\". The command line takes "
                   "precedence over it, and it over the defaults of the model and of the program.",
           .type = "path",
           .programs = "translate score split inspect inspect-attention "
                       "inspect-convolution"}),
      Row<&CliOptions::src>(
          {.help =
               "File with the text to translate, one segment in each line; - is standard input. "
               "It is UTF-8, plain or compressed with gzip; lines end in LF or CR LF.",
           .group = kTextGroup,
           .type = "path",
           .programs = "translate",
           .is_common = true}),
      Row<&CliOptions::src>(
          {.help =
               "File with the sources, one in each line; - is standard input. It is UTF-8, plain "
               "or compressed with gzip. --src and --tgt cannot both be standard input.",
           .type = "path",
           .programs = "score",
           .is_common = true}),
      Row<&CliOptions::src>(
          {.help = "File with the text to split, line by line; - is standard input. It is UTF-8, "
                   "plain or compressed with gzip.",
           .type = "path",
           .programs = "split"}),
      Row<&CliOptions::tgt>(
          {.help = "File with the translations to score, line by line with --src; - is standard "
                   "input.",
           .type = "path",
           .programs = "score",
           .is_common = true}),
      Row<&CliOptions::shard>(
          {.help = "Part of --src that is translated, K/N: the K-th of N parts, from 1. What the "
                   "parts give, one behind the other, is what the whole file gives. --src must be "
                   "a plain file of lines, which is cut where lines end.",
           .programs = "translate"}),
      Row<&CliOptions::shard>(
          {.help = "Part of --src that is scored, K/N: the K-th of N parts, from 1. What the parts "
                   "give, one behind the other, is what the whole file gives. --src must be a "
                   "plain file, which is cut where lines end.",
           .programs = "score"}),
      Row<&CliOptions::tsv>(
          {.help =
               "Read sources and translations from --src: in each line source, tab, translation. "
               "It takes the place of --tgt.",
           .programs = "score",
           .is_common = true}),
      Row<&CliOptions::input_format>(
          {.help =
               "Form of the input: text or jsonl. jsonl: each line is a JSON object with \"text\" "
               "and, if wanted, \"id\", \"src_lang\", \"tgt_lang\", \"prefix\", \"glossary\" and "
               "other options of the text by name. A text may have line feeds. Other fields are "
               "copied to the output, which is --output_format=jsonl unless another is given.",
           .values = "text jsonl",
           .excludes = "tsv_column target_prefix",
           .programs = "translate"}),
      Row<&CliOptions::tsv_column>(
          {.help = "Column of a tab-separated input that is translated, counted from 1; 0: the "
                   "input is plain text. The other columns come out as they are. It goes with text "
                   "output of one hypothesis, without scores and alignments.",
           .least = 0,
           .excludes = "text=paragraphs text=document output_format print_scores alignment",
           .programs = "translate"}),
      Row<&CliOptions::language>(
          {.help = "Language of the text, in any common form: de, de-DE, zho_Hans, ... A language "
                   "without rules of its own gets those that hold for all languages.",
           .programs = "split"}),
      Row<&CliOptions::target_prefix>(
          {.help = "File with the beginning of each translation, line by line with the source. An "
                   "empty line means no prefix. See --prefix_bias_beta.",
           .group = kSearchOnTextGroup,
           .type = "path",
           .excludes = "text=paragraphs text=document",
           .programs = "translate"}),
      Row<&CliOptions::glossary>(
          {.help = "File with terms and their translations, \"SOURCE<tab>TARGET\" in each line. "
                   "Where a sentence has a source phrase, the search tries to have one of its "
                   "targets in the translation. It needs a beam.",
           .type = "path",
           .programs = "translate",
           .is_common = true}),
      Row<&CliOptions::out>(
          {.help = "File for the output; - is standard output. A file appears under its name only "
                   "when it is complete.",
           .group = kOutputGroup,
           .type = "path",
           .programs = "translate score split",
           .is_common = true}),
      Row<&CliOptions::resume>(
          {.help = "Go on behind what an interrupted run has left in OUT.part, if there is "
                   "something. OUT.part.json says of which model, options and input it is; others "
                   "are refused. It needs --src and --out.",
           .programs = "translate"}),
      Row<&CliOptions::output_format>(
          {.help =
               "Form of the output: text, nbest or jsonl. text: the best hypothesis of each "
               "line. nbest: a line \"INDEX ||| TEXT ||| logprob= S ||| SCORE\" for each "
               "hypothesis. jsonl: a JSON object for each line of the source, with text, tokens, "
               "score and token_scores of every hypothesis; \"finished\" is false where a length "
               "limit cut it, and \"warnings\" lists those of --warnings. See the README of "
               "tools/cli for all fields.",
           .values = "text jsonl nbest",
           .programs = "translate",
           .is_common = true}),
      Row<&CliOptions::output_format>(
          {.help = "Form of the output: text or jsonl. text: the mean log-probability of a line's "
                   "tokens, the end token of each sentence included, with six decimals. jsonl: a "
                   "JSON object for each line, with tokens and token_scores, too; \"scored_whole\" "
                   "is true where source and target do not split into the same number of "
                   "sentences, so that the line was scored as one.",
           .values = "text jsonl",
           .programs = "score",
           .is_common = true}),
      Row<&CliOptions::json>(
          {.help =
               "Print a JSON object for each line of text. It has the bytes of the line at which "
               "sentences begin and end: "
               "{\"id\":0,\"sentences\":[{\"begin\":0,\"end\":3,\"text\":\"Oh!\"}]}. Bytes that "
               "are not UTF-8 are replaced in \"text\" only.",
           .programs = "split"}),
      Row<&CliOptions::print_scores>(
          {.help = "Print the score and a tab in front of each line of text output. It goes with "
                   "--output_format=text alone; the other formats have scores in them.",
           .programs = "translate"}),
      Row<&CliOptions::progress>(
          {.help = "Show progress on standard error. auto: it is shown when standard error is a "
                   "terminal, the output is not, and no --warnings are printed.",
           .programs = "translate score"}),
      Row<&CliOptions::stats>(
          {.help =
               "Print counts, times and memory as one line of JSON on standard error at the end. "
               "The fields are sentences (lines of input), source_tokens, target_tokens (of the "
               "best hypotheses, without end tokens), unfinished_sentences (cut at a length "
               "limit), looping_sentences (repeating themselves), warnings (lines by warning), "
               "load_seconds, seconds, tokens_per_second, peak_rss_bytes, compute_type and "
               "threads.",
           .programs = "translate",
           .is_common = true}),
      Row<&CliOptions::stats>(
          {.help =
               "Print counts, times and memory as one line of JSON on standard error at the end. "
               "The fields are sentences, source_tokens, target_tokens (without end tokens), "
               "log_prob (of all tokens) and perplexity (of a token), both with end tokens, "
               "load_seconds, seconds, tokens_per_second and peak_rss_bytes.",
           .programs = "score",
           .is_common = true}),
      Row<&CliOptions::warnings>(
          {.help =
               "Print a line on standard error for each suspicious translation. It has the "
               "line's number and what looks wrong: short or long (for the source), repetition, "
               "unfinished (cut at a length limit), truncated (the source was), numbers or "
               "protected (parts that differ from those of the source).",
           .programs = "translate",
           .is_common = true}),
  }));
  return rows;
}

}  // namespace nibu::internal
