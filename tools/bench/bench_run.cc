// Runs a model on texts or random sources, measures it, and formats the figures.
#include "tools/bench/bench_run.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "absl/base/macros.h"
#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/core/errors.h"
#include "engine/core/gather.h"
#include "engine/core/status_macros.h"
#include "engine/ops/matmul.h"
#include "nlohmann/json.hpp"
#include "tools/bench/matmul_recorder.h"
#include "tools/cli/lines.h"
#include "tools/cli/model_flags.h"
#include "tools/text/options/engine_options.h"
#include "tools/text/options/resources.h"
#include "tools/text/translator/pending_line.h"
#include "tools/text/translator/plan.h"

namespace nibu::internal {
namespace {

absl::Status MeasureText(const std::vector<std::string>& lines,
                         const std::shared_ptr<const Plan>& plan, BenchResult* result) {
  TextCosts& costs = plan->engines->costs();
  const double tokenizing = costs.tokenizer_seconds;
  const double finishing = costs.text_seconds;
  const auto all = std::make_shared<Gather<nibu::Result>>(lines.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    const auto line = std::make_shared<PendingLine>(
        plan, nibu::Request{.key = i}, /*language=*/"",
        [all, i](uint64_t, absl::StatusOr<nibu::Result> taken) { all->Add(i, std::move(taken)); });
    const absl::Status status = line->Submit(PlainLine(lines[i]), kForever);
    if (!status.ok()) all->Add(i, status);
  }
  NIBU_ASSIGN_OR_RETURN(const auto results, all->Await());
  for (const nibu::Result& line : results) {
    result->sentences += line.source_tokens > 0 ? 1 : 0;
    result->source_tokens += line.source_tokens;
    result->target_tokens += line.target_tokens;
  }
  result->tokenizer_seconds = costs.tokenizer_seconds - tokenizing;
  result->text_seconds = costs.text_seconds - finishing;
  return absl::OkStatus();
}

absl::Status MeasureIds(const std::vector<std::vector<int>>& sources,
                        const DecodingOptions& options, Translator* translator,
                        BenchResult* result) {
  NIBU_ASSIGN_OR_RETURN(const auto results, translator->Translate(sources, options));
  result->sentences = sources.size();
  for (const auto& source : sources) result->source_tokens += static_cast<int64_t>(source.size());
  for (const auto& sentence : results) {
    result->target_tokens += static_cast<int64_t>(sentence[0].tokens.size());
  }
  return absl::OkStatus();
}

// Returns whose kernels multiplied: "nibu", "oneDNN" or "both".
const char* MatmulKernelsOf(const BenchResult& result) {
  if (result.own_matmul_calls == 0) return "oneDNN";
  return result.own_matmul_calls == result.matmul_calls ? "nibu" : "both";
}

double Milliseconds(const BenchResult& result, double part) {
  return 1000 * Percentile(result.measurement.latencies, part);
}

}  // namespace

absl::Status Bench::Load(const ModelOptions& loading) {
  model_ = nullptr;
  ResetPeakMemory();
  const Clock::time_point start = Clock::now();
  NIBU_ASSIGN_OR_RETURN(OpenedModel opened,
                        OpenModelOrShape(workload_.models[0], workload_.is_shape, loading));
  NIBU_ASSIGN_OR_RETURN(ModelParts parts, LoadParts(std::move(opened), workload_.models, loading));
  // All outputs have a given length, however short their source is.
  if (workload_.output_length > 0) parts.loaded.defaults.max_length_factor = 0;
  model_ = std::make_shared<const ModelParts>(std::move(parts));
  load_seconds_ = SecondsSince(start);
  load_peak_bytes_ = PeakMemoryBytes();
  return absl::OkStatus();
}

absl::Status Bench::ReadText() {
  NIBU_ASSIGN_OR_RETURN(InputLines file, InputLines::Open(workload_.src));
  for (std::string line;;) {
    NIBU_ASSIGN_OR_RETURN(const bool more, file.Next(&line));
    if (!more) return absl::OkStatus();
    lines_.push_back(line);
  }
}

absl::Status Bench::CheckLengths(const BenchSettings& settings) const {
  const ModelConfig& config = model_->loaded.model->config;
  const std::string positions =
      absl::StrCat(config.max_positions, " positions of ", workload_.models[0]);
  const int suffix = static_cast<int>(config.source_suffix.size());
  const int longest = std::max(settings.source_length, workload_.src.empty() ? 47 : 1);
  if (longest > std::min(settings.translator.max_source_length, config.max_positions - suffix)) {
    return Invalid("sources of ", longest, " tokens are more than --max_input_length or the ",
                   positions, "; set a shorter --source_length");
  }
  if (workload_.output_length > config.max_positions) {
    return Invalid("--output_length=", workload_.output_length, " is more than the ", positions);
  }
  return absl::OkStatus();
}

absl::StatusOr<BenchResult> Bench::Run(const BenchSettings& settings) {
  if (!workload_.src.empty() && lines_.empty()) NIBU_RETURN_IF_ERROR(ReadText());
  if (model_ == nullptr || model_->loaded.model->compute_type != settings.compute_type) {
    NIBU_RETURN_IF_ERROR(Load(settings.loading));
  }
  NIBU_RETURN_IF_ERROR(CheckLengths(settings));
  ResetPeakMemory();

  Options text = settings.text;
  text.split_sentences = false;  // each line is translated as one sentence
  text.return_scores = false;
  TranslatorOptions options = settings.translator;
  if (workload_.output_length > 0) {
    text.min_decoding_length = workload_.output_length;
    text.max_decoding_length = workload_.output_length;
    options.max_decoding_length = workload_.output_length;
  }
  DecodingOptions decoding = MakeDecodingOptions(text, model_->loaded.defaults);
  decoding.shortlist = model_->loaded.shortlist;
  std::vector<MatmulRecorder> recorders(static_cast<size_t>(options.threads));
  for (MatmulRecorder& recorder : recorders) options.observers.push_back(&recorder);
  const Clock::time_point start = Clock::now();
  const auto engines = std::make_shared<Engines>(options);
  const absl::Cleanup close = [&] { engines->Close(); };
  auto plan = std::make_shared<Plan>(engines, nullptr);
  NIBU_ASSIGN_OR_RETURN(plan->engine, engines->For(model_, 1, 1));
  if (!workload_.src.empty()) {
    NIBU_ASSIGN_OR_RETURN(plan->lines,
                          engines->Prepare(plan->engine, *model_, nullptr, nullptr, text));
  }
  const double load_seconds = load_seconds_ + SecondsSince(start);
  Translator& engine = *plan->engine->translator;
  const auto sources = RandomSources(workload_.sentences, settings.source_length,
                                     model_->loaded.model->config.vocab_source);

  BenchResult fastest;
  std::vector<MatmulRecorder> products;  // those of the fastest run
  for (int i = 0; i <= workload_.repeat; ++i) {
    BenchResult result;
    engine.StartMeasuring();
    for (MatmulRecorder& recorder : recorders) recorder.Clear();
    const Clock::time_point translating = Clock::now();
    NIBU_RETURN_IF_ERROR(workload_.src.empty() ? MeasureIds(sources, decoding, &engine, &result)
                                               : MeasureText(lines_, plan, &result));
    result.seconds = SecondsSince(translating);
    result.measurement = engine.FinishMeasuring();
    if (result.sentences == 0) {
      return Invalid(workload_.src, " has no text; give a file with a segment a line");
    }
    // The first run is the warm-up. Its result counts only until another one is there.
    if (i > 1 && result.seconds >= fastest.seconds) continue;
    fastest = std::move(result);
    products.clear();
    for (MatmulRecorder& recorder : recorders) products.push_back(std::move(recorder));
  }
  fastest.model = workload_.models[0];
  fastest.settings = settings;
  fastest.load_seconds = load_seconds;
  fastest.peak_rss_bytes = std::max(load_peak_bytes_, PeakMemoryBytes());
  for (const MatmulRecorder& recorder : products) {
    fastest.matmul_seconds = std::max(fastest.matmul_seconds, recorder.seconds());
    fastest.matmul_calls += recorder.calls();
    fastest.own_matmul_calls += recorder.own_calls();
  }
  // OpenMP's threads wait efficiently only if there are no more of them than cores. Those of the
  // workers end with the translator.
  plan.reset();
  engines->Close();
  NIBU_ASSIGN_OR_RETURN(fastest.matmul_floor_seconds, MatmulFloor(products, options.kernels));
  fastest.weight_bytes = model_->weight_bytes();
  return fastest;
}

std::vector<std::vector<int>> RandomSources(int sentences, int length, int vocabulary) {
  std::mt19937 random(1);
  std::vector<std::vector<int>> sources(static_cast<size_t>(sentences));
  for (auto& source : sources) {
    source.resize(length > 0 ? static_cast<size_t>(length) : 12 + random() % 36);
    for (int& token : source)
      token = static_cast<int>(random() % static_cast<uint32_t>(vocabulary));
  }
  return sources;
}

double Percentile(std::vector<double> values, double part) {
  ABSL_ASSERT(0 <= part && part <= 1);
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const double rank = std::ceil(part * static_cast<double>(values.size()));
  return values[static_cast<size_t>(std::max(rank, 1.0)) - 1];
}

std::optional<double> FloorRatio(const BenchResult& result) {
  const double ratio = result.matmul_floor_seconds / result.seconds;
  if (ratio > 1) return std::nullopt;
  return ratio;
}

std::string BenchJson(const BenchResult& result) {
  const Profile& profile = result.measurement.profile;
  const double floor = result.matmul_floor_seconds;
  const std::optional<double> ratio = FloorRatio(result);
  const nlohmann::ordered_json json = {
      {"model", result.model},
      {"compute_type", ComputeTypeName(result.settings.compute_type)},
      {"isa", InstructionSet()},
      {"threads", result.settings.translator.threads},
      {"beam_size", result.settings.decoding.beam_size},
      {"batch_size", result.settings.translator.batch_size},
      {"sentences", result.sentences},
      {"source_tokens", result.source_tokens},
      {"target_tokens", result.target_tokens},
      {"seconds", result.seconds},
      {"tokens_per_second", static_cast<double>(result.target_tokens) / result.seconds},
      {"sentences_per_second", static_cast<double>(result.sentences) / result.seconds},
      {"latency_ms",
       {{"p50", Milliseconds(result, 0.5)},
        {"p90", Milliseconds(result, 0.9)},
        {"p99", Milliseconds(result, 0.99)}}},
      {"load_seconds", result.load_seconds},
      {"peak_rss_bytes", result.peak_rss_bytes},
      {"weight_bytes", result.weight_bytes},
      {"profile",
       {{"encoder", profile.encoder},
        {"decoder_matmul", profile.decoder_matmul},
        {"attention", profile.attention},
        {"search", profile.search},
        {"tokenizer", result.tokenizer_seconds},
        {"text", result.text_seconds}}},
      {"matmul_seconds", result.matmul_seconds},
      {"matmul_kernels", MatmulKernelsOf(result)},
      {"matmul_floor_seconds", floor},
      {"matmul_floor_ratio", ratio ? nlohmann::ordered_json(*ratio) : nullptr}};
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string BenchTableHead() {
  return "compute                  |    sen-  source   target          | "
         "  target    sen-  latency       ms          | "
         "  load    peak weights | % of the threads' time        |   matmul   floor       | "
         "kernels\n"
         "type      thr beam batch |  tences  tokens   tokens  seconds | "
         "   tok/s  sent/s      p50      p90      p99 | "
         "     s      MB      MB |  enc decm attn srch toke text |        s       s ratio |\n";
}

std::string BenchTableRow(const BenchResult& result) {
  const BenchSettings& settings = result.settings;
  const int batch = settings.translator.batch_size;
  const Profile& profile = result.measurement.profile;
  const double floor = result.matmul_floor_seconds;
  const std::optional<double> ratio = FloorRatio(result);
  const double percent = 100 / (result.seconds * settings.translator.threads);
  return absl::StrFormat(
      "%-8s %4d %4d %5s | %7d %7d %8d %8.3f | %8.1f %7.1f %8.2f %8.2f %8.2f | %6.2f %7.1f %7.1f | "
      "%4.1f %4.1f %4.1f %4.1f %4.1f %4.1f | %8.3f %7.3f %5s | %s\n",
      ComputeTypeName(settings.compute_type), settings.translator.threads,
      settings.decoding.beam_size, batch == 0 ? "auto" : absl::StrFormat("%d", batch),
      result.sentences, result.source_tokens, result.target_tokens, result.seconds,
      static_cast<double>(result.target_tokens) / result.seconds,
      static_cast<double>(result.sentences) / result.seconds, Milliseconds(result, 0.5),
      Milliseconds(result, 0.9), Milliseconds(result, 0.99), result.load_seconds,
      static_cast<double>(result.peak_rss_bytes) / 1e6,
      static_cast<double>(result.weight_bytes) / 1e6, percent * profile.encoder,
      percent * profile.decoder_matmul, percent * profile.attention, percent * profile.search,
      percent * result.tokenizer_seconds, percent * result.text_seconds, result.matmul_seconds,
      floor, ratio ? absl::StrFormat("%.2f", *ratio) : "short", MatmulKernelsOf(result));
}

}  // namespace nibu::internal
