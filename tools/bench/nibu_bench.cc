// nibu-bench measures throughput and latency of a model, and compares them with its matmuls alone.

#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/types/span.h"
#include "engine/core/status_macros.h"
#include "tools/bench/bench_options.h"
#include "tools/bench/bench_run.h"
#include "tools/bench/bleu.h"
#include "tools/cli/cli_options.h"
#include "tools/cli/flags.h"
#include "tools/cli/model_flags.h"
#include "tools/text/options/engine_options.h"

namespace nibu::internal {
namespace {

constexpr char kSwept[] = "compute_type threads beam_size batch_size source_length";

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
      "Measures throughput, latency, memory, the time of each part, and the matmul floor. This\n"
      "is the time of exactly the matrix products of a run, replayed with nothing between them.\n"
      "The column kernels (matmul_kernels in JSON) says whose kernels multiplied: nibu's own,\n"
      "oneDNN's, or both.\n"
      "--compute_type, --threads, --beam_size, --batch_size and --source_length may be lists, "
      "such\n"
      "as 1,8,64; every combination is a run, which is printed as it ends. nibu-bench attention\n"
      "measures mechanisms of attention, and nibu-bench bleu scores files.",
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
  NIBU_RETURN_IF_ERROR(ReadModelFlags(asked.cli.model, asked.model).status());
  settings.loading = LoadingOptions(asked);
  NIBU_ASSIGN_OR_RETURN(settings.compute_type, ChooseComputeType(asked.model.compute_type));
  settings.text = asked.text;
  NIBU_ASSIGN_OR_RETURN(settings.decoding, ReadDecodingFlags(asked.text, asked.model, defaults));
  NIBU_ASSIGN_OR_RETURN(settings.translator,
                        ReadTranslatorFlags(asked.speed, asked.model, asked.text));
  settings.translator.max_decoding_length = std::max(1, settings.decoding.max_decoding_length);
  settings.source_length = asked.bench.source_length;
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
  NIBU_ASSIGN_OR_RETURN(workload.models, ReadModelFlags(asked.cli.model, asked.model));
  workload.src = bench.src;
  workload.sentences = bench.sentences;
  workload.output_length = bench.output_length;
  workload.repeat = bench.repeat;
  const std::string& config = bench.config;
  const bool random = bench.random_weights;
  const bool has_text = !workload.src.empty();
  NIBU_RETURN_IF_ERROR(
      Refuse({{random == config.empty(), "--config and --random_weights go together"},
              {random && !asked.cli.model.empty(), "give --model or --config, not both"},
              {random && !asked.model.draft_model.empty(),
               "--draft_model needs a model; random weights have none"},
              {random && has_text, "--src needs a model; random weights take random sources"},
              {has_text && FlagValues("source_length") != std::vector<std::string>{"0"},
               "--source_length is of random sources, without --src"}}));
  workload.is_shape = random;
  if (random) workload.models = {config};
  return workload;
}

absl::Status Run(int argc, char** argv) {
  Settings asked;
  ParseCommandLineOrExit(Program(&asked), argc, argv);
  // All runs are checked before the first one begins.
  NIBU_ASSIGN_OR_RETURN(const BenchWorkload workload, ReadWorkload(asked));
  ModelDefaults defaults;
  if (!workload.is_shape) {
    NIBU_ASSIGN_OR_RETURN(const OpenedModel opened,
                          OpenModelOrShape(workload.models[0], /*is_shape=*/false, asked.model));
    defaults = opened.defaults;
  }
  std::vector<BenchSettings> runs;
  const std::vector<std::string> swept = absl::StrSplit(kSwept, ' ');
  NIBU_RETURN_IF_ERROR(Combine(swept, asked, defaults, &runs));

  const bool json = asked.bench.json;
  Bench bench(workload);
  for (const BenchSettings& settings : runs) {
    const absl::StatusOr<BenchResult> result = bench.Run(settings);
    NIBU_RETURN_IF_ERROR(UsageOfFlag(result.status()));
    if (!json && &settings == runs.data()) {
      absl::PrintF("%s on %s\n%s", workload.models[0], InstructionSet(), BenchTableHead());
    }
    if (!FloorRatio(*result).has_value()) {
      PrintWarning("the run is too short for a ratio to the matmul floor; give more --sentences");
    }
    absl::PrintF("%s", json ? BenchJson(*result) + "\n" : BenchTableRow(*result));
    if (std::fflush(stdout) != 0) {
      return absl::UnavailableError("cannot write standard output; is the disk full?");
    }
  }
  return absl::OkStatus();
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
