// The rows of the library's options: how models are loaded, how texts are translated, and speed.

#include <vector>

#include "tools/text/option_table.h"

namespace nibu::internal {
namespace {

// The groups of --help and the man pages, in their order.
constexpr char kModel[] = "Model";
constexpr char kText[] = "Text";
constexpr char kSearch[] = "Search";
constexpr char kContent[] = "Search, of text";
constexpr char kLengths[] = "Lengths";
constexpr char kSpeed[] = "Speed (only compute_type and shortlist can change a result)";

// Sets of programs.
constexpr char kLoading[] = "translate score bench bench-attention inspect inspect-attention serve";
constexpr char kModels[] = "translate score bench serve";
constexpr char kTexts[] = "translate score serve";
constexpr char kSearches[] = "translate bench serve";
constexpr char kTranslating[] = "translate serve";

}  // namespace

absl::Span<const OptionRow> ModelOptionRows() {
  static const auto& rows = *new std::vector<OptionRow>{
      Row<&ModelOptions::ensemble_weights>(
          {.name = "ensemble_weights",
           .help = "Weights of an ensemble's models, whose log-probabilities are averaged: numbers "
                   "above 0 with commas between them. Empty: equal ones.",
           .group = kModel,
           .least = 1e-6,
           .most = 1e6,
           .programs = kModels}),
      Row<&ModelOptions::sentencepiece>(
          {.name = "sentencepiece",
           .help = "SentencePiece models for a model without them: SOURCE.spm[,TARGET.spm]. One "
                   "serves both sides.",
           .group = kModel,
           .excludes = "tokenized",
           .programs = "translate score bench inspect-attention convert serve"}),
      Row<&ModelOptions::encoder_attention>(
          {.name = "encoder_attention",
           .help = "Mechanism that replaces full attention in the encoder's layers: window:64, "
                   "bigbird, lsh, mean:2, pool, ...; one for all layers, or one for each with "
                   "semicolons between them. With several models, it is used in the first.",
           .group = kModel,
           .programs = "translate score bench inspect-attention convert serve"}),
      Row<&ModelOptions::compute_type>(
          {.name = "compute_type",
           .help = "Type of the matrix products: auto takes the fastest on this CPU, which is int8 "
                   "on any x86-64 since SSE4.1.",
           .group = kSpeed,
           .values = "auto float32 bfloat16 int8",
           .programs = kLoading,
           .is_common = true}),
      Row<&ModelOptions::shortlist>(
          {.name = "shortlist",
           .help = "Lexical shortlist (Marian's, or a vmap.txt) that narrows the output to tokens "
                   "worth it for a line. Empty: the model's own, if it has one; none: all tokens.",
           .group = kSpeed,
           .programs = "translate bench inspect-attention convert serve"}),
      Row<&ModelOptions::draft_model>(
          {.name = "draft_model",
           .help = "A smaller model of the same vocabularies that guesses the next tokens, which "
                   "the model then checks all at once: greedy search of few lines at a time gets "
                   "faster, and what it finds stays the same. Needs --beam_size=1.",
           .group = kSpeed,
           .programs = kSearches}),
  };
  return rows;
}

absl::Span<const OptionRow> SpeedOptionRows() {
  static const auto& rows = *new std::vector<OptionRow>{
      Row<&SpeedOptions::threads>(
          {.name = "threads",
           .help = "Threads among which sentences are shared out, a single one of an int8 model "
                   "too; 0: as many as there are cores.",
           .group = kSpeed,
           .least = 0,
           .most = 1024,
           .programs = kModels,
           .is_common = true}),
      Row<&SpeedOptions::batch_size>(
          {.name = "batch_size",
           .help = "What a thread decodes together; 0: chosen for speed.",
           .group = kSpeed,
           .least = 0,
           .most = 65536,
           .programs = kModels}),
      Row<&SpeedOptions::batch_type>(
          {.name = "batch_type",
           .help = "Unit of --batch_size: examples (sentences) or tokens (of the sources).",
           .group = kSpeed,
           .values = "examples tokens",
           .programs = kModels}),
      Row<&SpeedOptions::queue_size>(
          {.name = "queue_size",
           .help = "Sentences that may be under way; 0: chosen for speed.",
           .group = kSpeed,
           .least = 0,
           .programs = "serve"}),
  };
  return rows;
}

absl::Span<const OptionRow> TextOptionRows() {
  static const auto& rows = *new std::vector<OptionRow>{
      Row<&Options::src_lang>(
          {.name = "src_lang",
           .help = "Language of the source, for models that have to be told; in any common form: "
                   "en, eng, en-US, eng_Latn.",
           .group = kText,
           .programs = "translate score bench inspect-attention serve",
           .is_common = true}),
      Row<&Options::tgt_lang>(
          {.name = "tgt_lang",
           .help = "Language to translate into, for models that have to be told.",
           .group = kText,
           .programs = "translate score bench inspect-attention serve",
           .is_common = true}),
      Row<&Options::text>(
          {.name = "text",
           .help = "Units of the text: lines (each is a text of its own); paragraphs (of text that "
                   "is wrapped by hand, as mails and READMEs are; a line each in the output, with "
                   "quoting marks, indentation, bullets and blank lines as they were); or document "
                   "(with --markup: the block elements of a whole page, whatever lines they are "
                   "written on). A --src that ends in .html, .htm, .xhtml or .xml is a document "
                   "unless --text or --markup is given.",
           .group = kText,
           .values = "lines paragraphs document",
           .excludes = "tokenized",
           .programs = kTranslating,
           .is_common = true}),
      Row<&Options::markup>(
          {.name = "markup",
           .help =
               "Markup of the text: none, html or xml. Tags stay, inline ones around what their "
               "words become; code, scripts, comments and translate=\"no\" are left alone.",
           .group = kText,
           .values = "none html xml",
           .excludes = "tokenized text=paragraphs",
           .programs = kTranslating,
           .is_common = true}),
      Row<&Options::wrap>({.name = "wrap",
                           .help = "Columns after which lines of paragraphs are wrapped again; 0: "
                                   "each paragraph is one line.",
                           .group = kText,
                           .least = 0,
                           .needs = "text=paragraphs",
                           .programs = "translate"}),
      Row<&Options::tokenized>(
          {.name = "tokenized",
           .help = "Source and translation are pieces separated by single spaces.",
           .group = kText,
           .programs = "translate score inspect-attention"}),
      Row<&Options::split_sentences>(
          {.name = "split_sentences",
           .help = "Translate the sentences of a line one by one, and keep the white space between "
                   "them; not with --tokenized.",
           .group = kText,
           .programs = kTexts}),
      Row<&Options::split_language>(
          {.name = "split_language",
           .help = "Language of the text, for --split_sentences: en, de-DE, zho_Hans, ...; empty: "
                   "--src_lang, or what the model says.",
           .group = kText,
           .programs = kTexts}),
      Row<&Options::protect>(
          {.name = "protect",
           .help = "Parts of a text that come out as they are: all, none, or any of urls, emails "
                   "(and @names), paths, placeholders, emoji, unknown (characters that the model "
                   "does not know), with commas between them. Not with --tokenized.",
           .group = kContent,
           .programs = kTexts}),
      Row<&Options::protect_pattern>(
          {.name = "protect_pattern",
           .help = "A regular expression (RE2's) whose matches come out as they are, too.",
           .group = kContent,
           .programs = kTexts}),
      Row<&Options::suppress_sequences>(
          {.name = "suppress_sequences",
           .help = "Sequences that are never generated: tokens with blanks, sequences with commas "
                   "between them.",
           .group = kContent,
           .programs = kTranslating}),
      Row<&Options::end_token>(
          {.name = "end_token",
           .help = "Any of these tokens (with commas between them) ends a hypothesis, in place of "
                   "the model's end of sentence.",
           .group = kContent,
           .programs = kTranslating}),
      Row<&Options::replace_unknowns>(
          {.name = "replace_unknowns",
           .help = "Replace an unknown token by the source token that it attends to most.",
           .group = kContent,
           .programs = kTranslating}),
      Row<&Options::prefix_bias_beta>(
          {.name = "prefix_bias_beta",
           .help = "With --target_prefix. 0: the prefix is taken as it is. Above 0, below 1: it is "
                   "favoured, p' = (1 - beta) p + beta for its next token, until a hypothesis "
                   "leaves it.",
           .group = kContent,
           .least = 0,
           .most = 1,
           .programs = kTranslating}),
      Row<&Options::alignment>(
          {.name = "alignment",
           .help = "Source tokens that the target tokens come from: none; hard (pairs s-t, from "
                   "0), or soft (the attention). In text and nbest behind ||| at the end.",
           .group = kContent,
           .values = "none hard soft",
           .programs = kTranslating}),
      Row<&Options::alignment_level>({.name = "alignment_level",
                                      .help = "Units of the alignment: pieces or words.",
                                      .group = kContent,
                                      .values = "pieces words",
                                      .needs = "alignment",
                                      .programs = kTranslating}),
      Row<&Options::alignment_layer>(
          {.name = "alignment_layer",
           .help = "Decoder layer whose cross-attention is taken, from 0; -1: the last one. A "
                   "model's own is used unless this is given.",
           .group = kContent,
           .default_value = "-1",
           .programs = kTranslating}),
      Row<&Options::alignment_heads>(
          {.name = "alignment_heads",
           .help = "Heads whose mean is taken; 0: all. A model's own number is used unless this is "
                   "given.",
           .group = kContent,
           .default_value = "0",
           .programs = kTranslating}),
      Row<&Options::beam_size>(
          {.name = "beam_size",
           .help =
               "Hypotheses kept at each step; 1 is greedy search. A model's own default is used "
               "in place of 4.",
           .group = kSearch,
           .default_value = "4",
           .least = 1,
           .most = 1024,
           .programs = "translate bench inspect-attention serve",
           .is_common = true}),
      Row<&Options::patience>(
          {.name = "patience",
           .help =
               "Beam search goes on until round(beam_size * patience) hypotheses have finished.",
           .group = kSearch,
           .programs = kSearches}),
      Row<&Options::num_hypotheses>(
          {.name = "num_hypotheses",
           .help = "Hypotheses returned for a line, best first (nbest and jsonl): more than 1 need "
                   "a beam, --sampling_topk or --return_alternatives.",
           .group = kSearch,
           .programs = kSearches,
           .is_common = true}),
      Row<&Options::search_compat>(
          {.name = "search_compat",
           .help =
               "System whose rules say when a search ends: nibu, ctranslate2 (the same), marian "
               "or huggingface.",
           .group = kSearch,
           .values = "nibu ctranslate2 marian huggingface",
           .programs = kSearches}),
      Row<&Options::length_penalty>(
          {.name = "length_penalty",
           .help =
               "Hypotheses are ranked by log-probability / length^length_penalty. A model's own "
               "default is used in place of 1.",
           .group = kSearch,
           .default_value = "1",
           .least = -8,
           .most = 8,
           .programs = kSearches}),
      Row<&Options::word_penalty>(
          {.name = "word_penalty",
           .help = "Taken from the log-probability for each token (Marian). A model's own default "
                   "is used in place of 0.",
           .group = kSearch,
           .default_value = "0",
           .least = -1e6,
           .most = 1e6,
           .programs = kSearches}),
      Row<&Options::coverage_penalty>(
          {.name = "coverage_penalty",
           .help = "Weight of the logarithms of the attention that each source token got (at most "
                   "1), which are added to the score.",
           .group = kSearch,
           .least = -1e6,
           .most = 1e6,
           .programs = kSearches}),
      Row<&Options::repetition_penalty>(
          {.name = "repetition_penalty",
           .help = "Above 1: makes tokens that a hypothesis has less probable.",
           .group = kSearch,
           .programs = kSearches}),
      Row<&Options::no_repeat_ngram_size>(
          {.name = "no_repeat_ngram_size",
           .help = "So many tokens in a row do not come twice in a hypothesis; 0: they may. A "
                   "model's own default is used unless this is given.",
           .group = kSearch,
           .default_value = "0",
           .least = 0,
           .programs = kSearches}),
      Row<&Options::disable_unk>({.name = "disable_unk",
                                  .help = "Never generate the unknown token.",
                                  .group = kSearch,
                                  .programs = kSearches}),
      Row<&Options::on_repetition>(
          {.name = "on_repetition",
           .help = "What becomes of a translation that is caught in a loop: keep; or retry, once "
                   "more with no n-gram of 3 tokens twice, and the better one by the plain score.",
           .group = kSearch,
           .values = "keep retry",
           .programs = kSearches}),
      Row<&Options::return_alternatives>(
          {.name = "return_alternatives",
           .help = "Return the --num_hypotheses most probable tokens behind the prefix (or the "
                   "first ones), each completed by a search of its own.",
           .group = kSearch,
           .programs = kSearches}),
      Row<&Options::min_alternative_expansion_prob>(
          {.name = "min_alternative_expansion_prob",
           .help = "Alternatives that begin with a less probable token are left out, but for the "
                   "first.",
           .group = kSearch,
           .least = 0,
           .most = 1,
           .needs = "return_alternatives",
           .programs = kSearches}),
      Row<&Options::sampling_topk>(
          {.name = "sampling_topk",
           .help =
               "Tokens are drawn at random from so many of the most probable ones; 0: from all; "
               "1: no sampling. Needs --beam_size=1, which it sets.",
           .group = kSearch,
           .least = 0,
           .programs = kSearches}),
      Row<&Options::sampling_topp>(
          {.name = "sampling_topp",
           .help = "Tokens are drawn from the most probable ones that together have this "
                   "probability.",
           .group = kSearch,
           .needs = "sampling_topk",
           .programs = kSearches}),
      Row<&Options::sampling_temperature>(
          {.name = "sampling_temperature",
           .help = "Below 1: probable tokens are drawn more often; above 1: less often.",
           .group = kSearch,
           .needs = "sampling_topk",
           .programs = kSearches}),
      Row<&Options::seed>({.name = "seed",
                           .help = "Seed of sampling: the same seed gives the same output.",
                           .group = kSearch,
                           .programs = kSearches}),
      Row<&Options::min_decoding_length>({.name = "min_decoding_length",
                                          .help = "Tokens generated at least, for a sentence.",
                                          .group = kLengths,
                                          .programs = kTranslating}),
      Row<&Options::max_decoding_length>(
          {.name = "max_decoding_length",
           .help = "Tokens generated at most, for a sentence (never more than the model's "
                   "positions). A model's own default is used in place of 256.",
           .group = kLengths,
           .default_value = "256",
           .least = 1,
           .programs = kTranslating}),
      Row<&Options::max_input_length>(
          {.name = "max_input_length",
           .help = "Tokens of a sentence translated in one piece (never more than the model's "
                   "positions).",
           .group = kLengths,
           .least = 1,
           .programs = "translate score bench serve"}),
      Row<&Options::long_input>(
          {.name = "long_input",
           .help = "What to do with a sentence (without --split_sentences: a line) of more than "
                   "--max_input_length tokens: split (at sentence or clause ends; the translations "
                   "are joined), truncate, or error (the line comes out empty and the exit status "
                   "is 1).",
           .group = kLengths,
           .values = "split truncate error",
           .programs = kTranslating}),
  };
  return rows;
}

}  // namespace nibu::internal
