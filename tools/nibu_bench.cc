// nibu-bench: decode throughput and latency of a model, and how far they are from the matmuls
// alone.

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/flags/declare.h"
#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "engine/core/status_macros.h"
#include "tools/bench_report.h"
#include "tools/bench_run.h"
#include "tools/decoding_flags.h"
#include "tools/flags.h"

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
ABSL_FLAG(bool, json, false, "One JSON object a run instead of a table.");

namespace nibu {
namespace {

ProgramInfo Program() {
  ProgramInfo program = {
      "nibu-bench",
      "[flags]",
      "Measures throughput, latency, memory, where the time goes, and the matmul floor: the time "
      "of\n"
      "exactly the matmuls of a run, replayed with nothing between them.",
      {{"Swept: lists such as --batch_size=1,8,64; every combination is a run, printed as it ends",
        {"compute_type", "threads", "beam_size", "batch_size", "source_length"}},
       {"What",
        {"model", "src_lang", "tgt_lang", "sentencepiece", "config", "random_weights", "src",
         "sentences", "output_length", "max_input_length"}}}};
  const std::vector<std::string> swept = program.groups[0].flags;
  const auto rest = [&swept](std::vector<std::string> flags) {
    flags.erase(std::remove_if(flags.begin(), flags.end(),
                               [&swept](const std::string& flag) {
                                 return std::find(swept.begin(), swept.end(), flag) != swept.end();
                               }),
                flags.end());
    return flags;
  };
  program.groups.push_back({"Search", rest(SearchFlags())});
  program.groups.push_back({"Speed", rest(SpeedFlags())});
  program.groups.push_back({"Measuring", {"repeat", "json"}});
  return program;
}

// What the flags say now, over the model's defaults.
absl::StatusOr<BenchSettings> ReadSettings(const ModelDefaults& defaults) {
  BenchSettings settings;
  NIBU_ASSIGN_OR_RETURN(const ModelFlags model, ReadModelFlags());
  settings.compute_type = model.compute_type;
  NIBU_ASSIGN_OR_RETURN(settings.decoding, ReadDecodingFlags(model, defaults));
  NIBU_ASSIGN_OR_RETURN(settings.translator, ReadTranslatorFlags());
  settings.source_length = absl::GetFlag(FLAGS_source_length);
  if (settings.source_length < 0) {
    return absl::InvalidArgumentError("--source_length must not be negative");
  }
  return settings;
}

// Every combination of the values from flag number `next` of `order` on, the last one fastest.
absl::Status Combine(const FlagLists& lists, const std::vector<std::string>& order, size_t next,
                     const ModelDefaults& defaults, std::vector<BenchSettings>* runs) {
  if (next == order.size()) {
    NIBU_ASSIGN_OR_RETURN(BenchSettings settings, ReadSettings(defaults));
    runs->push_back(std::move(settings));
    return absl::OkStatus();
  }
  for (const std::string& value : lists.at(order[next])) {
    NIBU_RETURN_IF_ERROR(SetFlag(order[next], value));
    NIBU_RETURN_IF_ERROR(Combine(lists, order, next + 1, defaults, runs));
  }
  return absl::OkStatus();
}

absl::StatusOr<BenchWorkload> ReadWorkload() {
  BenchWorkload workload;
  workload.random_weights = absl::GetFlag(FLAGS_random_weights);
  workload.text = ReadTextFlags();
  workload.src = absl::GetFlag(FLAGS_src);
  workload.sentences = absl::GetFlag(FLAGS_sentences);
  workload.output_length = absl::GetFlag(FLAGS_output_length);
  workload.repeat = absl::GetFlag(FLAGS_repeat);
  if (workload.random_weights == absl::GetFlag(FLAGS_config).empty()) {
    return absl::InvalidArgumentError("--config and --random_weights go together");
  }
  NIBU_ASSIGN_OR_RETURN(workload.model, ReadModelFlags());
  if (workload.random_weights) {
    if (!absl::GetFlag(FLAGS_model).empty()) {
      return absl::InvalidArgumentError("give --model or --config, not both");
    }
    workload.model.path = absl::GetFlag(FLAGS_config);
    if (!workload.model.text.draft_model.empty()) {
      return absl::InvalidArgumentError("--draft_model needs a model; random weights have none");
    }
  }
  if (workload.random_weights && !workload.src.empty()) {
    return absl::InvalidArgumentError("--src needs a model; random weights take random sources");
  }
  if (workload.sentences < 1 || workload.repeat < 1 || workload.output_length < 0) {
    return absl::InvalidArgumentError(
        "--sentences and --repeat must be at least 1, --output_length not negative");
  }
  return workload;
}

int Main(int argc, char** argv) {
  const std::vector<std::string> swept = Program().groups[0].flags;
  FlagLists lists;
  for (const std::string& flag : swept) lists[flag];
  ParseCommandLineOrExit(Program(), argc, argv, &lists);
  // Nothing runs before every run is known to make sense.
  const absl::StatusOr<BenchWorkload> workload = ReadWorkload();
  if (!workload.ok()) return Fail(workload.status(), kExitUsage);
  if (!workload->src.empty() && lists["source_length"] != std::vector<std::string>{"0"}) {
    return Fail(absl::InvalidArgumentError("--source_length is of random sources, without --src"),
                kExitUsage);
  }
  ModelDefaults defaults;
  if (!workload->random_weights) {
    const absl::StatusOr<OpenedModel> opened = OpenModel(workload->model.path);
    if (!opened.ok()) return Fail(opened.status(), kExitFailure);
    defaults = opened->defaults;
  }
  std::vector<BenchSettings> runs;
  if (const absl::Status status = Combine(lists, swept, 0, defaults, &runs); !status.ok()) {
    return Fail(status, kExitUsage);
  }

  const bool json = absl::GetFlag(FLAGS_json);
  Bench bench(*workload);
  for (const BenchSettings& settings : runs) {
    const absl::StatusOr<BenchResult> result = bench.Run(settings);
    if (!result.ok()) return Fail(NameFlag(result.status()), kExitFailure);
    if (!json && &settings == runs.data()) {
      std::printf("%s on %s\n%s", workload->model.path.c_str(), InstructionSet().c_str(),
                  BenchTableHead().c_str());
    }
    std::fputs((json ? BenchJson(*result) + "\n" : BenchTableRow(*result)).c_str(), stdout);
    if (std::fflush(stdout) != 0) {
      return Fail(absl::UnavailableError("cannot write standard output; is the disk full?"),
                  kExitFailure);
    }
  }
  return 0;
}

}  // namespace
}  // namespace nibu

int main(int argc, char** argv) { return nibu::Main(argc, argv); }
