// nibu-translate: text in, translations out.

#include <cstdio>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "nlohmann/json.hpp"
#include "tools/cli/cli_options.h"
#include "tools/cli/flags.h"
#include "tools/cli/lines.h"
#include "tools/cli/model_flags.h"
#include "tools/cli/output_format.h"
#include "tools/cli/run_lines.h"
#include "tools/text/glossary.h"
#include "tools/text/layout.h"
#include "tools/text/markup.h"
#include "tools/text/resources.h"
#include "tools/text/text_translator.h"

namespace nibu::internal {
namespace {

struct Settings {
  CliOptions cli;
  ModelOptions model;
  SpeedOptions speed;
  Options text;
};

ProgramInfo Program(Settings* settings) {
  return {"nibu-translate",
          "translate",
          "[flags] [TEXT ...]",
          "Translates each TEXT, or each line of --src, with an encoder-decoder Transformer. One\n"
          "output line for every input line (but with --text=paragraphs), in order, as soon as it\n"
          "is ready.",
          {{CliOptionRows(), &settings->cli},
           {ModelOptionRows(), &settings->model},
           {TextOptionRows(), &settings->text},
           {SpeedOptionRows(), &settings->speed}},
          /*takes_text=*/true};
}

// Wrong usage: options that do not go together in this program.
absl::Status CheckTogether(const Settings& settings, const std::vector<std::string>& texts) {
  const auto& [cli, model, speed, text] = settings;
  const bool is_text = cli.output_format == OutputFormat::kText;
  return Refuse(
      {{text.wrap > 0 && !is_text, "--wrap and --output_format do not go together"},
       {text.wrap > 0 && cli.print_scores, "--wrap and --print_scores do not go together"},
       {text.wrap > 0 && text.alignment != AlignmentKind::kNone,
        "--wrap and --alignment do not go together"},
       {text.text == TextKind::kParagraphs && texts.size() > 1,
        "--text=paragraphs takes one TEXT, with line feeds; or a file with --src"},
       {text.prefix_bias_beta != 0 && cli.target_prefix.empty(),
        "--prefix_bias_beta means nothing without --target_prefix"},
       {is_text && text.num_hypotheses > 1,
        "--num_hypotheses needs --output_format=nbest or jsonl; text is the best one alone"},
       {!is_text && cli.print_scores,
        "--print_scores is for --output_format=text; nbest and jsonl have the scores in them"},
       {cli.glossary == "-", "--glossary must be a file, not standard input"},
       {cli.target_prefix == "-" && texts.empty() && cli.src == "-",
        "--src and --target_prefix cannot both be standard input; give one of them a file"}});
}

absl::StatusOr<std::vector<GlossaryEntry>> ReadGlossary(const std::string& path) {
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

void PrintStats(const Totals& totals, ComputeType compute_type, int threads, double load_seconds,
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
      {"compute_type", ComputeTypeName(compute_type)},
      {"threads", threads}};
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
  Settings settings;
  const auto& [cli, loading, speed, asked] = settings;
  const std::vector<std::string> texts = ParseCommandLineOrExit(Program(&settings), argc, argv);
  NIBU_RETURN_IF_ERROR(CheckTextFlags(asked));
  NIBU_RETURN_IF_ERROR(CheckTogether(settings, texts));
  NIBU_ASSIGN_OR_RETURN(const ModelFlags model, ReadModelFlags(cli.model, loading));
  NIBU_ASSIGN_OR_RETURN(const TranslatorOptions threads,
                        ReadTranslatorFlags(speed, loading, asked));
  NIBU_ASSIGN_OR_RETURN(settings.text.glossary, ReadGlossary(cli.glossary));
  settings.text.return_scores = cli.print_scores || cli.output_format != OutputFormat::kText;
  OutputFile out(cli.out);
  NIBU_ASSIGN_OR_RETURN(InputLines source, OpenLines(texts, cli.src, out.direct()));
  std::optional<InputLines> prefixes;
  if (!cli.target_prefix.empty()) {
    NIBU_ASSIGN_OR_RETURN(prefixes, OpenLines({}, cli.target_prefix, out.direct()));
  }
  TextOptions text_options;
  NIBU_ASSIGN_OR_RETURN(const auto translator,
                        LoadTranslator(model, threads, asked, &text_options));
  const auto plan = translator->Prepare(text_options);
  NIBU_RETURN_IF_ERROR(UsageOfFlag(plan.status()));
  const double load_seconds = SecondsSince(start);

  Totals totals(cli.warnings);
  const OutputOptions output = {cli.output_format, cli.print_scores, asked.alignment};
  const auto wrap = static_cast<size_t>(asked.wrap);
  const bool has_paragraphs = asked.text == TextKind::kParagraphs;
  InputParagraphs paragraphs(&source);
  MarkupReader markup(asked.markup);
  Repeats repeats;
  Pipeline::Options options;
  options.report = [&](uint64_t written, double) { repeats.Forget(written); };
  options.sentences = [&] {
    return std::pair(translator->sentences(), translator->translated_sentences());
  };
  options.submit = [&](uint64_t index, const std::string& line, Pipeline::Deliver deliver) {
    Paragraph unit = {"", "", line, false, index};
    if (has_paragraphs) unit = paragraphs.current();
    const std::string text = std::exchange(unit.text, "");
    // Only JSON repeats the source.
    if (output.format == OutputFormat::kJsonl) unit.text = text;
    const Repeats::Done end = [&, index, unit = std::move(unit), deliver = std::move(deliver)](
                                  uint64_t key, const absl::StatusOr<TextResult>& result) noexcept {
      totals.Add(index, unit.line, result);
      TextResult printed = result.value_or(TextResult());
      if (output.format == OutputFormat::kText && !printed.hypotheses.empty()) {
        std::string& best = printed.hypotheses[0].text;
        best = LayOut(unit, best, wrap);
      }
      deliver(FormatResult(output, key, unit.text, printed));
    };
    TextTranslator::Request request = {.plan = *plan, .key = index};
    if (prefixes.has_value()) {
      const absl::StatusOr<bool> more = prefixes->Next(&request.target_prefix);
      if (!more.ok()) return end(index, more.status());
      if (!*more) {
        return end(index,
                   Invalid(cli.target_prefix, " has no line for it; give one for each, or empty"));
      }
    }
    TextTranslator::Done done = end;
    // Samples are drawn for each line; what a line of markup means depends on those before it.
    const bool is_marked = asked.markup != Markup::kNone;
    if (!text_options.decoding.sampling.is_on() && !is_marked) {
      done = repeats.Add(absl::StrCat(text, "\n", request.target_prefix), index, end);
      if (done == nullptr) return;
    }
    const bool is_row = has_paragraphs && absl::StartsWith(text, "|");
    const auto ticket = is_marked || is_row
                            ? translator->Submit(is_row ? CellsOf(text) : markup.Read(text),
                                                 request, done, TextTranslator::kForever)
                            : translator->Submit(text, request, done, TextTranslator::kForever);
    if (!ticket.ok()) done(index, ticket.status());
  };
  LineSource& units = has_paragraphs ? static_cast<LineSource&>(paragraphs) : source;
  NIBU_ASSIGN_OR_RETURN(const double seconds,
                        RunLines(&units, std::move(options), threads, cli, &out, &signals));
  std::string line;
  if (prefixes.has_value() && cli.target_prefix != "-" && prefixes->Next(&line).value_or(false)) {
    PrintWarning(cli.target_prefix +
                 " has more lines than the source; is it that of another file?");
  }
  if (markup.is_open()) {
    PrintWarning(
        "the input ends within a comment, or an element that is left alone (as <code>); all that "
        "follows where it begins was not translated");
  }
  absl::Status status = Report(totals, text_options, translator->max_input_length(**plan));
  if (cli.stats) PrintStats(totals, model.compute_type, threads.threads, load_seconds, seconds);
  return status;
}

}  // namespace
}  // namespace nibu::internal

int main(int argc, char** argv) {
  return nibu::internal::ExitStatus(nibu::internal::Run(argc, argv));
}
