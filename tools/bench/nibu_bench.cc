// nibu-bench: decode throughput and latency of a model, and how far they are from the matmuls
// alone.

#include <cstdio>
#include <string>
#include <vector>

#include "absl/flags/declare.h"
#include "absl/flags/flag.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/types/span.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "tools/bench/bench_run.h"
#include "tools/cli/decoding_flags.h"
#include "tools/cli/flags.h"

ABSL_DECLARE_FLAG(std::string, model);
ABSL_FLAG(std::string, config, "", "Shape of a model (configs/*.json), for --random_weights.");
ABSL_FLAG(bool, random_weights, false, "Measure the shape of --config with random weights.");
ABSL_FLAG(std::string, src, "", "Text to translate, a segment a line; empty: random token ids.");
ABSL_FLAG(int, sentences, 256, "Random sources, the same in every run.");
ABSL_FLAG(int, source_length, 0, "Tokens of each random source; 0: 12 to 47.");
ABSL_FLAG(int, output_length, 0,
          "Exactly so many tokens of output for each source; 0: up to the EOS.");
ABSL_FLAG(int, repeat, 1,
          "Times that a run is measured, after one that warms up; the fastest counts, with its own "
          "latencies, profile and floor.");
ABSL_FLAG(
    bool, json, false,
    "One JSON object a run instead of a table; target_tokens leaves the ends of sentences out.");

namespace nibu::internal {
namespace {

constexpr char kSwept[] = "compute_type threads beam_size batch_size source_length";

ProgramInfo Program() {
  return {"nibu-bench",
          "[attention] [flags]",
          "Measures throughput, latency, memory, where the time goes, and the matmul floor: the "
          "time of\n"
          "exactly the matmuls of a run, replayed with nothing between them. nibu-bench attention: "
          "what\nmechanisms of attention cost (see its --help).",
          {{"Swept: lists such as --batch_size=1,8,64; every combination is a run, printed as it "
            "ends",
            kSwept, /*lists=*/true},
           {"What",
            "model ensemble_weights src_lang tgt_lang sentencepiece config random_weights src "
            "sentences output_length max_input_length encoder_attention"},
           {"Search", kSearchFlags},
           {"Speed", kSpeedFlags},
           {"Measuring", "repeat json"}}};
}

// What the flags say now, over the model's defaults.
absl::StatusOr<BenchSettings> ReadSettings(const ModelDefaults& defaults) {
  BenchSettings settings;
  NIBU_ASSIGN_OR_RETURN(const ModelFlags model, ReadModelFlags());
  settings.compute_type = model.compute_type;
  NIBU_ASSIGN_OR_RETURN(settings.decoding, ReadDecodingFlags(model, defaults));
  NIBU_ASSIGN_OR_RETURN(settings.translator, ReadTranslatorFlags());
  settings.translator.max_decoding_length = std::max(1, settings.decoding.max_decoding_length);
  settings.source_length = absl::GetFlag(FLAGS_source_length);
  if (settings.source_length < 0) return WrongUsage("--source_length must not be negative");
  return settings;
}

// Every combination of the values of these flags, the last one's fastest.
absl::Status Combine(absl::Span<const std::string> swept, const ModelDefaults& defaults,
                     std::vector<BenchSettings>* runs) {
  if (swept.empty()) {
    NIBU_ASSIGN_OR_RETURN(runs->emplace_back(), ReadSettings(defaults));
    return absl::OkStatus();
  }
  for (const std::string& value : FlagValues(swept[0])) {
    NIBU_RETURN_IF_ERROR(SetFlag(swept[0], value));
    NIBU_RETURN_IF_ERROR(Combine(swept.subspan(1), defaults, runs));
  }
  return absl::OkStatus();
}

absl::StatusOr<BenchWorkload> ReadWorkload() {
  BenchWorkload workload;
  NIBU_ASSIGN_OR_RETURN(workload.model, ReadModelFlags());
  workload.text = ReadTextFlags(/*tokenized=*/false);
  workload.src = absl::GetFlag(FLAGS_src);
  workload.sentences = absl::GetFlag(FLAGS_sentences);
  workload.output_length = absl::GetFlag(FLAGS_output_length);
  workload.repeat = absl::GetFlag(FLAGS_repeat);
  const std::string config = absl::GetFlag(FLAGS_config);
  const bool random = absl::GetFlag(FLAGS_random_weights);
  const bool has_text = !workload.src.empty();
  NIBU_RETURN_IF_ERROR(
      Refuse({{random == config.empty(), "--config and --random_weights go together"},
              {random && !absl::GetFlag(FLAGS_model).empty(), "give --model or --config, not both"},
              {random && !workload.model.text.draft_model.empty(),
               "--draft_model needs a model; random weights have none"},
              {random && has_text, "--src needs a model; random weights take random sources"},
              {workload.sentences < 1 || workload.repeat < 1 || workload.output_length < 0,
               "--sentences and --repeat must be at least 1, --output_length not negative"},
              {has_text && FlagValues("source_length") != std::vector<std::string>{"0"},
               "--source_length is of random sources, without --src"}}));
  if (!random) return workload;
  // Random weights have no text, nor what it needs.
  TextModelOptions shape;
  shape.encoder_attention = workload.model.text.encoder_attention;
  workload.model = {config, true, workload.model.compute_type, std::move(shape)};
  return workload;
}

absl::Status Run(int argc, char** argv) {
  ParseCommandLineOrExit(Program(), argc, argv);
  // Nothing runs before every run is known to make sense.
  NIBU_ASSIGN_OR_RETURN(const BenchWorkload workload, ReadWorkload());
  ModelDefaults defaults;
  if (!workload.model.random_weights) {
    NIBU_ASSIGN_OR_RETURN(const OpenedModel opened, Open(workload.model));
    defaults = opened.defaults;
  }
  std::vector<BenchSettings> runs;
  const std::vector<std::string> swept = absl::StrSplit(kSwept, ' ');
  NIBU_RETURN_IF_ERROR(Combine(swept, defaults, &runs));

  const bool json = absl::GetFlag(FLAGS_json);
  Bench bench(workload);
  for (const BenchSettings& settings : runs) {
    const absl::StatusOr<BenchResult> result = bench.Run(settings);
    NIBU_RETURN_IF_ERROR(UsageOfFlag(result.status()));
    if (!json && &settings == runs.data()) {
      absl::PrintF("%s on %s\n%s", workload.model.path, InstructionSet(), BenchTableHead());
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
  const bool attention = argc > 1 && std::string(argv[1]) == "attention";
  return nibu::internal::ExitStatus(attention ? nibu::internal::BenchAttention(argc - 1, argv + 1)
                                              : nibu::internal::Run(argc, argv));
}
