// Runs a model on texts or random sources, and measures it.
#include "tools/bench/bench_run.h"

#include <algorithm>
#include <random>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engine/core/errors.h"
#include "engine/core/gather.h"
#include "engine/core/status_macros.h"
#include "models/assembly/mixer_text.h"
#include "tools/cli/model_flags.h"
#include "tools/text/options/engine_options.h"
#include "tools/text/options/resources.h"
#include "tools/text/translator/pending_line.h"
#include "tools/text/translator/plan.h"

namespace nibu::internal {
namespace {

// Collects the results of sources that are submitted one after the other, and the times that they
// take from there. `submit(i, done)` submits source i; `done` is to be called once with its result.
template <typename T, typename Submit>
absl::StatusOr<std::vector<T>> SubmitAll(size_t count, Submit submit, BenchResult* result) {
  using Taken = absl::StatusOr<T>;
  std::vector<double>& waits = result->line_latencies;
  waits.resize(count);
  const auto all = std::make_shared<Gather<T>>(count);
  for (size_t i = 0; i < count; ++i) {
    const Clock::time_point start = Clock::now();
    const absl::Status status = submit(i, [all, i, start, &waits](uint64_t, Taken taken) {
      waits[i] = SecondsSince(start);
      all->Add(i, std::move(taken));
    });
    if (!status.ok()) all->Add(i, status);
  }
  return all->Await();
}

// Translates each line by itself, also one that was there before.
absl::Status MeasureText(const std::vector<std::string>& lines,
                         const std::shared_ptr<const Plan>& plan, BenchResult* result) {
  TextCosts& costs = plan->engines->costs();
  const double tokenizing = costs.tokenizer_seconds;
  const double finishing = costs.text_seconds;
  const uint64_t sentences = costs.sentences;
  const auto submit = [&](size_t i, nibu::Done done) {
    const auto line = std::make_shared<PendingLine>(plan, nibu::Request{.key = i}, /*language=*/"",
                                                    std::move(done));
    return line->Submit(PlainLine(lines[i]), kForever);
  };
  NIBU_ASSIGN_OR_RETURN(auto results, SubmitAll<nibu::Result>(lines.size(), submit, result));
  for (nibu::Result& line : results) {
    result->source_tokens += line.source_tokens;
    result->target_tokens += line.target_tokens;
    result->translations.push_back(std::move(line.hypotheses[0].text));
  }
  result->sentences = costs.sentences - sentences;
  result->tokenizer_seconds = costs.tokenizer_seconds - tokenizing;
  result->text_seconds = costs.text_seconds - finishing;
  return absl::OkStatus();
}

absl::Status MeasureIds(const std::vector<std::vector<int>>& sources,
                        const DecodingOptions& options, Translator* translator,
                        BenchResult* result) {
  NIBU_ASSIGN_OR_RETURN(const auto plan, translator->Plan(options));
  const auto submit = [&](size_t i, Done done) {
    const Request request = {.source = sources[i], .plan = plan, .key = i};
    return translator->Submit(request, std::move(done), kForever).status();
  };
  NIBU_ASSIGN_OR_RETURN(const auto results,
                        SubmitAll<std::vector<Hypothesis>>(sources.size(), submit, result));
  result->sentences = sources.size();
  for (size_t i = 0; i < sources.size(); ++i) {
    result->source_tokens += static_cast<int64_t>(sources[i].size());
    result->target_tokens += static_cast<int64_t>(results[i][0].tokens.size());
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Bench::Load(const ModelOptions& loading) {
  model_ = nullptr;
  ResetPeakMemory();
  const Clock::time_point start = Clock::now();
  NIBU_ASSIGN_OR_RETURN(OpenedModel opened,
                        OpenModelOrShape(workload_.models[0], workload_.is_shape, loading));
  ModelConfig& config = opened.config;
  if (workload_.is_shape && config.position_kind != PositionKind::kLearned) {
    const int suffix = static_cast<int>(config.source_suffix.size());
    config.max_positions = std::max(config.max_positions, longest_ + suffix);
  }
  NIBU_ASSIGN_OR_RETURN(ModelParts parts, LoadParts(std::move(opened), workload_.models, loading));
  model_ = std::make_shared<ModelParts>(std::move(parts));
  loaded_as_ = loading.compute_type;
  max_length_factor_ = model_->loaded.defaults.max_length_factor;
  load_seconds_ = SecondsSince(start);
  load_peak_bytes_ = PeakMemoryBytes();
  return absl::OkStatus();
}

absl::Status Bench::Begin(absl::Span<const BenchSettings> runs) {
  for (const BenchSettings& run : runs) {
    longest_ = std::max({longest_, run.source_length, run.output_length});
  }
  NIBU_RETURN_IF_ERROR(Load(runs[0].loading));
  for (const BenchSettings& run : runs) NIBU_RETURN_IF_ERROR(CheckLengths(run));
  return absl::OkStatus();
}

absl::Status Bench::CheckLengths(const BenchSettings& settings) const {
  const ModelConfig& config = model_->loaded.model->config;
  const std::string positions =
      absl::StrCat(config.max_positions, " positions of ", workload_.models[0]);
  const int suffix = static_cast<int>(config.source_suffix.size());
  const int longest = std::max(settings.source_length, workload_.lines.empty() ? 47 : 1);
  if (longest > std::min(settings.translator.max_source_length, config.max_positions - suffix)) {
    return Invalid("sources of ", longest, " tokens", suffix > 0 ? " and their end" : "",
                   " are more than --max_input_length or the ", positions,
                   "; set a shorter --source_length or --lengths");
  }
  if (settings.output_length > config.max_positions) {
    return Invalid("--output_length=", settings.output_length, " is more than the ", positions);
  }
  return absl::OkStatus();
}

absl::StatusOr<BenchResult> Bench::Run(const BenchSettings& settings) {
  ABSL_ASSERT(model_ != nullptr);
  if (loaded_as_ != settings.loading.compute_type) {
    NIBU_RETURN_IF_ERROR(Load(settings.loading));
  }
  ResetPeakMemory();

  Options text = settings.text;
  text.return_scores = false;
  TranslatorOptions options = settings.translator;
  if (settings.output_length > 0) {
    text.min_decoding_length = settings.output_length;
    text.max_decoding_length = settings.output_length;
    options.max_decoding_length = settings.output_length;
  }
  // Outputs of a given length have it however short their source is.
  auto& max_length_factor = model_->loaded.defaults.max_length_factor;
  max_length_factor = max_length_factor_;
  if (settings.output_length > 0) max_length_factor = 0;
  DecodingOptions decoding = MakeDecodingOptions(text, model_->loaded.defaults);
  decoding.shortlist = model_->loaded.shortlist;
  std::vector<MatmulRecorder> recorders(static_cast<size_t>(options.threads));
  for (MatmulRecorder& recorder : recorders) options.observers.push_back(&recorder);
  const Clock::time_point start = Clock::now();
  const auto engines = std::make_shared<Engines>(options);
  const absl::Cleanup close = [&] { engines->Close(); };
  auto plan = std::make_shared<Plan>(engines, nullptr);
  NIBU_ASSIGN_OR_RETURN(plan->engine, engines->For(model_, 1, 1));
  if (!workload_.lines.empty()) {
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
    NIBU_RETURN_IF_ERROR(workload_.lines.empty() ? MeasureIds(sources, decoding, &engine, &result)
                                                 : MeasureText(workload_.lines, plan, &result));
    result.seconds = SecondsSince(translating);
    result.measurement = engine.FinishMeasuring();
    // The first run is the warm-up. Its result counts only until another one is there.
    if (i > 1 && result.seconds >= fastest.seconds) continue;
    fastest = std::move(result);
    products.clear();
    for (MatmulRecorder& recorder : recorders) products.push_back(std::move(recorder));
  }
  Describe(settings, &fastest);
  fastest.load_seconds = load_seconds;
  fastest.peak_rss_bytes = std::max(load_peak_bytes_, PeakMemoryBytes());
  NIBU_RETURN_IF_ERROR(Score(&fastest));
  for (const MatmulRecorder& recorder : products) {
    fastest.matmul_seconds = std::max(fastest.matmul_seconds, recorder.seconds());
    fastest.matmul_calls += recorder.calls();
    fastest.own_matmul_calls += recorder.own_calls();
  }
  // OpenMP's threads wait efficiently only if there are no more of them than cores. The workers end
  // with the translator, and their threads with them.
  plan.reset();
  engines->Close();
  NIBU_ASSIGN_OR_RETURN(fastest.matmul_floor_seconds, MatmulFloor(products, options.kernels));
  NIBU_RETURN_IF_ERROR(CompareWithLimit(products, options, &fastest));
  return fastest;
}

absl::Status Bench::CompareWithLimit(const std::vector<MatmulRecorder>& products,
                                     const TranslatorOptions& options, BenchResult* result) {
  size_t bytes = 0;
  for (const MatmulRecorder& recorder : products) bytes = std::max(bytes, recorder.weight_bytes());
  // Maps of an int4 model are int4 or int8, whose products are the faster ones for many rows.
  const ComputeType model_type = model_->loaded.model->compute_type;
  const ComputeType type = HasInt8Inputs(model_type) ? ComputeType::kInt8 : model_type;
  const auto [found, is_new] =
      peaks_.try_emplace({type, options.kernels, options.threads, bytes}, MachinePeak());
  if (is_new) {
    NIBU_ASSIGN_OR_RETURN(found->second,
                          MeasurePeak(type, options.kernels, options.threads, bytes));
  }
  result->peak = found->second;
  for (const MatmulRecorder& recorder : products) {
    result->limit_seconds = std::max(result->limit_seconds, recorder.Limit(result->peak));
  }
  return absl::OkStatus();
}

absl::Status Bench::Score(BenchResult* result) {
  if (workload_.references.empty()) return absl::OkStatus();
  NIBU_ASSIGN_OR_RETURN(result->quality, ScoreText(result->translations, workload_.references));
  const TextLines& lines = result->translations;
  const TextLines& first =
      first_.try_emplace(result->settings.decoding.beam_size, lines).first->second;
  size_t equal = 0;
  for (size_t i = 0; i < first.size(); ++i) equal += first[i] == lines[i] ? 1 : 0;
  result->equal_lines = static_cast<double>(equal) / static_cast<double>(first.size());
  return absl::OkStatus();
}

void Bench::Describe(const BenchSettings& settings, BenchResult* result) const {
  const ModelConfig& config = model_->loaded.model->config;
  const auto mechanisms = [](const std::vector<MixerSpec>& mixers) {
    return mixers.empty() ? MixerSpec().ToText() : MixersToText(mixers);
  };
  result->model = absl::StrJoin(workload_.models, ",");
  result->settings = settings;
  result->settings.compute_type = model_->loaded.model->compute_type;
  result->source_file = workload_.source_file;
  result->source_sha256 = workload_.source_sha256;
  result->reference_file = workload_.reference_file;
  result->reference_sha256 = workload_.reference_sha256;
  result->repeat = workload_.repeat;
  result->lines = workload_.lines.empty() ? result->sentences : workload_.lines.size();
  result->encoder_attention = mechanisms(config.encoder_attention);
  result->cross_attention = mechanisms(config.cross_attention);
  result->has_shortlist = model_->loaded.shortlist != nullptr;
  result->weight_bytes = model_->weight_bytes();
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

}  // namespace nibu::internal
