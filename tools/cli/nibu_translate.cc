// nibu-translate: text in, translations out.

#include <cstdio>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/flags/flag.h"
#include "absl/flags/reflection.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "engine/core/check_range.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "nlohmann/json.hpp"
#include "tools/cli/decoding_flags.h"
#include "tools/cli/flags.h"
#include "tools/cli/lines.h"
#include "tools/cli/output_format.h"
#include "tools/cli/run_lines.h"
#include "tools/text/glossary.h"
#include "tools/text/layout.h"
#include "tools/text/markup.h"
#include "tools/text/resources.h"
#include "tools/text/text_translator.h"

ABSL_FLAG(std::string, src, "-",
          "File with one segment a line (UTF-8, or compressed with gzip; lines end in LF or CR "
          "LF); - is standard input.");
ABSL_FLAG(bool, tokenized, false,
          "Input and output are pieces separated by single spaces (no SentencePiece).");
ABSL_FLAG(std::string, text, "lines",
          "lines: each is a text of its own; or paragraphs: of text that is wrapped by hand "
          "(mails, READMEs), a line each in the output, with quoting marks, indentation, bullets "
          "and blank lines as they were.");
ABSL_FLAG(int, wrap, 0,
          "With --text=paragraphs: columns after which lines are wrapped again; 0: not.");
ABSL_FLAG(std::string, markup, "none",
          "none, html or xml: tags stay, inline ones around what their words become; code, "
          "scripts, comments and translate=\"no\" are left alone. Line by line.");
ABSL_FLAG(std::string, long_input, "split",
          "What to do with a sentence (without --split_sentences: a line) of more than "
          "max_input_length tokens: split (at sentence or clause ends; the translations are "
          "joined), truncate, or error (the line comes out empty and the exit status is 1).");
ABSL_FLAG(
    std::string, output_format, "text",
    "text; nbest (\"index ||| text ||| logprob= S ||| score\", a line a hypothesis); or jsonl "
    "(text, tokens, score and token_scores of every hypothesis; \"finished\": false where it was "
    "cut at a length limit, and \"warnings\" as of --warnings where there are any).");
ABSL_FLAG(bool, stats, false,
          "At the end one line of JSON on standard error: counts, times, memory; "
          "target_tokens leaves out the ends of sentences, unfinished_sentences were cut at a "
          "length limit, looping_sentences repeat themselves, "
          "warnings are lines by what --warnings says of them.");
ABSL_FLAG(bool, print_scores, false, "Text output: the score in front, then a tab.");
ABSL_FLAG(std::string, target_prefix, "",
          "File of what the translations begin with, line by line with the source; an empty line: "
          "nothing.");
ABSL_FLAG(std::vector<std::string>, suppress_sequences, {},
          "Sequences that are never generated: tokens with blanks, sequences with commas between "
          "them.");
ABSL_FLAG(bool, replace_unknowns, false,
          "An unknown token becomes the source token that it attends to most.");
ABSL_FLAG(std::vector<std::string>, end_token, {},
          "Any of these tokens (with commas between them) ends a hypothesis, in place of the "
          "model's end of sentence.");
ABSL_FLAG(std::string, glossary, "",
          "File of terms, \"SOURCE<tab>TARGET\" a line: where a source phrase is in a sentence, "
          "one of its targets is to be in the translation. Needs a beam.");
ABSL_FLAG(std::string, alignment, "none",
          "Which source tokens the target tokens come from: none; hard (pairs s-t, from 0), or "
          "soft (the attention). In text and nbest behind ||| at the end.");
ABSL_FLAG(std::string, alignment_level, "pieces", "pieces or words.");

