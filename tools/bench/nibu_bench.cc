// nibu-bench measures throughput and latency of a model, and compares them with its matmuls alone.

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/types/span.h"
#include "engine/core/status_macros.h"
#include "tokenizer/unicode/language_code.h"
#include "tools/bench/attention_bench.h"
#include "tools/bench/bench_options.h"
#include "tools/bench/bench_report.h"
#include "tools/bench/bench_run.h"
#include "tools/bench/bench_text.h"
#include "tools/bench/bleu.h"
#include "tools/cli/cli_options.h"
#include "tools/cli/flags.h"
#include "tools/cli/model_flags.h"
#include "tools/text/options/engine_options.h"
#include "tools/text/options/resources.h"

namespace nibu::internal {
namespace {

constexpr char kSwept[] = "compute_type threads beam_size batch_size source_length lengths";

struct Settings {
  CliOptions cli;
  ModelOptions model;
  SpeedOptions speed;
  Options text;
  BenchOptions bench;
  BleuOptions bleu;
};

ProgramInfo Program(Settings* settings) {
  return {
      "nibu-bench",
      "bench",
      "[flags]",
      "Measures throughput, latency, memory, the time of each part, and how near it is to limits.\n"
      "--compute_type, --threads, --beam_size, --batch_size, --source_length and --lengths may\n"
      "be lists, such as 1,8,64; every combination is a run, and is printed as it ends. A\n"
      "second table, with the same runs in the same order, tells where their time went. thr are\n"
      "the worker threads, batch is the number of sentences that one decodes together, and src\n"
      "and tgt are the mean tokens of a sentence and of its translation. p50, p90 and p99 are\n"
      "percentiles of latency: of a sentence from its first step on, without its time in the\n"
      "queue, and of a line from its submission among all others to its translation. The second\n"
      "table has the seconds of loading, and shares of the threads' time: the encoder (enc),\n"
      "the decoder's matrix products (decm), its attention (attn), the search (srch), the\n"
      "tokenizer (toke) and the making of text (text). The floor is the time of the run's\n"
      "matrix products, replayed with nothing between them; its ratio is to the time of the\n"
      "run. The limit's ratio is the same if each product ran at the peak of this machine,\n"
      "which is measured: GOP/s of a thread's products, or GB/s of its reading weights where\n"
      "that takes longer, mostly from a cache if the weights fit into one. The rest of the time\n"
      "is other work and waiting. With --ref the table has BLEU, chrF, the share of lines that\n"
      "equal those of the first run with this beam, and memory; with --lengths it has the cost\n"
      "of a token. --json has all figures. nibu-bench attention measures mechanisms of\n"
      "attention, and nibu-bench bleu scores files.",
      {{CliOptionRows(), &settings->cli},
       {BenchOptionRows(), &settings->bench},
       {ModelOptionRows(), &settings->model},
       {TextOptionRows(), &settings->text},
       {SpeedOptionRows(), &settings->speed}},
      /*takes_text=*/false,
      kSwept,
      {BenchAttentionProgram(&settings->bench, &settings->model),
       BenchBleuProgram(&settings->bleu)}};
}

// Returns the options for loading the model. Random weights translate no text, so they need no
// SentencePiece model or shortlist.
ModelOptions LoadingOptions(const Settings& asked) {
  if (!asked.bench.random_weights) return asked.model;
  ModelOptions shape;
  shape.compute_type = asked.model.compute_type;
  shape.encoder_attention = asked.model.encoder_attention;
  shape.cross_attention = asked.model.cross_attention;
  return shape;
}

// Returns the settings of a run with the present options over the model's defaults.
absl::StatusOr<BenchSettings> ReadSettings(const Settings& asked, const ModelDefaults& defaults) {
  BenchSettings settings;
  settings.loading = LoadingOptions(asked);
  NIBU_RETURN_IF_ERROR(ChooseComputeType(asked.model.compute_type).status());
  settings.speed = asked.speed;
  settings.text = asked.text;
  NIBU_ASSIGN_OR_RETURN(settings.decoding, ReadDecodingFlags(asked.text, asked.model, defaults));
  NIBU_ASSIGN_OR_RETURN(settings.translator,
                        ReadTranslatorFlags(asked.speed, asked.model, asked.text));
  settings.translator.max_decoding_length = std::max(1, settings.decoding.max_decoding_length);
  const int both = asked.bench.lengths;
  settings.source_length = both > 0 ? both : asked.bench.source_length;
  settings.output_length = both > 0 ? both : asked.bench.output_length;
  return settings;
}

// Appends the settings for each combination of the values of these flags. The last flag's value
// changes fastest.
absl::Status Combine(absl::Span<const std::string> swept, const Settings& asked,
                     const ModelDefaults& defaults, std::vector<BenchSettings>* runs) {
  if (swept.empty()) {
    NIBU_ASSIGN_OR_RETURN(runs->emplace_back(), ReadSettings(asked, defaults));
    return absl::OkStatus();
  }
  // A flag that is not given keeps the model's default.
  if (!WasGiven(swept[0])) return Combine(swept.subspan(1), asked, defaults, runs);
  for (const std::string& value : FlagValues(swept[0])) {
    NIBU_RETURN_IF_ERROR(SetFlag(swept[0], value));
    NIBU_RETURN_IF_ERROR(Combine(swept.subspan(1), asked, defaults, runs));
  }
  return absl::OkStatus();
}

absl::StatusOr<BenchWorkload> ReadWorkload(const Settings& asked) {
  const BenchOptions& bench = asked.bench;
  BenchWorkload workload;
  if (bench.sentences > 0) workload.sentences = bench.sentences;
  workload.repeat = bench.repeat;
  const std::string& config = bench.config;
  const bool random = bench.random_weights;
  NIBU_RETURN_IF_ERROR(Refuse(
      {{random == config.empty(), "--config and --random_weights go together"},
       {random && !asked.cli.model.empty(), "give --model or --config, not both"},
       {random && !asked.model.draft_model.empty(),
        "--draft_model needs a model; random weights have none"},
       {random && !bench.src.empty(), "--src needs a model; random weights take random sources"}}));
  if (random) {
    workload.is_shape = true;
    workload.models = {config};
    return workload;
  }
  NIBU_ASSIGN_OR_RETURN(workload.models, ReadModelFlags(asked.cli.model, asked.model));
  if (WasGiven("source_length") || WasGiven("lengths")) return workload;
  NIBU_RETURN_IF_ERROR(ReadBenchText(bench, &workload));
  return workload;
}

// Shows which run of a sweep is under way, in a line that it removes again.
class Progress {
 public:
  Progress(AutoBool asked, size_t runs)
      : is_shown_(asked.value_or(isatty(STDERR_FILENO) != 0)), runs_(runs) {}
  void Begin(size_t run) const {
    if (!is_shown_) return;
    absl::FPrintF(stderr, "\rrun %d of %d, after %.0f s ", run, runs_, SecondsSince(start_));
  }
  void End() const {
    if (is_shown_) absl::FPrintF(stderr, "\r%40s\r", "");
  }

