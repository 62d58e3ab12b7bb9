// nibu-bench: decode throughput and latency of a model, and how far they are from the matmuls
// alone.

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <random>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/core/status_macros.h"
#include "models/load_model.h"
#include "models/random_model.h"
#include "nlohmann/json.hpp"
#include "tools/decoding_flags.h"
#include "tools/flags.h"
#include "tools/lines.h"
#include "tools/text_translator.h"

ABSL_FLAG(std::string, config, "", "Shape of a model (configs/*.json), for --random_weights.");
ABSL_FLAG(bool, random_weights, false, "Measure the shape of --config with random weights.");
ABSL_FLAG(std::string, src, "", "Text to translate, a segment a line; empty: random token ids.");
ABSL_FLAG(int, sentences, 256, "Random sources.");
ABSL_FLAG(int, source_length, 0, "Tokens of each random source; 0: 12 to 47.");
ABSL_FLAG(int, output_length, 0,
          "Exactly so many tokens of output for each source; 0: up to the EOS.");
ABSL_FLAG(int, repeat, 1, "Measured runs, after one that warms up; the fastest counts.");
ABSL_FLAG(bool, json, false, "One JSON object a run instead of a table.");

namespace nibu {
namespace {

using Clock = std::chrono::steady_clock;

double Seconds(Clock::time_point since) {
  return std::chrono::duration<double>(Clock::now() - since).count();
}

ProgramInfo Program() {
  return {"nibu-bench",
          "[flags]",
          "Measures throughput, latency, memory, where the time goes, and the matmul floor: the "
          "time of\n"
          "exactly the matmuls of the run, replayed with nothing between them.",
          {
              {"What",
               {"model", "config", "random_weights", "src", "sentences", "source_length",
                "output_length", "max_input_length"}},
              {"Search", SearchFlags()},
              {"Speed", SpeedFlags()},
              {"Measuring", {"repeat", "json"}},
          }};
}

// What one configuration is measured on.
struct Workload {
  std::string model_name;
  std::shared_ptr<const Model> model;
  std::unique_ptr<TextTranslator> text;    // null for random weights
  std::unique_ptr<Translator> translator;  // null with text
  std::vector<std::string> lines;          // with text
  std::vector<std::vector<int>> sources;
  double load_seconds = 0;

