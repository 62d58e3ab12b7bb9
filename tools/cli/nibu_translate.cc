// nibu-translate: text in, translations out.

#include <cstdio>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "nibu/nibu.h"
#include "nlohmann/json.hpp"
#include "tools/cli/cli_options.h"
#include "tools/cli/flags.h"
#include "tools/cli/lines.h"
#include "tools/cli/output_format.h"
#include "tools/cli/run_lines.h"
#include "tools/text/resources.h"

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
  const bool is_document = text.text == TextKind::kDocument;
  return Refuse(
      {{text.wrap > 0 && !is_text, "--wrap and --output_format do not go together"},
       {text.wrap > 0 && cli.print_scores, "--wrap and --print_scores do not go together"},
       {text.wrap > 0 && text.alignment != AlignmentKind::kNone,
        "--wrap and --alignment do not go together"},
       {text.text != TextKind::kLines && texts.size() > 1,
        absl::StrCat("--text=", text.text == TextKind::kDocument ? "document" : "paragraphs",
                     " takes one TEXT, with line feeds; or a file with --src")},
       {is_document && text.markup == Markup::kNone, "--text=document needs --markup=html or xml"},
       {is_document && is_text && cli.print_scores,
        "--text=document and --print_scores do not go together; see --output_format=jsonl"},
       {is_document && is_text && text.alignment != AlignmentKind::kNone,
        "--text=document and --alignment do not go together; see --output_format=jsonl"},
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

// Reads a file that is a document by its name as one, unless an option says otherwise.
void ChooseTextKind(const CliOptions& cli, Options* text) {
  const std::optional<Markup> markup = MarkupOfFile(cli.src);
  if (!markup.has_value() || WasGiven("text") || WasGiven("markup") || text->tokenized ||
      !cli.target_prefix.empty()) {
    return;
  }
  text->text = TextKind::kDocument;
  text->markup = *markup;
  PrintNote(absl::StrCat(cli.src, " is read as a document, --text=document --markup=",
                         *markup == Markup::kHtml ? "html" : "xml",
                         "; --text=lines --markup=none reads it as plain lines"));
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
absl::Status Report(const Totals& totals, const Options& text, int max_decoding_length,
                    int max_input_length) {
  NIBU_RETURN_IF_ERROR(totals.Failure("translated"));
  if (totals.too_long > 0) {
    const bool is_split = text.long_input == LongInput::kSplit;
    PrintWarning(absl::StrCat(totals.too_long, " line(s) of more than ", max_input_length,
                              " tokens were ",
                              is_split ? "split and translated in parts" : "truncated"));
  }
  if (const uint64_t unfinished = totals.warned[Warning::kUnfinished]; unfinished > 0) {
    PrintWarning(absl::StrCat(unfinished,
                              " line(s) were cut before their end, at --max_decoding_length=",
                              max_decoding_length, " or what the model allows; jsonl says which"));
  }
  if (const uint64_t looping = totals.warned[Warning::kRepetition]; looping > 0) {
    PrintWarning(absl::StrCat(looping,
                              " line(s) repeat themselves; jsonl says which, "
                              "--on_repetition=retry tries them once more"));
  }
  return absl::OkStatus();
}

void PrintStats(const Totals& totals, const std::string& compute_type, int threads,
                double load_seconds, double seconds) {
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
      {"compute_type", compute_type},
      {"threads", threads}};
  std::fprintf(stderr, "%s\n", stats.dump().c_str());
}

// Wrong usage: a draft model, and a search that cannot use it.
absl::Status CheckDraft(const ModelOptions& loading, const Options& asked,
                        const Options& defaults) {
  const bool samples = asked.sampling_topk != 1;
  const int beam_size = asked.beam_size.value_or(samples ? 1 : defaults.beam_size.value_or(4));
  if (loading.draft_model.empty() || beam_size == 1) return absl::OkStatus();
  return WrongUsage("--draft_model needs --beam_size=1, not ", beam_size);
}

// The word that --compute_type has for a type.
std::string ComputeTypeWord(nibu::ComputeType type) {
  ModelOptions options;
  options.compute_type = type;
  for (const OptionRow& row : ModelOptionRows()) {
    if (absl::string_view(row.info.name) == "compute_type") return row.get(row.info, &options);
  }
  return "";
}

absl::Status Run(int argc, char** argv) {
  const Clock::time_point start = Clock::now();
  static SignalWatcher& signals = *new SignalWatcher();
  Settings settings;
  const CliOptions& cli = settings.cli;
  const ModelOptions& loading = settings.model;
  const SpeedOptions& speed = settings.speed;
  const Options& asked = settings.text;
  const std::vector<std::string> texts = ParseCommandLineOrExit(Program(&settings), argc, argv);
  ChooseTextKind(cli, &settings.text);
  NIBU_RETURN_IF_ERROR(CheckTextFlags(asked));
  NIBU_RETURN_IF_ERROR(CheckTogether(settings, texts));
  if (asked.beam_size.has_value()) NIBU_RETURN_IF_ERROR(CheckDraft(loading, asked, {}));
  NIBU_ASSIGN_OR_RETURN(settings.text.glossary, ReadGlossary(cli.glossary));
  settings.text.return_scores = cli.print_scores || cli.output_format != OutputFormat::kText;
  OutputFile out(cli.out);
  NIBU_ASSIGN_OR_RETURN(InputLines source, OpenLines(texts, cli.src, out.direct()));
  std::optional<InputLines> prefixes;
  if (!cli.target_prefix.empty()) {
    NIBU_ASSIGN_OR_RETURN(prefixes, OpenLines({}, cli.target_prefix, out.direct()));
  }
  NIBU_ASSIGN_OR_RETURN(const auto translator, UsageError(nibu::Translator::Create(speed)));
  settings.speed.threads = translator->threads();
  NIBU_ASSIGN_OR_RETURN(const auto model, LoadModel(cli.model, loading, asked.tokenized));
  NIBU_RETURN_IF_ERROR(CheckDraft(loading, asked, model->info().defaults));
  const auto plan = translator->Prepare(model, asked);
  NIBU_RETURN_IF_ERROR(UsageOfFlag(plan.status()));
  const double load_seconds = SecondsSince(start);

  Totals totals(cli.warnings);
  const OutputOptions output = {cli.output_format, cli.print_scores, asked.alignment};
  UnitSource units(&source, asked);
  Repeats repeats;
  // Samples are drawn for each line; what a line of markup means depends on those before it.
  const bool has_repeats = asked.sampling_topk == 1 && asked.markup == Markup::kNone;
  Pipeline::Options options;
  options.report = [&](uint64_t written, double) { repeats.Forget(written); };
  options.sentences = [&] {
    return std::pair(translator->sentences(), translator->translated_sentences());
  };
  options.submit = [&](uint64_t index, const TextUnit& unit, Pipeline::Deliver deliver) {
    if (!unit.has_text()) {
      return deliver(output.format == OutputFormat::kText ? unit.Write("") : "");
    }
    const Repeats::Done end = [&, index, unit, deliver = std::move(deliver)](
                                  uint64_t key,
                                  const absl::StatusOr<nibu::Result>& result) noexcept {
      totals.Add(index, unit.line(), result);
      deliver(FormatResult(output, key, unit, result.value_or(nibu::Result())));
    };
    nibu::Request request = {.key = index};
    if (prefixes.has_value()) {
      const absl::StatusOr<bool> more = prefixes->Next(&request.target_prefix);
      if (!more.ok()) return end(index, more.status());
      if (!*more) {
        return end(index,
                   Invalid(cli.target_prefix, " has no line for it; give one for each, or empty"));
      }
    }
    nibu::Done done = end;
    if (has_repeats) {
      done = repeats.Add(absl::StrCat(unit.source(), "\n", request.target_prefix), index, end);
      if (done == nullptr) return;
    }
    const auto ticket = translator->Submit(unit, *plan, request, done, kForever);
    if (!ticket.ok()) done(index, ticket.status());
  };
  NIBU_ASSIGN_OR_RETURN(const double seconds,
                        RunLines(&units, std::move(options), speed, cli, &out, &signals));
  std::string line;
  if (prefixes.has_value() && cli.target_prefix != "-" && prefixes->Next(&line).value_or(false)) {
    PrintWarning(cli.target_prefix +
                 " has more lines than the source; is it that of another file?");
  }
  if (units.is_open()) {
    PrintWarning(
        "the input ends within a comment, or an element that is left alone (as <code>); all that "
        "follows where it begins was not translated");
  }
  const Options& defaults = model->info().defaults;
  const int longest =
      asked.max_decoding_length.value_or(defaults.max_decoding_length.value_or(256));
  absl::Status status = Report(totals, asked, longest, translator->max_input_length(**plan));
  if (cli.stats) {
    PrintStats(totals, ComputeTypeWord(model->info().compute_type), speed.threads, load_seconds,
               seconds);
  }
  return status;
}

}  // namespace
}  // namespace nibu::internal

int main(int argc, char** argv) {
  return nibu::internal::ExitStatus(nibu::internal::Run(argc, argv));
}
