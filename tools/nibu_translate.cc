// nibu-translate: text in, translations out.

#include <cstdio>
#include <optional>
#include <utility>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "engine/core/check_range.h"
#include "engine/core/status_macros.h"
#include "models/files/errors.h"
#include "nlohmann/json.hpp"
#include "tools/decoding_flags.h"
#include "tools/flags.h"
#include "tools/lines.h"
#include "tools/output_file.h"
#include "tools/output_format.h"
#include "tools/pipeline.h"
#include "tools/repeats.h"
#include "tools/run_lines.h"
#include "tools/signal_watcher.h"
#include "tools/text/layout.h"
#include "tools/text/markup.h"
#include "tools/text/resources.h"
#include "tools/text/text_translator.h"

ABSL_FLAG(std::string, src, "-",
          "File with one segment a line (UTF-8, or compressed with gzip; lines end in LF or CR "
          "LF); - is standard input.");
ABSL_FLAG(bool, tokenized, false,
          "Input and output are pieces separated by single spaces (no SentencePiece).");
ABSL_FLAG(bool, split_sentences, true,
          "Translate the sentences of a line one by one, and keep the white space between them; "
          "not with --tokenized.");
ABSL_FLAG(std::string, split_language, "",
          "Language of the text, for --split_sentences: en, de-DE, zho_Hans, ...; empty: "
          "--src_lang, or what the model says.");
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
ABSL_FLAG(bool, print_scores, false, "Text output: the score in front, then a tab.");
ABSL_FLAG(std::string, target_prefix, "",
          "File of what the translations begin with, line by line with the source; an empty line: "
          "nothing.");