 private:
  const bool is_shown_;
  const size_t runs_;
  const Clock::time_point start_ = Clock::now();
};

// Returns the lines above the first run: what is the same for all runs, and the table's head.
std::string HeadOf(BenchTable table, const BenchResult& result) {
  std::string text = "random sources";
  if (result.source_file == kBundledText) {
    text = "lines of the bundled text";
  } else if (!result.source_file.empty()) {
    text = absl::StrCat("lines of ", result.source_file);
  }
  return absl::StrCat(result.model, " on ", CpuName(), " (", InstructionSet(), "), ", result.lines,
                      " ", text, "\n", BenchTableHead(table));
}

absl::Status Print(const std::string& text) {
  absl::PrintF("%s", text);
  if (std::fflush(stdout) == 0) return absl::OkStatus();
  return absl::UnavailableError("cannot write standard output; is the disk full?");
}

// Returns the table of a command line's runs, or nullopt if they are printed as JSON.
std::optional<BenchTable> TableOf(const BenchOptions& bench) {
  if (bench.json) return std::nullopt;
  if (!bench.ref.empty()) return BenchTable::kQuality;
  return bench.lengths > 0 ? BenchTable::kLengths : BenchTable::kSpeed;
}

// Returns the settings of all runs.
absl::StatusOr<std::vector<BenchSettings>> ReadRuns(const Settings& asked,
                                                    const BenchWorkload& workload) {
  ModelDefaults defaults;
  if (!workload.is_shape) {
    NIBU_ASSIGN_OR_RETURN(const OpenedModel opened,
                          OpenModelOrShape(workload.models[0], /*is_shape=*/false, asked.model));
    defaults = opened.defaults;
    const std::string& language = opened.vocabulary.source_language;
    if (workload.source_file == kBundledText && !language.empty() &&
        ShortLanguageCode(language) != "en") {
      PrintNote(absl::StrCat("the bundled text is English, and the model reads ", language,
                             "; give a text with --src"));
    }
  }
  std::vector<BenchSettings> runs;
  const std::vector<std::string> swept = absl::StrSplit(kSwept, ' ');
  NIBU_RETURN_IF_ERROR(Combine(swept, asked, defaults, &runs));
  return runs;
}

absl::Status Run(int argc, char** argv) {
  Settings asked;
  ParseCommandLineOrExit(Program(&asked), argc, argv);
  NIBU_ASSIGN_OR_RETURN(const BenchWorkload workload, ReadWorkload(asked));
  NIBU_ASSIGN_OR_RETURN(const std::vector<BenchSettings> runs, ReadRuns(asked, workload));
  const std::optional<BenchTable> table = TableOf(asked.bench);
  const Progress progress(asked.bench.progress, runs.size());
  Bench bench(workload);
  NIBU_RETURN_IF_ERROR(UsageOfFlag(bench.Begin(runs)));
  std::string times;  // the table of kTime
  for (size_t i = 0; i < runs.size(); ++i) {
    progress.Begin(i + 1);
    const absl::StatusOr<BenchResult> result = bench.Run(runs[i]);
    progress.End();
    NIBU_RETURN_IF_ERROR(UsageOfFlag(result.status()));
    if (const std::string why = WhyNoFloorRatio(*result); !why.empty()) {
      PrintWarning(runs.size() == 1 ? why : absl::StrCat("run ", i + 1, ": ", why));
    }
    if (table.has_value() && i == 0) NIBU_RETURN_IF_ERROR(Print(HeadOf(*table, *result)));
    NIBU_RETURN_IF_ERROR(
        Print(table.has_value() ? BenchTableRow(*table, *result) : BenchJson(*result) + "\n"));
    if (table == BenchTable::kSpeed) times += BenchTableRow(BenchTable::kTime, *result);
  }
  if (times.empty()) return absl::OkStatus();
  return Print(absl::StrCat("\n", BenchTableHead(BenchTable::kTime), times));
}

}  // namespace
}  // namespace nibu::internal

int main(int argc, char** argv) {
  using nibu::internal::ExitStatus;
  const std::string command = argc > 1 ? argv[1] : "";
  if (command == "attention") {
    return ExitStatus(nibu::internal::BenchAttention(argc - 1, argv + 1));
  }
  if (command == "bleu") return ExitStatus(nibu::internal::BenchBleu(argc - 1, argv + 1));
  return ExitStatus(nibu::internal::Run(argc, argv));
}
