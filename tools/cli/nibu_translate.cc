// nibu-translate translates lines, paragraphs, documents and JSON objects.

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "models/files/new_file.h"
#include "nibu/nibu.h"
#include "nlohmann/json.hpp"
#include "tools/cli/cli_options.h"
#include "tools/cli/flags.h"
#include "tools/cli/lines.h"
#include "tools/cli/output_format.h"
#include "tools/cli/run_lines.h"
#include "tools/cli/run_record.h"
#include "tools/cli/text_flags.h"
#include "tools/cli/totals.h"
#include "tools/cli/translate_lines.h"
#include "tools/text/options/resources.h"

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
          "output line for every input line, in order, as soon as it is ready; paragraphs and\n"
          "documents (--text) keep their own lines.",
          {{CliOptionRows(), &settings->cli},
           {ModelOptionRows(), &settings->model},
           {TextOptionRows(), &settings->text},
           {SpeedOptionRows(), &settings->speed}},
          /*takes_text=*/true};
}

// Returns wrong usage if options do not go together in this program.
absl::Status CheckTogether(const Settings& settings, const std::vector<std::string>& texts) {
  const auto& [cli, model, speed, text] = settings;
  const bool is_text = cli.output_format == OutputFormat::kText;
  const bool is_document = text.text == TextKind::kDocument;
  if (cli.input_format != InputFormat::kJsonl) {  // where each object is a text with options
    NIBU_RETURN_IF_ERROR(Refuse(
        {{text.wrap > 0 && text.alignment != AlignmentKind::kNone,
          "--wrap and --alignment do not go together"},
         {text.text != TextKind::kLines && texts.size() > 1,
          absl::StrCat("--text=", is_document ? "document" : "paragraphs",
                       " takes one TEXT, with line feeds; or a file with --src")},
         {!cli.shard.empty() && text.text != TextKind::kLines,
          "--shard is for lines; give --text=lines, or split the text by hand"},
         {is_document && text.markup == Markup::kNone,
          "--text=document needs --markup=html or xml"},
         {is_document && is_text && cli.print_scores,
          "--text=document and --print_scores do not go together; see --output_format=jsonl"},
         {is_document && is_text && text.alignment != AlignmentKind::kNone,
          "--text=document and --alignment do not go together; see --output_format=jsonl"}}));
  }
  return Refuse(
      {{is_text && text.num_hypotheses > 1,
        "--num_hypotheses needs --output_format=nbest or jsonl; text is the best one alone"},
       {!is_text && cli.print_scores,
        "--print_scores is for --output_format=text; nbest and jsonl have the scores in them"},
       {cli.glossary == "-", "--glossary must be a file, not standard input"},
       {WasGiven("shard") && cli.shard.empty(), "--shard is empty; give K/N"},
       {!cli.shard.empty() && cli.target_prefix == "-",
        "--shard needs files, and --target_prefix is standard input"},
       {cli.resume && (cli.src == "-" || cli.target_prefix == "-" || cli.out == "-"),
        "--resume needs files: --src and --out, and --target_prefix if there is one"},
       {cli.target_prefix == "-" && texts.empty() && cli.src == "-",
        "--src and --target_prefix cannot both be standard input; give one of them a file"}});
}

// Says what reads a file, where the command line looks as if plain lines were not what the user
// has.
void NoteFiles(const CliOptions& cli, const std::vector<std::string>& texts) {
  const auto is_file = [](const std::string& text) {
    std::error_code ignored;
    return std::filesystem::is_regular_file(text, ignored);
  };
  if (const auto file = absl::c_find_if(texts, is_file); file != texts.end()) {
    PrintNote(absl::StrCat("\"", *file, "\" is translated as a text; --src reads a file"));
  }
  constexpr std::pair<absl::string_view, absl::string_view> kRecipes[] = {
      {".po", "catalogue.sh"},         {".ts", "catalogue.sh"},   {".xlf", "catalogue.sh"},
      {".xliff", "catalogue.sh"},      {".tmx", "catalogue.sh"},  {".strings", "catalogue.sh"},
      {".properties", "catalogue.sh"}, {".json", "catalogue.sh"}, {".arb", "catalogue.sh"},
      {".php", "catalogue.sh"},        {".resx", "catalogue.sh"}, {".srt", "subtitles.sh"},
      {".vtt", "subtitles.sh"},        {".ass", "subtitles.sh"},  {".ssa", "subtitles.sh"},
      {".md", "document.sh"},          {".docx", "document.sh"},  {".eml", "mail.sh"}};
  if (!texts.empty() || WasGiven("text") || WasGiven("markup") || cli.tsv_column > 0 ||
      cli.input_format != InputFormat::kText) {
    return;
  }
  for (const auto& [ending, recipe] : kRecipes) {
    if (absl::EndsWithIgnoreCase(cli.src, ending)) {
      PrintNote(absl::StrCat(cli.src, " is read as plain lines; tools/recipes/", recipe,
                             " translates such files, and --text=lines omits this note"));
    }
  }
}

