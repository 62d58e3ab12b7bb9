// nibu-translate: text in, translations out.

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <mutex>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/core/status_macros.h"
#include "models/load_model.h"
#include "nlohmann/json.hpp"
#include "tools/bundled_model.h"
#include "tools/decoding_flags.h"
#include "tools/flags.h"
#include "tools/lines.h"
#include "tools/memory.h"
#include "tools/output_file.h"
#include "tools/output_format.h"
#include "tools/pipeline.h"
#include "tools/signal_watcher.h"
#include "tools/text/text_translator.h"

ABSL_FLAG(
    std::string, src, "-",
    "File with one segment a line (UTF-8, or compressed with gzip; lines end in LF or CR LF); "
    "- is standard input.");
ABSL_FLAG(
    std::string, out, "-",
    "File for the translations, a line each; - is standard output. A file appears under its name "
    "when it is whole.");
ABSL_FLAG(bool, tokenized, false,
          "Input and output are pieces separated by single spaces (no SentencePiece).");
ABSL_FLAG(
    bool, split_sentences, true,
    "Translate the sentences of a line one by one, and keep the white space between them; not "
    "with --tokenized.");
ABSL_FLAG(std::string, split_language, "",
          "Language of the text, for --split_sentences: en, de-DE, zho_Hans, ...; empty: "
          "--src_lang, or what the model says.");
ABSL_FLAG(
    std::string, long_input, "split",
    "What to do with a sentence (without --split_sentences: a line) of more than max_input_length "
    "tokens: split (at sentence or clause "
    "ends; the translations are joined), truncate, or error (the line comes out empty and the "
    "exit status is 1).");
ABSL_FLAG(
    std::string, output_format, "text",
    "text; nbest (\"index ||| text ||| logprob= S ||| score\", a line a hypothesis); or jsonl "
    "(text, tokens, score and token_scores of every hypothesis, and \"finished\": false where it "
    "was cut at a length limit).");
ABSL_FLAG(bool, print_scores, false, "Text output: the score in front, then a tab.");
ABSL_FLAG(nibu::AutoBool, progress, nibu::AutoBool::kAuto,
          "Show progress on standard error; auto: when that is a terminal, and the output is not.");
ABSL_FLAG(bool, stats, false,
          "At the end one line of JSON on standard error: counts, times, memory; "
          "unfinished_sentences were cut at a length limit.");

namespace nibu {
namespace {

using Clock = std::chrono::steady_clock;

double Seconds(Clock::time_point since) {
  return std::chrono::duration<double>(Clock::now() - since).count();
}

ProgramInfo Program() {
  return {"nibu-translate",
          "[flags] [TEXT ...]",
          "Translates each TEXT, or each line of --src, with an encoder-decoder Transformer. One\n"
          "output line for every input line, in order, as soon as it is ready.",
          {
              {"Model and text",
               {"model", "src_lang", "tgt_lang", "src", "out", "tokenized", "sentencepiece",
                "split_sentences", "split_language"}},
              {"Search", SearchFlags()},
              {"Lengths",
               {"min_decoding_length", "max_decoding_length", "max_input_length", "long_input"}},
              {"Speed (only compute_type and shortlist can change a result)", SpeedFlags()},
              {"Output", {"output_format", "print_scores", "progress", "stats"}},
          },
          /*takes_text=*/true};
}

// What the flags say, checked. text.decoding, which a model has defaults for, comes with the model.
struct Settings {
  ModelFlags model;
  TranslatorOptions translator;
  TextOptions text;
  OutputOptions output;
};

absl::StatusOr<Settings> ReadFlags() {
  Settings settings;
  NIBU_ASSIGN_OR_RETURN(settings.model, ReadModelFlags());
  NIBU_ASSIGN_OR_RETURN(settings.output.format,
                        Choose<OutputFormat>("output_format", absl::GetFlag(FLAGS_output_format),
                                             {{"text", OutputFormat::kText},
                                              {"nbest", OutputFormat::kNBest},
                                              {"jsonl", OutputFormat::kJsonl}}));
  settings.output.print_scores = absl::GetFlag(FLAGS_print_scores);
  NIBU_ASSIGN_OR_RETURN(settings.translator, ReadTranslatorFlags());
  settings.text = ReadTextFlags();
  settings.text.tokenized = absl::GetFlag(FLAGS_tokenized);
  settings.text.split_sentences = absl::GetFlag(FLAGS_split_sentences);
  if (settings.text.tokenized && settings.text.split_sentences && WasGiven("split_sentences")) {
    return absl::InvalidArgumentError(
        "--split_sentences needs text, not the pieces of --tokenized; give one of them");
  }
  if (settings.text.tokenized && WasGiven("sentencepiece")) {
    return absl::InvalidArgumentError(
        "--sentencepiece makes pieces, --tokenized is for pieces that are made; give one of them");
  }
  settings.text.split_language = absl::GetFlag(FLAGS_split_language);
  NIBU_ASSIGN_OR_RETURN(settings.text.long_input,
                        Choose<LongInput>("long_input", absl::GetFlag(FLAGS_long_input),
                                          {{"split", LongInput::kSplit},
                                           {"truncate", LongInput::kTruncate},
                                           {"error", LongInput::kError}}));
  return settings;
}

// A bar, or a count where the size of the input is not known. Used by one thread.
class ProgressBar {
 public:
  explicit ProgressBar(bool shown) : shown_(shown) {}