  Translator& engine() { return text != nullptr ? text->translator() : *translator; }
};

struct Run {
  double seconds = 0;
  double tokenizer_seconds = 0;
  int64_t target_tokens = 0;
  Translator::Measurement measurement;
};

std::vector<std::vector<int>> RandomSources(const ModelConfig& config) {
  std::mt19937 random(1);
  std::vector<std::vector<int>> sources(static_cast<size_t>(absl::GetFlag(FLAGS_sentences)));
  const int fixed = absl::GetFlag(FLAGS_source_length);
  for (auto& source : sources) {
    source.resize(fixed > 0 ? static_cast<size_t>(fixed) : 12 + random() % 36);
    for (int& token : source) {
      token = static_cast<int>(random() % static_cast<uint32_t>(config.vocab_source));
    }
  }
  return sources;
}

absl::StatusOr<Workload> Prepare() {
  const Clock::time_point start = Clock::now();
  Workload workload;
  NIBU_ASSIGN_OR_RETURN(const ModelFlags flags, ReadModelFlags());
  NIBU_ASSIGN_OR_RETURN(DecodingOptions decoding, ReadDecodingFlags());
  NIBU_ASSIGN_OR_RETURN(TranslatorOptions options, ReadTranslatorFlags());
  decoding.return_scores = false;
  if (const int length = absl::GetFlag(FLAGS_output_length); length > 0) {
    decoding.min_decoding_length = length;
    decoding.max_decoding_length = length;
  }
  if (absl::GetFlag(FLAGS_random_weights)) {
    workload.model_name = absl::GetFlag(FLAGS_config);
    NIBU_ASSIGN_OR_RETURN(const ModelConfig config, ReadModelShape(workload.model_name));
    NIBU_ASSIGN_OR_RETURN(workload.model, RandomModel(config, flags.compute_type, /*seed=*/1));
  } else {
    workload.model_name = flags.path;
    NIBU_ASSIGN_OR_RETURN(LoadedModel loaded, LoadModel(flags.path, flags.compute_type));
    workload.model = loaded.model;
    if (!absl::GetFlag(FLAGS_src).empty()) {
      TextOptions text;
      text.decoding = decoding;
      text.translator = options;
      text.max_input_length = options.max_source_length;
      NIBU_ASSIGN_OR_RETURN(workload.text, TextTranslator::Create(std::move(loaded), text));
    }
  }
  if (workload.text == nullptr) {
    NIBU_ASSIGN_OR_RETURN(workload.translator,
                          Translator::Create(workload.model, decoding, options));
  }
  workload.load_seconds = Seconds(start);

  if (workload.text == nullptr) {
    workload.sources = RandomSources(workload.model->config);
    return workload;
  }
  NIBU_ASSIGN_OR_RETURN(FileLines file, FileLines::Open(absl::GetFlag(FLAGS_src)));
  std::string line;
  while (true) {
    NIBU_ASSIGN_OR_RETURN(const bool more, file.Next(&line));
    if (!more) break;
    workload.lines.push_back(line);
  }
  return workload;
}

Run Measure(Workload* workload) {
  Run run;
  const Clock::time_point start = Clock::now();
  if (workload->text != nullptr) {
    workload->sources.clear();
    for (const std::string& line : workload->lines) {
      std::vector<int> ids = workload->text->Encode(line);
      if (!ids.empty()) workload->sources.push_back(std::move(ids));
    }
    run.tokenizer_seconds = Seconds(start);
  }
  Translator& translator = workload->engine();
  translator.StartMeasuring();
  const auto results = translator.Translate(workload->sources);
  run.seconds = Seconds(start);
  run.measurement = translator.FinishMeasuring();
  for (const auto& hypotheses : results) {
    run.target_tokens += static_cast<int64_t>(hypotheses[0].tokens.size());
  }
  return run;
}

// Milliseconds that a share `part` of the sentences stays under.
double Percentile(std::vector<double> seconds, double part) {
  if (seconds.empty()) return 0;
  std::sort(seconds.begin(), seconds.end());
  const auto last = static_cast<double>(seconds.size() - 1);
  return 1000 * seconds[static_cast<size_t>(std::lround(part * last))];
}

void Print(const Workload& workload, const Run& run, const ModelFlags& flags,
           const TranslatorOptions& options) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const Profile& profile = run.measurement.profile;
  size_t source_tokens = 0;
  for (const auto& source : workload.sources) source_tokens += source.size();
  const auto sentences = static_cast<double>(workload.sources.size());
  const double floor = run.measurement.matmul_floor_seconds;
  const nlohmann::ordered_json result = {
      {"model", workload.model_name},
      {"compute_type", ComputeTypeName(flags.compute_type)},
      {"isa", InstructionSet()},
      {"threads", options.threads},
      {"beam_size", ReadDecodingFlags()->beam_size},
      {"batch_size", options.batch_size},
      {"sentences", workload.sources.size()},
      {"source_tokens", source_tokens},
      {"target_tokens", run.target_tokens},
      {"seconds", run.seconds},
      {"tokens_per_second", static_cast<double>(run.target_tokens) / run.seconds},
      {"sentences_per_second", sentences / run.seconds},
      {"latency_ms",
       {{"p50", Percentile(run.measurement.latencies, 0.5)},
        {"p90", Percentile(run.measurement.latencies, 0.9)},
        {"p99", Percentile(run.measurement.latencies, 0.99)}}},
      {"load_seconds", workload.load_seconds},
      {"peak_rss_bytes", static_cast<int64_t>(usage.ru_maxrss) * 1024},
      {"weight_bytes", workload.model->weight_bytes()},
      {"profile",
       {{"encoder", profile.encoder},
        {"decoder_matmul", profile.decoder_matmul},
        {"attention", profile.attention},
        {"search", profile.search},
        {"tokenizer", run.tokenizer_seconds}}},
      {"matmul_floor_seconds", floor},
      {"matmul_floor_ratio", floor / run.seconds}};
  if (absl::GetFlag(FLAGS_json)) {
    std::printf("%s\n", result.dump().c_str());
    return;
  }
  for (const auto& [key, value] : result.items()) {
    if (!value.is_object()) {
      std::printf("%-22s %s\n", key.c_str(),
                  value.is_string() ? value.get<std::string>().c_str() : value.dump().c_str());
      continue;
    }
    for (const auto& [part, number] : value.items()) {
      std::printf("%-22s %.4g\n", absl::StrCat(key, ".", part).c_str(), number.get<double>());
    }
  }
}

int Fail(const absl::Status& status, int exit_status) {
  PrintError(Program(), status.message());
  return exit_status;
}

absl::Status CheckFlags() {
  NIBU_RETURN_IF_ERROR(ReadModelFlags().status());
  NIBU_RETURN_IF_ERROR(ReadDecodingFlags().status());
  NIBU_RETURN_IF_ERROR(ReadTranslatorFlags().status());
  if (absl::GetFlag(FLAGS_random_weights) == absl::GetFlag(FLAGS_config).empty()) {
    return absl::InvalidArgumentError("--config and --random_weights go together");
  }
  if (absl::GetFlag(FLAGS_random_weights) && !absl::GetFlag(FLAGS_src).empty()) {
    return absl::InvalidArgumentError("--src needs a model; random weights take random sources");
  }
  if (absl::GetFlag(FLAGS_sentences) < 1 || absl::GetFlag(FLAGS_repeat) < 1 ||
      absl::GetFlag(FLAGS_source_length) < 0 || absl::GetFlag(FLAGS_output_length) < 0) {
    return absl::InvalidArgumentError(
        "--sentences and --repeat must be at least 1, lengths not negative");
  }
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  const std::vector<std::string> rest = ParseCommandLineOrExit(Program(), argc, argv);
  if (!rest.empty()) {
    return Fail(absl::InvalidArgumentError(absl::StrCat("unexpected argument \"", rest[0], "\"")),
                kExitUsage);
  }
  if (const absl::Status status = CheckFlags(); !status.ok()) return Fail(status, kExitUsage);
  absl::StatusOr<Workload> workload = Prepare();
  if (!workload.ok()) return Fail(workload.status(), kExitFailure);
  Measure(&*workload);  // warms up
  Run best;
  for (int i = 0; i < absl::GetFlag(FLAGS_repeat); ++i) {
    Run run = Measure(&*workload);
    if (i == 0 || run.seconds < best.seconds) best = std::move(run);
  }
  Print(*workload, best, *ReadModelFlags(), *ReadTranslatorFlags());
  return 0;
}

}  // namespace
}  // namespace nibu

int main(int argc, char** argv) { return nibu::Main(argc, argv); }