namespace nibu::internal {
namespace {

ProgramInfo Program() {
  return {"nibu-translate",
          "[flags] [TEXT ...]",
          "Translates each TEXT, or each line of --src, with an encoder-decoder Transformer. One\n"
          "output line for every input line (but with --text=paragraphs), in order, as soon as it\n"
          "is ready.",
          {{"Model and text",
            "model ensemble_weights src_lang tgt_lang src out tokenized sentencepiece "
            "encoder_attention split_sentences split_language text wrap markup"},
           {"Search", kSearchFlags},
           {"Search, of text",
            "suppress_sequences end_token replace_unknowns target_prefix prefix_bias_beta glossary "
            "protect protect_pattern alignment alignment_level alignment_layer alignment_heads"},
           {"Lengths", "min_decoding_length max_decoding_length max_input_length long_input"},
           {"Speed (only compute_type and shortlist can change a result)", kSpeedFlags},
           {"Output", "output_format print_scores progress stats warnings"}},
          /*takes_text=*/true};
}

// What the flags say, checked. text.decoding, which a model has defaults for, comes with the model.
struct Settings {
  ModelFlags model;
  TranslatorOptions translator;
  TextOptions text;
  OutputOptions output;
  bool paragraphs = false;
  Markup markup = Markup::kNone;
};

absl::Status CheckCompanions() {
  const auto is_set = [](const char* flag) {
    const absl::CommandLineFlag& given = *absl::FindCommandLineFlag(flag);
    return given.CurrentValue() != given.DefaultValue();
  };
  for (const auto& [flag, companion] : {std::pair{"sampling_topp", "sampling_topk"},
                                        {"sampling_temperature", "sampling_topk"},
                                        {"prefix_bias_beta", "target_prefix"},
                                        {"min_alternative_expansion_prob", "return_alternatives"},
                                        {"alignment_level", "alignment"}}) {
    if (is_set(flag) && !is_set(companion)) {
      return WrongUsage("--", flag, " means nothing without --", companion);
    }
  }
  return absl::OkStatus();
}

// But for what a glossary's file says.
absl::StatusOr<TextOptions> ReadTextOptions() {
  NIBU_RETURN_IF_ERROR(CheckCompanions());
  TextOptions text = ReadTextFlags(absl::GetFlag(FLAGS_tokenized));
  NIBU_RETURN_IF_ERROR(ReadSentenceFlags(&text));
  text.replace_unknowns = absl::GetFlag(FLAGS_replace_unknowns);
  text.end_tokens = absl::GetFlag(FLAGS_end_token);
  for (const std::string& sequence : absl::GetFlag(FLAGS_suppress_sequences)) {
    // An empty one is refused later on.
    text.suppress_sequences.push_back(absl::StrSplit(sequence, ' ', absl::SkipEmpty()));
  }
  NIBU_ASSIGN_OR_RETURN(text.alignment,
                        Choose<AlignmentKind>("alignment", {{"none", AlignmentKind::kNone},
                                                            {"hard", AlignmentKind::kHard},
                                                            {"soft", AlignmentKind::kSoft}}));
  NIBU_ASSIGN_OR_RETURN(text.align_words,
                        Choose<bool>("alignment_level", {{"pieces", false}, {"words", true}}));
  NIBU_ASSIGN_OR_RETURN(text.long_input,
                        Choose<LongInput>("long_input", {{"split", LongInput::kSplit},
                                                         {"truncate", LongInput::kTruncate},
                                                         {"error", LongInput::kError}}));
  return text;
}

// Flags that do not go together.
absl::Status CheckTogether(const Settings& settings, const std::vector<std::string>& texts) {
  const int wrap = absl::GetFlag(FLAGS_wrap);
  const auto& [model, translator, text, output, paragraphs, markup] = settings;
  const bool is_marked = markup != Markup::kNone;
  const bool is_text = output.format == OutputFormat::kText;
  const std::string prefix = absl::GetFlag(FLAGS_target_prefix);
  return Refuse(
      {{is_marked && text.tokenized, "--markup and --tokenized do not go together"},
       {is_marked && paragraphs, "--markup and --text=paragraphs do not go together"},
       {wrap > 0 && !paragraphs, "--wrap and --text=lines do not go together"},
       {paragraphs && text.tokenized, "--text=paragraphs and --tokenized do not go together"},
       {paragraphs && !prefix.empty(),
        "--text=paragraphs and --target_prefix, which has lines, do not go together"},
       {wrap > 0 && output.format != OutputFormat::kText,
        "--wrap and --output_format do not go together"},
       {wrap > 0 && output.print_scores, "--wrap and --print_scores do not go together"},
       {wrap > 0 && output.alignment != AlignmentKind::kNone,
        "--wrap and --alignment do not go together"},
       {paragraphs && texts.size() > 1,
        "--text=paragraphs takes one TEXT, with line feeds; or a file with --src"},
       {is_text && absl::GetFlag(FLAGS_num_hypotheses) > 1,
        "--num_hypotheses needs --output_format=nbest or jsonl; text is the best one alone"},
       {!is_text && output.print_scores,
        "--print_scores is for --output_format=text; nbest and jsonl have the scores in them"},
       {absl::GetFlag(FLAGS_glossary) == "-", "--glossary must be a file, not standard input"},
       {prefix == "-" && texts.empty() && absl::GetFlag(FLAGS_src) == "-",
        "--src and --target_prefix cannot both be standard input; give one of them a file"}});
}

absl::StatusOr<Settings> ReadFlags(const std::vector<std::string>& texts) {
  Settings settings;
  NIBU_ASSIGN_OR_RETURN(settings.model, ReadModelFlags());
  NIBU_ASSIGN_OR_RETURN(settings.output.format,
                        Choose<OutputFormat>("output_format", {{"text", OutputFormat::kText},
                                                               {"nbest", OutputFormat::kNBest},
                                                               {"jsonl", OutputFormat::kJsonl}}));
  settings.output.print_scores = absl::GetFlag(FLAGS_print_scores);
  NIBU_ASSIGN_OR_RETURN(settings.translator, ReadTranslatorFlags());
  NIBU_ASSIGN_OR_RETURN(settings.text, ReadTextOptions());
  settings.output.alignment = settings.text.alignment;
  NIBU_ASSIGN_OR_RETURN(settings.paragraphs,
                        Choose<bool>("text", {{"lines", false}, {"paragraphs", true}}));
  NIBU_RETURN_IF_ERROR(UsageOfFlag(CheckRange("wrap", absl::GetFlag(FLAGS_wrap), 0)));
  NIBU_ASSIGN_OR_RETURN(settings.markup, Choose<Markup>("markup", {{"none", Markup::kNone},
                                                                   {"html", Markup::kHtml},
                                                                   {"xml", Markup::kXml}}));
  NIBU_RETURN_IF_ERROR(CheckTogether(settings, texts));
  return settings;
}

absl::StatusOr<std::vector<GlossaryEntry>> ReadGlossaryFlag() {
  const std::string path = absl::GetFlag(FLAGS_glossary);
  if (path.empty()) return std::vector<GlossaryEntry>();
  NIBU_ASSIGN_OR_RETURN(InputLines file, InputLines::Open(path));
  std::string text;
  for (std::string line;; absl::StrAppend(&text, line, "\n")) {
    NIBU_ASSIGN_OR_RETURN(const bool more, file.Next(&line));
    if (!more) break;
  }
  auto entries = ParseGlossary(text);
  if (!entries.ok()) return Invalid(path, ": ", entries.status().message());
  return entries;
}

// What there is to say of lines that went wrong: an error, or warnings.
absl::Status Report(const Totals& totals, const TextOptions& text, int max_input_length) {
  NIBU_RETURN_IF_ERROR(totals.Failure("translated"));
  if (totals.too_long > 0) {
    const bool is_split = text.long_input == LongInput::kSplit;
    PrintWarning(absl::StrCat(totals.too_long, " line(s) of more than ", max_input_length,
                              " tokens were ",
                              is_split ? "split and translated in parts" : "truncated"));
  }
  if (const uint64_t unfinished = totals.warned[Warning::kUnfinished]; unfinished > 0) {
    PrintWarning(absl::StrCat(
        unfinished, " line(s) were cut before their end, at --max_decoding_length=",
        text.decoding.max_decoding_length, " or what the model allows; jsonl says which"));
  }
  if (const uint64_t looping = totals.warned[Warning::kRepetition]; looping > 0) {
    PrintWarning(absl::StrCat(looping,
                              " line(s) repeat themselves; jsonl says which, "
                              "--on_repetition=retry tries them once more"));
  }
  return absl::OkStatus();
}

void PrintStats(const Settings& settings, const Totals& totals, double load_seconds,
                double seconds) {
  nlohmann::ordered_json warnings;
  for (size_t i = 0; i < totals.warned.size(); ++i) warnings[kWarningNames[i]] = totals.warned[i];
  const nlohmann::ordered_json stats = {
      {"sentences", totals.lines},
      {"source_tokens", totals.source_tokens},
      {"target_tokens", totals.target_tokens},
      {"unfinished_sentences", totals.warned[Warning::kUnfinished]},
      {"looping_sentences", totals.warned[Warning::kRepetition]},
      {"warnings", warnings},
      {"load_seconds", load_seconds},
      {"seconds", seconds},
      {"tokens_per_second", static_cast<double>(totals.target_tokens) / seconds},
      {"peak_rss_bytes", PeakMemoryBytes()},
      {"compute_type", ComputeTypeName(settings.model.compute_type)},
      {"threads", settings.translator.threads}};
  std::fprintf(stderr, "%s\n", stats.dump().c_str());
}

// The row of a table, cell by cell.
MarkedLine CellsOf(absl::string_view row) {
  MarkedLine line = {{}, "", /*is_marked=*/false};
  for (const absl::string_view cell : absl::StrSplit(row, '|')) {
    line.segments.push_back({line.segments.empty() ? "" : "|", {std::string(cell)}});
  }
  return line;
}

absl::Status Run(int argc, char** argv) {
  const Clock::time_point start = Clock::now();
  static SignalWatcher& signals = *new SignalWatcher();
  const std::vector<std::string> texts = ParseCommandLineOrExit(Program(), argc, argv);
  NIBU_ASSIGN_OR_RETURN(Settings settings, ReadFlags(texts));
  NIBU_ASSIGN_OR_RETURN(settings.text.glossary, ReadGlossaryFlag());
  OutputFile out(absl::GetFlag(FLAGS_out));
  NIBU_ASSIGN_OR_RETURN(InputLines source,
                        OpenLines(texts, absl::GetFlag(FLAGS_src), out.direct()));
  const std::string prefixes_path = absl::GetFlag(FLAGS_target_prefix);
  std::optional<InputLines> prefixes;
  if (!prefixes_path.empty()) {
    NIBU_ASSIGN_OR_RETURN(prefixes, OpenLines({}, prefixes_path, out.direct()));
  }
  NIBU_ASSIGN_OR_RETURN(const auto translator,
                        LoadTranslator(settings.model, settings.translator, &settings.text));
  settings.text.decoding.return_scores =
      settings.output.print_scores || settings.output.format != OutputFormat::kText;
  const auto plan = translator->Prepare(settings.text);
  NIBU_RETURN_IF_ERROR(UsageOfFlag(plan.status()));
  const double load_seconds = SecondsSince(start);

  Totals totals;
  const auto wrap = static_cast<size_t>(absl::GetFlag(FLAGS_wrap));
  InputParagraphs paragraphs(&source);
  MarkupReader markup(settings.markup);
  Repeats repeats;
  Pipeline::Options options;
  options.report = [&](uint64_t written, double) { repeats.Forget(written); };
  options.sentences = [&] {
    return std::pair(translator->sentences(), translator->translated_sentences());
  };
  options.submit = [&](uint64_t index, const std::string& line, Pipeline::Deliver deliver) {
    Paragraph unit = {"", "", line, false, index};
    if (settings.paragraphs) unit = paragraphs.current();
    const std::string text = std::exchange(unit.text, "");
    // Only JSON repeats the source.
    if (settings.output.format == OutputFormat::kJsonl) unit.text = text;
    const Repeats::Done end = [&, index, unit = std::move(unit), deliver = std::move(deliver)](
                                  uint64_t key, const absl::StatusOr<TextResult>& result) noexcept {
      totals.Add(index, unit.line, result);
      TextResult printed = result.value_or(TextResult());
      if (settings.output.format == OutputFormat::kText && !printed.hypotheses.empty()) {
        std::string& best = printed.hypotheses[0].text;
        best = LayOut(unit, best, wrap);
      }
      deliver(FormatResult(settings.output, key, unit.text, printed));
    };
    TextTranslator::Request request = {.plan = *plan, .key = index};
    if (prefixes.has_value()) {
      const absl::StatusOr<bool> more = prefixes->Next(&request.target_prefix);
      if (!more.ok()) return end(index, more.status());
      if (!*more) {
        return end(index,
                   Invalid(prefixes_path, " has no line for it; give one for each, or empty"));
      }
    }
    TextTranslator::Done done = end;
    // Samples are drawn for each line; what a line of markup means depends on those before it.
    const bool is_marked = settings.markup != Markup::kNone;
    if (!settings.text.decoding.sampling.is_on() && !is_marked) {
      done = repeats.Add(absl::StrCat(text, "\n", request.target_prefix), index, end);
      if (done == nullptr) return;
    }
    const bool is_row = settings.paragraphs && absl::StartsWith(text, "|");
    const auto ticket = is_marked || is_row
                            ? translator->Submit(is_row ? CellsOf(text) : markup.Read(text),
                                                 request, done, TextTranslator::kForever)
                            : translator->Submit(text, request, done, TextTranslator::kForever);
    if (!ticket.ok()) done(index, ticket.status());
  };
  LineSource& units = settings.paragraphs ? static_cast<LineSource&>(paragraphs) : source;
  NIBU_ASSIGN_OR_RETURN(const double seconds,
                        RunLines(&units, std::move(options), settings.translator, &out, &signals));
  std::string line;
  if (prefixes.has_value() && prefixes_path != "-" && prefixes->Next(&line).value_or(false)) {
    PrintWarning(prefixes_path + " has more lines than the source; is it that of another file?");
  }
  if (markup.is_open()) {
    PrintWarning(
        "the input ends within a comment, or an element that is left alone (as <code>); all that "
        "follows where it begins was not translated");
  }
  absl::Status status = Report(totals, settings.text, translator->max_input_length(**plan));
  if (absl::GetFlag(FLAGS_stats)) PrintStats(settings, totals, load_seconds, seconds);
  return status;
}

}  // namespace
}  // namespace nibu::internal

int main(int argc, char** argv) {
  return nibu::internal::ExitStatus(nibu::internal::Run(argc, argv));
}