  // `done`: 0 to 1, negative: not known.
  void Update(uint64_t lines, double done) {
    if (!shown_ || Seconds(last_) < 0.2) return;
    last_ = Clock::now();
    std::string bar;
    if (done >= 0) {
      const auto full = static_cast<size_t>(done * 30);
      bar = absl::StrFormat("[%s%s] %3.0f %%  ", std::string(full, '='),
                            std::string(30 - full, ' '), 100 * done);
    }
    std::fprintf(stderr, "\r%s%llu lines, %.0f lines/s ", bar.c_str(),
                 static_cast<unsigned long long>(lines),
                 static_cast<double>(lines) / Seconds(start_));
    printed_ = true;
  }
  void End() {
    if (printed_) std::fprintf(stderr, "\r%78s\r", "");
    printed_ = false;
  }

 private:
  const bool shown_;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = Clock::now();
  bool printed_ = false;
};

// Sums over all lines; updated by the threads that deliver them.
struct Totals {
  std::atomic<uint64_t> lines{0};
  std::atomic<uint64_t> source_tokens{0};
  std::atomic<uint64_t> target_tokens{0};
  std::atomic<uint64_t> too_long{0};
  std::atomic<uint64_t> unfinished{0};  // cut at a length limit

  void Add(uint64_t index, const absl::StatusOr<TextResult>& result) {
    ++lines;
    if (absl::IsOutOfRange(result.status())) ++too_long;
    if (!result.ok() && !absl::IsOutOfRange(result.status())) {
      const std::lock_guard<std::mutex> lock(mutex);
      if (failed++ == 0)
        first_failure = absl::StrCat("line ", index + 1, ": ", result.status().message());
    }
    if (!result.ok()) return;
    source_tokens += static_cast<uint64_t>(result->source_tokens);
    target_tokens += static_cast<uint64_t>(result->target_tokens);
    if (result->too_long) ++too_long;
    if (!result->hypotheses[0].finished) ++unfinished;
  }