// Makes a file whose name ends like a document's be read as one, unless an option says otherwise.
void ChooseTextKind(const CliOptions& cli, Options* text) {
  const std::optional<Markup> markup = MarkupOfFile(cli.src);
  const bool is_other = WasGiven("text") && text->text != TextKind::kDocument;
  if (!markup.has_value() || is_other || WasGiven("markup") || text->tokenized ||
      !cli.target_prefix.empty() || cli.input_format != InputFormat::kText || cli.tsv_column > 0) {
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

// Reports lines that failed or have warnings. `max_decoding_length`: 0 if each line may have its
// own.
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
    const std::string limit = max_decoding_length == 0
                                  ? "max_decoding_length"
                                  : absl::StrCat("--max_decoding_length=", max_decoding_length);
    PrintWarning(absl::StrCat(unfinished, " line(s) were cut before their end, at ", limit,
                              " or what the model allows; jsonl says which"));
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

// Returns wrong usage if there is a draft model, but the search cannot use it.
absl::Status CheckDraft(const ModelOptions& loading, const Options& asked,
                        const Options& defaults) {
  const bool samples = asked.sampling_topk != 1;
  const int beam_size =
      asked.beam_size.value_or(samples ? 1 : defaults.beam_size.value_or(kDefaultBeamSize));
  if (loading.draft_model.empty() || beam_size == 1) return absl::OkStatus();
  return WrongUsage("--draft_model needs --beam_size=1, not ", beam_size);
}

std::unique_ptr<LineTranslator> NewLineTranslator(const CliOptions& cli,
                                                  const LineContext* context) {
  if (cli.input_format == InputFormat::kJsonl) return NewJsonTranslator(context);
  if (cli.tsv_column > 0) return NewTsvTranslator(context, cli.tsv_column);
  return NewUnitTranslator(context);
}

// Returns the plan for all lines, or null if it lacks a language that JSON lines may give.
absl::StatusOr<std::shared_ptr<const Plan>> PreparePlan(
    nibu::Translator* translator, const std::shared_ptr<const nibu::Model>& model,
    const Settings& settings) {
  auto plan = translator->Prepare(model, settings.text);
  if (plan.ok()) return *std::move(plan);
  const std::string option = OptionOfError(plan.status());
  const bool lacks_language = (option == "src_lang" && settings.text.src_lang.empty()) ||
                              (option == "tgt_lang" && settings.text.tgt_lang.empty());
  if (settings.cli.input_format == InputFormat::kJsonl && lacks_language) return nullptr;
  return UsageOfFlag(plan.status());
}

// Opens the output so that a later run can go on with it if this one is interrupted, where the
// input can be read again. Returns what an earlier run has finished.
absl::StatusOr<Finished> OpenForLater(Settings* settings, const ModelInfo& model,
                                      const InputLines& source, OutputFile* out) {
  const CliOptions& cli = settings->cli;
  const auto is_file = [](const std::string& path) {
    std::error_code ignored;
    return path.empty() || std::filesystem::is_regular_file(path, ignored);
  };
  const bool can_go_on =
      cli.src != "-" && is_file(cli.src) && is_file(cli.target_prefix) && out->direct().empty();
  if (!can_go_on && !cli.resume) return Finished();
  const std::string part = FollowLinks(cli.out) + ".part";
  NIBU_RETURN_IF_ERROR(
      Refuse({{!can_go_on, "--resume needs regular files, not pipes and devices"},
              {source.IsSameFile(part),
               absl::StrCat(part, ": is the file that is read; give the output another name")}}));
  NIBU_ASSIGN_OR_RETURN(auto run, DescribeRun(Program(settings), model, cli.src));
  return out->OpenPart(std::move(run), cli.resume);
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
  if (cli.input_format == InputFormat::kJsonl && !WasGiven("output_format")) {
    settings.cli.output_format = OutputFormat::kJsonl;
  }
  NoteFiles(cli, texts);
  ChooseTextKind(cli, &settings.text);
  NIBU_RETURN_IF_ERROR(CheckTextFlags(asked));
  NIBU_RETURN_IF_ERROR(CheckTogether(settings, texts));
  // Mistakes are reported before the model is loaded, as far as they are known by then.
  if (asked.beam_size.has_value()) NIBU_RETURN_IF_ERROR(CheckDraft(loading, asked, {}));
  NIBU_ASSIGN_OR_RETURN(settings.text.glossary, ReadGlossary(cli.glossary));
  settings.text.return_scores = cli.print_scores || cli.output_format != OutputFormat::kText;
  OutputFile out(cli.out);
  NIBU_ASSIGN_OR_RETURN(InputLines source, OpenLines(texts, cli.src, out.direct()));
  std::optional<InputLines> prefixes;
  if (!cli.target_prefix.empty()) {
    NIBU_ASSIGN_OR_RETURN(prefixes, OpenLines({}, cli.target_prefix, out.direct()));
  }
  bool (*const goes_on)(absl::string_view) = cli.tsv_column > 0 ? HasOpenCell : nullptr;
  NIBU_ASSIGN_OR_RETURN(const UnitRange range,
                        ShardRange(cli.shard, cli.src, source, prefixes.has_value(), goes_on));
  NIBU_ASSIGN_OR_RETURN(const auto translator, UsageError(nibu::Translator::Create(speed)));
  NIBU_ASSIGN_OR_RETURN(const auto model, LoadModel(cli.model, loading, asked.tokenized));
  NIBU_RETURN_IF_ERROR(CheckDraft(loading, asked, model->info().defaults));
  NIBU_ASSIGN_OR_RETURN(const auto plan, PreparePlan(translator.get(), model, settings));
  const double load_seconds = SecondsSince(start);

  // The lines of a table or of JSON are read as they are.
  const bool is_text = cli.input_format == InputFormat::kText && cli.tsv_column == 0;
  Options reading = is_text ? asked : Options();
  if (reading.src_lang.empty()) reading.src_lang = model->info().source_language;
  UnitSource units(&source, reading, goes_on);
  Finished done;
  if (texts.empty()) {
    NIBU_ASSIGN_OR_RETURN(done, OpenForLater(&settings, model->info(), source, &out));
  }
  NIBU_ASSIGN_OR_RETURN(const uint64_t first, units.Start(range, done.units));
  if (prefixes.has_value()) NIBU_RETURN_IF_ERROR(SkipLines(first, &*prefixes));

  Totals totals(cli.warnings);
  totals.Begin(first);
  totals.AddEarlier(done.failed, done.first_failed);
  const LineContext context = {translator.get(),
                               model,
                               asked,
                               plan,
                               {cli.output_format, cli.print_scores, asked.alignment},
                               prefixes.has_value() ? &*prefixes : nullptr,
                               cli.target_prefix,
                               &totals};
  const std::unique_ptr<LineTranslator> lines = NewLineTranslator(cli, &context);
  Pipeline::Options options;
  options.first = first;
  options.report = [&](uint64_t next, double) {
    lines->Forget(next);
    const auto [failed, first_failed] = totals.FailedBefore(next);
    out.RecordFailed(failed, first_failed);
  };
  options.submit = [&](uint64_t index, const InputUnit& unit, Pipeline::Deliver deliver) {
    lines->Submit(index, unit, std::move(deliver));
  };
  NIBU_ASSIGN_OR_RETURN(const double seconds, RunLines(&units, std::move(options), *translator,
                                                       speed, cli, &out, &signals));
  std::string line;
  if (range.is_last && prefixes.has_value() && cli.target_prefix != "-" &&
      prefixes->Next(&line).value_or(false)) {
    PrintWarning(cli.target_prefix +
                 " has more lines than the source; is it that of another file?");
  }
  lines->Finish();
  if (range.is_last && units.is_open()) {
    PrintWarning(
        "the input ends within a comment, or an element that is left alone (as <code>); all that "
        "follows where it begins was not translated");
  }
  const Options& defaults = model->info().defaults;
  const int longest = cli.input_format == InputFormat::kJsonl
                          ? 0
                          : asked.max_decoding_length.value_or(
                                defaults.max_decoding_length.value_or(kDefaultMaxDecodingLength));
  const int longest_input =
      plan != nullptr ? translator->max_input_length(*plan) : asked.max_input_length;
  absl::Status status = Report(totals, asked, longest, longest_input);
  if (cli.stats) {
    PrintStats(totals, ComputeTypeName(model->info().compute_type), translator->threads(),
               load_seconds, seconds);
  }
  return status;
}

}  // namespace
}  // namespace nibu::internal

int main(int argc, char** argv) {
  return nibu::internal::ExitStatus(nibu::internal::Run(argc, argv));
}
