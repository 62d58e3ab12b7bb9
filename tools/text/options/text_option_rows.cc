// Lists the library's options for translating texts, as rows of the table of options.

#include "engine/search/decoding_options.h"
#include "tools/text/options/option_groups.h"
#include "tools/text/options/option_table.h"

namespace nibu::internal {
namespace {

// Sets of programs.
constexpr char kTexts[] = "translate score bench serve";
constexpr char kSearches[] = "translate bench serve";
constexpr char kTranslating[] = "translate serve";

}  // namespace

absl::Span<const OptionRow> TextOptionRows() {
  static const auto& rows = *new std::vector<OptionRow>(OptionRows({
      Row<&Options::src_lang>(
          {.help = "Language of the source, for models that have to be told. Any common form will "
                   "do: de, deu, de-DE, deu_Latn. M2M-100, NLLB and mBART are such models; an "
                   "unknown code is answered with the list of the model's codes. nibu-translate "
                   "and nibu-score also take auto, which detects the language of each line among "
                   "those of the model; jsonl output tells it.",
           .group = kTextGroup,
           .programs = "translate score bench inspect-attention",
           .is_common = true}),
      Row<&Options::tgt_lang>(
          {.help = "Language of the translation, for models that have to be told. It has the forms "
                   "of --src_lang. For models with tokens such as >>fra<< (OPUS-MT) and <2fr> "
                   "(MADLAD-400) it puts the token in front of each line that has none.",
           .programs = "translate score bench inspect-attention",
           .is_common = true}),
      Row<&Options::text>(
          {.help =
               "Form of the text: lines, paragraphs wrapped by hand, or a whole document. lines: "
               "each line is a text of its own. paragraphs: the lines of a paragraph, as mails "
               "and READMEs have them, are one text and become one line of output; quoting "
               "marks, indentation, bullets and blank lines stay as they were. document: with "
               "--markup, each block element of the page is a text, whatever lines it is "
               "written on. A --src that ends in .html, .htm, .xhtml or .xml is a document, unless "
               "--text (other than document), --markup, --tokenized or --target_prefix is given.",
           .values = "lines paragraphs document",
           .excludes = "tokenized",
           .programs = "translate",
           .is_common = true}),
      Row<&Options::markup>(
          {.help = "Markup of the text: none, html or xml. Tags are kept, and inline tags are "
                   "placed around the translations of the words that they enclosed. Code, scripts, "
                   "comments and elements with translate=\"no\" stay as they are.",
           .values = "none html xml",
           .excludes = "tokenized text=paragraphs",
           .programs = "translate",
           .is_common = true}),
      Row<&Options::markup_attributes>(
          {.help = "Translate the texts in the tags of an HTML document. They are alt, title, "
                   "placeholder, aria-label, descriptions in meta tags, and the values of buttons "
                   "and text areas.",
           .programs = "translate"}),
      Row<&Options::wrap>(
          {.help = "Width in columns at which translated paragraphs are wrapped; 0 does not wrap.",
           .least = 0,
           .needs = "text=paragraphs",
           .excludes = "output_format print_scores",
           .programs = "translate"}),
      Row<&Options::tokenized>(
          {.help = "Treat source and translation as tokens separated by single spaces. No "
                   "SentencePiece model is used, and no sentences are split.",
           .excludes = "src_lang=auto",
           .programs = "translate score inspect-attention"}),
      Row<&Options::split_sentences>(
          {.help = "Translate the sentences of a line one by one. The white space between them is "
                   "kept. It is off with --tokenized, and cannot be asked for there.",
           .programs = kTexts}),
      Row<&Options::split_language>(
          {.help = "Language whose rules split sentences: en, de-DE, zho_Hans, ... Empty: that of "
                   "--src_lang or, without one, the model's source language.",
           .programs = "translate score"}),
      Row<&Options::protect>(
          {.help = "Kinds of text that come out unchanged. all, none, or a list, separated by "
                   "commas, of urls, emails (with @user and #tag), paths, placeholders, emoji, "
                   "codes (code, escapes, and in plain text tags and Markdown), capitals, numbers "
                   "(versions and IP addresses; amounts and times that would change) and unknown "
                   "(characters that the model does not know). It is off with --tokenized.",
           .group = kSearchOnTextGroup,
           .programs = kTexts}),
      Row<&Options::protect_pattern>(
          {.help = "Regular expression (in RE2's syntax) whose matches come out unchanged, too.",
           .excludes = "tokenized",
           .programs = kTexts}),
      Row<&Options::suppress_sequences>(
          {.help =
               "Sequences of tokens that are never generated. Spaces separate the tokens of a "
               "sequence, and commas separate sequences; a comma within a token is written \\,.",
           .programs = kTranslating}),
      Row<&Options::end_token>(
          {.help = "Tokens, separated by commas, any of which ends a hypothesis. A comma within a "
                   "token is written \\,. They take the place of the model's end token.",
           .programs = kTranslating}),
      Row<&Options::replace_unknowns>(
          {.help = "Replace each unknown token by the source token that it attends to most.",
           .programs = kTranslating}),
      Row<&Options::prefix_bias_beta>(
          {.help = "Strength with which the prefix of --target_prefix is favoured; 0 enforces it. "
                   "Above 0 and below 1, its next token has the probability p' = (1 - beta) p + "
                   "beta, until a hypothesis leaves the prefix.",
           .least = 0,
           .most = 1,
           .is_below_most = true,
           .needs = "target_prefix input_format=jsonl",
           .programs = "translate"}),
      Row<&Options::alignment>(
          {.help = "Alignment of target tokens to source tokens that is printed. hard: pairs "
                   "source-target, counted from 0. soft: the attention matrix. Formats text and "
                   "nbest have it at the end of the line, behind |||.",
           .values = "none hard soft",
           .programs = "translate"}),
      Row<&Options::alignment_level>({.help = "Units of the alignment: pieces or words.",
                                      .values = "pieces words",
                                      .needs = "alignment",
                                      .programs = "translate"}),
      Row<&Options::alignment_layer>(
          {.help = "Decoder layer whose cross-attention aligns tokens, from 0; -1 is the last. The "
                   "model's own choice, if it has one, is used unless this is given.",
           .default_value = "-1",
           .programs = "translate"}),
      Row<&Options::alignment_heads>(
          {.help = "Number of heads whose mean aligns tokens; 0 means all. The model's own number, "
                   "if it has one, is used unless this is given.",
           .default_value = "0",
           .least = 0,
           .programs = "translate"}),
      Row<&Options::beam_size>(
          {.help = "Number of hypotheses kept at each step; 1 is greedy search. A model's own "
                   "default takes the place of 4.",
           .group = kSearchGroup,
           .default_value = "4",
           .least = DecodingOptions::kBeamSizes.least,
           .most = DecodingOptions::kBeamSizes.most,
           .programs = "translate bench inspect-attention serve",
           .is_common = true}),
      Row<&Options::patience>(
          {.help = "Factor that makes beam search wait for more finished hypotheses. The search "
                   "goes on until round(beam_size * patience) hypotheses have finished.",
           .least = 0,
           .most = DecodingOptions::kMostPatience,
           .is_above_least = true,
           .programs = kSearches}),
      Row<&Options::num_hypotheses>(
          {.help = "Number of hypotheses returned for each line, best first. More than 1 need a "
                   "beam, --sampling_topk or --return_alternatives, and in nibu-translate a format "
                   "that has room for them: nbest or jsonl.",
           .least = 1,
           .programs = "translate bench",
           .is_common = true}),
      Row<&Options::search_compat>(
          {.help = "System whose rules decide when a search ends. nibu and ctranslate2 are the "
                   "same rules; marian and huggingface do not go with --patience.",
           .values = "nibu ctranslate2 marian huggingface",
           .programs = kSearches}),
      Row<&Options::length_penalty>(
          {.help = "Exponent of the length by which a hypothesis's log-probability is divided. "
                   "Hypotheses are ranked by log-probability / length^length_penalty, where the "
                   "end token counts. A model's own default takes the place of 1.",
           .default_value = "1",
           .least = DecodingOptions::kLengthPenalties.least,
           .most = DecodingOptions::kLengthPenalties.most,
           .programs = kSearches}),
      Row<&Options::word_penalty>(
          {.help = "Amount that each token subtracts from the log-probability, as in Marian. A "
                   "model's own default takes the place of 0.",
           .default_value = "0",
           .least = DecodingOptions::kPenalties.least,
           .most = DecodingOptions::kPenalties.most,
           .programs = kSearches}),
      Row<&Options::coverage_penalty>(
          {.help = "Weight of a term of the score for source tokens that got little attention. The "
                   "term is the sum of log(min(attention received, 1)) over the source tokens. The "
                   "attention is that of the layer and heads that the model names for alignments, "
                   "by default all heads of the last layer.",
           .least = DecodingOptions::kPenalties.least,
           .most = DecodingOptions::kPenalties.most,
           .programs = kSearches}),
      Row<&Options::repetition_penalty>(
          {.help = "Penalty for tokens that a hypothesis already has; 1 means none. Above 1, they "
                   "become less probable. A model's own default is used unless this is given.",
           .default_value = "1",
           .least = DecodingOptions::kRepetitionPenalties.least,
           .most = DecodingOptions::kRepetitionPenalties.most,
           .programs = kSearches}),
      Row<&Options::no_repeat_ngram_size>(
          {.help = "Length of n-grams that occur only once in a hypothesis; 0 allows all. A "
                   "model's own default is used unless this is given.",
           .default_value = "0",
           .least = 0,
           .programs = kSearches}),
      Row<&Options::disable_unk>(
          {.help = "Never generate the unknown token.", .programs = kSearches}),
      Row<&Options::on_repetition>(
          {.help = "Treatment of a translation that repeats itself in a loop. keep: it stays. "
                   "retry: it is searched once more without repeated 3-grams, and the better of "
                   "the two by plain score is taken; this goes neither with alternatives nor with "
                   "several samples.",
           .values = "keep retry",
           .programs = kSearches}),
      Row<&Options::return_alternatives>(
          {.help = "Return hypotheses that begin with the most probable first tokens. These are "
                   "the --num_hypotheses most probable tokens, behind the target prefix if there "
                   "is one, each completed by a search of its own.",
           .programs = "translate bench"}),
      Row<&Options::min_alternative_expansion_prob>(
          {.help = "Least probability that the first token of an alternative must have. The first "
                   "alternative always stays.",
           .least = 0,
           .most = 1,
           .needs = "return_alternatives",
           .programs = "translate bench"}),
      Row<&Options::sampling_topk>(
          {.help = "Number of most probable tokens from which each token is drawn at random. 1: "
                   "nothing is drawn at random. 0: tokens are drawn from the whole vocabulary. Any "
                   "value but 1 sets --beam_size=1.",
           .least = 0,
           .programs = kSearches}),
      Row<&Options::sampling_topp>(
          {.help = "Total probability of the most probable tokens from which tokens are drawn.",
           .least = 0,
           .most = 1,
           .is_above_least = true,
           .needs = "sampling_topk",
           .programs = kSearches}),
      Row<&Options::sampling_temperature>(
          {.help = "Temperature of sampling. Below 1, probable tokens are drawn more often; above "
                   "1, less often.",
           .least = 0,
           .most = Sampling::kMostTemperature,
           .is_above_least = true,
           .needs = "sampling_topk",
           .programs = kSearches}),
      Row<&Options::seed>(
          {.help = "Seed of sampling: the same seed gives the same samples, whatever the batch.",
           .programs = kSearches}),
      Row<&Options::min_decoding_length>(
          {.help = "Fewest tokens generated for a sentence. A model's own default takes the "
                   "place of 1. Without it, nibu-score gives the model's "
                   "own probabilities, of the end token and of padding, too; with it, those that a "
                   "search sees, and with 1 the scores that nibu-translate prints.",
           .group = kLengthsGroup,
           .default_value = "1",
           .least = 0,
           .programs = "translate score serve"}),
      Row<&Options::max_decoding_length>(
          {.help = "Most tokens generated for a sentence. The model's positions and Marian's "
                   "max-length-factor are limits, too. A model's own default takes the place of "
                   "256.",
           .default_value = "256",
           .least = 1,
           .programs = kTranslating}),
      Row<&Options::max_input_length>(
          {.help = "Most tokens of a sentence that are translated in one piece. The model's "
                   "positions are a limit, too.",
           .least = 1,
           .programs = "translate score bench serve"}),
      Row<&Options::long_input>(
          {.help = "Treatment of a sentence that has more tokens than --max_input_length. split: "
                   "it is cut at sentence or clause ends, and the translations are joined. "
                   "truncate: only its beginning is translated. error: its line comes out empty, "
                   "and the exit status is 1. Without --split_sentences, each line is a sentence.",
           .values = "split truncate error",
           .programs = kTranslating}),
  }));
  return rows;
}

}  // namespace nibu::internal