  std::mutex mutex;
  uint64_t failed = 0;        // guarded by mutex, as the next
  std::string first_failure;  // its line and message
};

void PrintStats(const Settings& settings, const Totals& totals, double load_seconds,
                double seconds) {
  const nlohmann::ordered_json stats = {
      {"sentences", totals.lines.load()},
      {"source_tokens", totals.source_tokens.load()},
      {"target_tokens", totals.target_tokens.load()},
      {"unfinished_sentences", totals.unfinished.load()},
      {"load_seconds", load_seconds},
      {"seconds", seconds},
      {"tokens_per_second", static_cast<double>(totals.target_tokens) / seconds},
      {"peak_rss_bytes", PeakMemoryBytes()},
      {"compute_type", ComputeTypeName(settings.model.compute_type)},
      {"threads", settings.translator.threads}};
  std::fprintf(stderr, "%s\n", stats.dump().c_str());
}

int Main(int argc, char** argv) {
  const Clock::time_point start = Clock::now();
  ReserveStandardDescriptors();
  static SignalWatcher& signals = *new SignalWatcher();
  const std::vector<std::string> texts = ParseCommandLineOrExit(Program(), argc, argv);
  absl::StatusOr<Settings> settings = ReadFlags();
  if (!settings.ok()) return Fail(settings.status(), kExitUsage);

  const std::string out_path = absl::GetFlag(FLAGS_out);
  OutputFile out(out_path);
  const auto source = OpenLines(texts, absl::GetFlag(FLAGS_src), out.direct());
  if (!source.ok()) {
    return Fail(source.status(),
                absl::IsInvalidArgument(source.status()) ? kExitUsage : kExitFailure);
  }
  absl::StatusOr<OpenedModel> opened = OpenModel(settings->model.path);
  if (!opened.ok()) return Fail(opened.status(), kExitFailure);
  absl::StatusOr<DecodingOptions> decoding = ReadDecodingFlags(settings->model, opened->defaults);
  if (!decoding.ok()) return Fail(decoding.status(), kExitUsage);
  settings->text.decoding = *std::move(decoding);
  settings->text.decoding.return_scores =
      settings->output.print_scores || settings->output.format != OutputFormat::kText;
  absl::StatusOr<TextModel> model =
      LoadTextModel(*std::move(opened), settings->model.compute_type, settings->model.text);
  if (!model.ok()) return Fail(model.status(), kExitFailure);
  for (const std::string& note : {model->loaded.note, model->draft_note}) {
    if (!note.empty()) PrintWarning(note);
  }
  settings->text.decoding.shortlist = model->loaded.shortlist;
  const std::string& path = settings->model.path;
  if (!settings->text.tokenized && model->loaded.vocabulary.source_sentencepiece.empty()) {
    return Fail(absl::InvalidArgumentError(absl::StrCat(
                    path,
                    ": has no SentencePiece model; give it with --sentencepiece, or pieces "
                    "separated by spaces with --tokenized")),
                kExitFailure);
  }
  absl::StatusOr<std::unique_ptr<TextTranslator>> translator =
      TextTranslator::Create(*std::move(model), settings->translator);
  if (!translator.ok()) {
    return Fail(absl::InvalidArgumentError(absl::StrCat(path, ": ", translator.status().message())),
                kExitFailure);
  }
  const auto plan = (*translator)->Prepare(settings->text);
  if (!plan.ok()) return Fail(NameFlag(plan.status()), kExitUsage);
  const double load_seconds = Seconds(start);
  // Opened last: a model that cannot be read leaves an old output as it is.
  if (const absl::Status status = out.Open(); !status.ok()) return Fail(status, kExitFailure);
  signals.SetBeforeEnd([&] { PrintInterrupted(&out); });
  SetFatalNote(out.Place());

  Totals totals;
  const AutoBool shown = absl::GetFlag(FLAGS_progress);
  // Not among the translations, where they go to a terminal too.
  ProgressBar bar(shown == AutoBool::kTrue ||
                  (shown == AutoBool::kAuto && isatty(STDERR_FILENO) && !isatty(out.fd())));
  Pipeline::Options options;
  const TranslatorOptions& speed = settings->translator;
  // Enough for a thread while its longest line is under way, and several windows of the queue.
  options.max_lines = static_cast<size_t>(speed.threads) *
                      std::max(options.max_lines, 2 * static_cast<size_t>(speed.batch_size));
  options.submit = [&](uint64_t index, const std::string& line, Pipeline::Deliver deliver) {
    // Only JSON repeats the source.
    std::string kept = settings->output.format == OutputFormat::kJsonl ? line : "";
    const auto end = [&, kept = std::move(kept), deliver = std::move(deliver)](
                         uint64_t key, absl::StatusOr<TextResult> result) {
      totals.Add(key, result);
      deliver(FormatResult(settings->output, key, kept, result.value_or(TextResult())));
    };
    const auto ticket =
        (*translator)
            ->Submit(line, {.plan = *plan, .key = index}, end, std::chrono::nanoseconds::max());
    if (!ticket.ok()) end(index, ticket.status());
  };
  options.report = [&](uint64_t lines, double done) { bar.Update(lines, done); };
  options.write_failed = [&](const absl::Status& status) {
    // Reading may be blocked, so this ends the program. A reader that has gone wants no more.
    if (absl::IsCancelled(status)) _exit(0);
    bar.End();
    PrintError(absl::StrCat(out_path == "-" ? "standard output" : out_path,
                            ": cannot be written: ", status.message(), out.Abandon()));
    _exit(kExitFailure);
  };

  Pipeline pipeline(std::move(options), out.fd());
  signals.SetBeforeEnd([&] {
    if (pipeline.Stop(/*seconds=*/2)) bar.End();
    PrintInterrupted(&out);
  });
  const Clock::time_point translating = Clock::now();
  absl::Status status = pipeline.Run(source->get());
  const double seconds = Seconds(translating);
  bar.End();
  status = EndOutput(std::move(status), &out, &signals);
  SetFatalNote("");
  if (!status.ok()) return Fail(status, kExitFailure);
  if (totals.failed > 0) {
    return Fail(absl::InternalError(absl::StrCat(totals.failed,
                                                 " line(s) could not be translated; the first is ",
                                                 totals.first_failure)),
                kExitFailure);
  }
  if (totals.too_long > 0) {
    const std::string lines = absl::StrCat(totals.too_long.load(), " line(s) of more than ",
                                           (*translator)->max_input_length(**plan), " tokens ");
    if (settings->text.long_input == LongInput::kError) {
      return Fail(absl::InvalidArgumentError(
                      absl::StrCat(lines, "were not translated; use --long_input=split")),
                  kExitFailure);
    }
    PrintWarning(absl::StrCat(lines, settings->text.long_input == LongInput::kSplit
                                         ? "were split and translated in parts"
                                         : "were truncated"));
  }
  if (totals.unfinished > 0) {
    PrintWarning(absl::StrCat(totals.unfinished.load(),
                              " line(s) were cut before their end, at --max_decoding_length=",
                              settings->text.decoding.max_decoding_length,
                              " or what the model allows; jsonl says which"));
  }
  if (absl::GetFlag(FLAGS_stats)) PrintStats(*settings, totals, load_seconds, seconds);
  return 0;
}

}  // namespace
}  // namespace nibu

int main(int argc, char** argv) { return nibu::Main(argc, argv); }