namespace nibu {
namespace {

ProgramInfo Program() {
  return {"nibu-translate",
          "[flags] [TEXT ...]",
          "Translates each TEXT, or each line of --src, with an encoder-decoder Transformer. One\n"
          "output line for every input line (but with --text=paragraphs), in order, as soon as it\n"
          "is ready.",
          {
              {"Model and text",
               {"model", "ensemble_weights", "src_lang", "tgt_lang", "src", "out", "tokenized",
                "sentencepiece", "encoder_attention", "split_sentences", "split_language", "text",
                "wrap", "markup"}},
              {"Search", SearchFlags()},
              {"Search, of text", TextSearchFlags()},
              {"Lengths",
               {"min_decoding_length", "max_decoding_length", "max_input_length", "long_input"}},
              {"Speed (only compute_type and shortlist can change a result)", SpeedFlags()},
              {"Output", {"output_format", "print_scores", "progress", "stats", "warnings"}},
          },
          /*takes_text=*/true};
}

// What the flags say, checked. text.decoding, which a model has defaults for, comes with the model.
struct Settings {
  ModelFlags model;
  TranslatorOptions translator;
  TextOptions text;
  OutputOptions output;
  bool paragraphs = false;
  size_t wrap = 0;  // columns
  Markup markup = Markup::kNone;
};

// --text, --wrap and --markup, when the others are read.
absl::Status ReadLayoutFlags(Settings* settings) {
  NIBU_ASSIGN_OR_RETURN(settings->paragraphs,
                        Choose<bool>("text", {{"lines", false}, {"paragraphs", true}}));
  const int wrap = absl::GetFlag(FLAGS_wrap);
  NIBU_RETURN_IF_ERROR(CheckRange("--wrap", wrap, 0));
  settings->wrap = static_cast<size_t>(wrap);
  const OutputOptions& output = settings->output;
  const auto refuse = [](absl::string_view what) { return Invalid(what, " do not go together"); };
  NIBU_ASSIGN_OR_RETURN(settings->markup, Choose<Markup>("markup", {{"none", Markup::kNone},
                                                                    {"html", Markup::kHtml},
                                                                    {"xml", Markup::kXml}}));
  const bool is_marked = settings->markup != Markup::kNone;
  if (is_marked && settings->text.tokenized) return refuse("--markup and --tokenized");
  if (is_marked && settings->paragraphs) return refuse("--markup and --text=paragraphs");
  if (!settings->paragraphs) {
    return wrap == 0 ? absl::OkStatus() : refuse("--wrap and --text=lines");
  }
  if (settings->text.tokenized) return refuse("--text=paragraphs and --tokenized");
  if (!absl::GetFlag(FLAGS_target_prefix).empty()) {
    return refuse("--text=paragraphs and --target_prefix, which has lines,");
  }
  if (wrap > 0 && output.format != OutputFormat::kText) return refuse("--wrap and --output_format");
  if (wrap > 0 && output.print_scores) return refuse("--wrap and --print_scores");
  if (wrap > 0 && output.alignment != AlignmentKind::kNone) return refuse("--wrap and --alignment");
  return absl::OkStatus();
}

absl::StatusOr<Settings> ReadFlags() {
  Settings settings;
  NIBU_ASSIGN_OR_RETURN(settings.model, ReadModelFlags());
  NIBU_ASSIGN_OR_RETURN(settings.output.format,
                        Choose<OutputFormat>("output_format", {{"text", OutputFormat::kText},
                                                               {"nbest", OutputFormat::kNBest},
                                                               {"jsonl", OutputFormat::kJsonl}}));
  settings.output.print_scores = absl::GetFlag(FLAGS_print_scores);
  NIBU_ASSIGN_OR_RETURN(settings.translator, ReadTranslatorFlags());
  settings.text = ReadTextFlags();
  settings.text.tokenized = absl::GetFlag(FLAGS_tokenized);
  settings.text.split_sentences = absl::GetFlag(FLAGS_split_sentences);
  if (settings.text.tokenized && settings.text.split_sentences && WasGiven("split_sentences")) {
    return Invalid("--split_sentences needs text, not the pieces of --tokenized; give one of them");
  }
  if (settings.text.tokenized && WasGiven("sentencepiece")) {
    return Invalid(
        "--sentencepiece makes pieces, --tokenized is for pieces that are made; give one of them");
  }
  NIBU_RETURN_IF_ERROR(ReadTextSearchFlags(&settings.text));
  settings.output.alignment = settings.text.alignment;
  settings.text.split_language = absl::GetFlag(FLAGS_split_language);
  NIBU_ASSIGN_OR_RETURN(settings.text.long_input,
                        Choose<LongInput>("long_input", {{"split", LongInput::kSplit},
                                                         {"truncate", LongInput::kTruncate},
                                                         {"error", LongInput::kError}}));
  NIBU_RETURN_IF_ERROR(ReadLayoutFlags(&settings));
  return settings;
}

// What there is to say of lines that went wrong: an error, or warnings.
absl::Status Report(const Totals& totals, const TextOptions& text, int max_input_length) {
  NIBU_RETURN_IF_ERROR(totals.Failure("translated"));
  if (totals.too_long > 0) {
    const std::string lines =
        absl::StrCat(totals.too_long, " line(s) of more than ", max_input_length, " tokens were ");
    if (text.long_input == LongInput::kError) {
      return Invalid(lines + "not translated; use --long_input=split");
    }
    PrintWarning(lines + (text.long_input == LongInput::kSplit ? "split and translated in parts"
                                                               : "truncated"));
  }
  if (totals.unfinished > 0) {
    PrintWarning(absl::StrCat(
        totals.unfinished, " line(s) were cut before their end, at --max_decoding_length=",
        text.decoding.max_decoding_length, " or what the model allows; jsonl says which"));
  }
  if (totals.looping > 0) {
    PrintWarning(absl::StrCat(totals.looping,
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
      {"unfinished_sentences", totals.unfinished},
      {"looping_sentences", totals.looping},
      {"warnings", warnings},
      {"load_seconds", load_seconds},
      {"seconds", seconds},
      {"tokens_per_second", static_cast<double>(totals.target_tokens) / seconds},
      {"peak_rss_bytes", PeakMemoryBytes()},
      {"compute_type", ComputeTypeName(settings.model.compute_type)},
      {"threads", settings.translator.threads}};
  std::fprintf(stderr, "%s\n", stats.dump().c_str());
}

absl::Status Run(int argc, char** argv) {
  const Clock::time_point start = Clock::now();
  static SignalWatcher& signals = *new SignalWatcher();
  const std::vector<std::string> texts = ParseCommandLineOrExit(Program(), argc, argv);
  NIBU_ASSIGN_OR_RETURN(Settings settings, UsageError(ReadFlags()));
  NIBU_RETURN_IF_ERROR(ReadGlossaryFlag(&settings.text));
  if (settings.paragraphs && texts.size() > 1) {
    return WrongUsage("--text=paragraphs takes one TEXT, with line feeds; or a file with --src");
  }
  OutputFile out(absl::GetFlag(FLAGS_out));
  NIBU_ASSIGN_OR_RETURN(InputLines source,
                        OpenLines(texts, absl::GetFlag(FLAGS_src), out.direct()));
  const std::string prefixes_path = absl::GetFlag(FLAGS_target_prefix);
  std::optional<InputLines> prefixes;
  if (!prefixes_path.empty()) {
    if (prefixes_path == "-" && texts.empty() && absl::GetFlag(FLAGS_src) == "-") {
      return WrongUsage(
          "--src and --target_prefix cannot both be standard input; give one of them a file");
    }
    NIBU_ASSIGN_OR_RETURN(InputLines opened, OpenLines({}, prefixes_path, out.direct()));
    prefixes.emplace(std::move(opened));
  }
  NIBU_ASSIGN_OR_RETURN(const auto translator,
                        LoadTranslator(settings.model, settings.translator, &settings.text));
  settings.text.decoding.return_scores =
      settings.output.print_scores || settings.output.format != OutputFormat::kText;
  const auto plan = translator->Prepare(settings.text);
  NIBU_RETURN_IF_ERROR(UsageError(NameFlag(plan.status())));
  const double load_seconds = SecondsSince(start);

  Totals totals;
  InputParagraphs paragraphs(&source);
  MarkupReader markup(settings.markup);
  Repeats repeats;
  Pipeline::Options options;
  options.report = [&](uint64_t written, double) { repeats.Forget(written); };
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
        best = LayOut(unit, best, settings.wrap);
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
    const auto ticket =
        is_marked ? translator->Submit(markup.Read(text), request, done, TextTranslator::kForever)
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
}  // namespace nibu

int main(int argc, char** argv) { return nibu::ExitStatus(nibu::Run(argc, argv)); }
