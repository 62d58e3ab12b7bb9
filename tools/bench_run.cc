#include "tools/bench_run.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/core/status_macros.h"
#include "models/random_model.h"
#include "tools/lines.h"
#include "tools/memory.h"
#include "tools/text/text_translator.h"

namespace nibu {
namespace {

using Clock = std::chrono::steady_clock;

double Seconds(Clock::time_point since) {
  return std::chrono::duration<double>(Clock::now() - since).count();
}

// An engine of one run: text or token ids in.
struct Engine {
  std::unique_ptr<TextTranslator> text;
  std::unique_ptr<Translator> ids;
  Translator& translator() { return text != nullptr ? text->translator() : *ids; }
};

// What is translated in every run.
struct Sources {
  std::vector<std::string> lines;
  TextOptions text;
  std::vector<std::vector<int>> ids;
  DecodingOptions decoding;
};

absl::Status MeasureText(const Sources& sources, TextTranslator* text, BenchResult* result) {
  const double tokenizing = text->tokenizer_seconds();
  const double finishing = text->text_seconds();
  NIBU_ASSIGN_OR_RETURN(const auto results, text->Translate(sources.lines, sources.text));
  for (const TextResult& line : results) {
    result->sentences += line.source_tokens > 0 ? 1 : 0;
    result->source_tokens += line.source_tokens;
    result->target_tokens += line.target_tokens;
  }
  result->tokenizer_seconds = text->tokenizer_seconds() - tokenizing;
  result->text_seconds = text->text_seconds() - finishing;
  return absl::OkStatus();
}

absl::Status MeasureIds(const Sources& sources, Translator* translator, BenchResult* result) {
  NIBU_ASSIGN_OR_RETURN(const auto results, translator->Translate(sources.ids, sources.decoding));
  result->sentences = sources.ids.size();
  for (const auto& source : sources.ids) {
    result->source_tokens += static_cast<int64_t>(source.size());
  }
  for (const auto& sentence : results) {
    result->target_tokens += static_cast<int64_t>(sentence[0].tokens.size());
  }
  return absl::OkStatus();
}

// `result` so far has what all runs have in common.
absl::StatusOr<BenchResult> Measure(const Sources& sources, Engine* engine, BenchResult result) {
  engine->translator().StartMeasuring();
  const Clock::time_point start = Clock::now();
  NIBU_RETURN_IF_ERROR(engine->text != nullptr ? MeasureText(sources, engine->text.get(), &result)
                                               : MeasureIds(sources, engine->ids.get(), &result));
  result.seconds = Seconds(start);
  result.measurement = engine->translator().FinishMeasuring();
  return result;
}

}  // namespace

absl::Status Bench::Load(ComputeType compute_type) {
  model_ = TextModel();
  ResetPeakMemory();
  const Clock::time_point start = Clock::now();
  if (workload_.random_weights) {
    NIBU_ASSIGN_OR_RETURN(const ModelConfig config, ReadModelShape(workload_.model.path));
    NIBU_ASSIGN_OR_RETURN(model_.loaded.model, RandomModel(config, compute_type, /*seed=*/1));
  } else {
    NIBU_ASSIGN_OR_RETURN(OpenedModel opened, OpenModel(workload_.model.path));
    NIBU_ASSIGN_OR_RETURN(model_,
                          LoadTextModel(std::move(opened), compute_type, workload_.model.text));
  }
  load_seconds_ = Seconds(start);
  load_peak_bytes_ = PeakMemoryBytes();
  return absl::OkStatus();
}

absl::Status Bench::ReadText() {
  NIBU_ASSIGN_OR_RETURN(FileLines file, FileLines::Open(workload_.src));
  std::string line;
  while (true) {
    NIBU_ASSIGN_OR_RETURN(const bool more, file.Next(&line));
    if (!more) break;
    lines_.push_back(line);
  }
  return absl::OkStatus();
}

absl::Status Bench::CheckLengths(const BenchSettings& settings) const {
  const ModelConfig& config = model_.loaded.model->config;
  const int suffix = static_cast<int>(config.source_suffix.size());
  const int longest = std::max(settings.source_length, workload_.src.empty() ? 47 : 1);
  if (longest > std::min(settings.translator.max_source_length, config.max_positions - suffix)) {
    return absl::InvalidArgumentError(
        absl::StrCat("sources of ", longest, " tokens are more than --max_input_length or the ",
                     config.max_positions, " positions of ", workload_.model.path,
                     "; set a shorter --source_length"));
  }
  if (workload_.output_length > config.max_positions) {
    return absl::InvalidArgumentError(absl::StrCat("--output_length=", workload_.output_length,
                                                   " is more than the ", config.max_positions,
                                                   " positions of ", workload_.model.path));
  }
  return absl::OkStatus();
}

absl::StatusOr<BenchResult> Bench::Run(const BenchSettings& settings) {
  if (!workload_.src.empty() && lines_.empty()) NIBU_RETURN_IF_ERROR(ReadText());
  if (model_.loaded.model == nullptr ||
      model_.loaded.model->compute_type != settings.compute_type) {
    NIBU_RETURN_IF_ERROR(Load(settings.compute_type));
  }
  NIBU_RETURN_IF_ERROR(CheckLengths(settings));
  ResetPeakMemory();

  BenchResult common;
  common.model = workload_.model.path;
  common.settings = settings;
  Sources sources;
  DecodingOptions& decoding = sources.decoding;
  decoding = settings.decoding;
  decoding.return_scores = false;
  decoding.shortlist = model_.loaded.shortlist;
  TranslatorOptions options = settings.translator;
  if (workload_.output_length > 0) {
    decoding.min_decoding_length = workload_.output_length;
    decoding.max_decoding_length = workload_.output_length;
    decoding.max_length_factor = 0;
    options.max_decoding_length = workload_.output_length;
  }
  const Clock::time_point start = Clock::now();
  Engine engine;
  if (!workload_.src.empty()) {
    NIBU_ASSIGN_OR_RETURN(engine.text, TextTranslator::Create(model_, options));
    sources.lines = lines_;
    sources.text = workload_.text;
    sources.text.decoding = decoding;
    sources.text.split_sentences = false;  // lines are measured whole
  } else {
    options.draft = model_.draft;
    NIBU_ASSIGN_OR_RETURN(engine.ids, Translator::Create(model_.loaded.model, options));
    sources.ids = RandomSources(workload_.sentences, settings.source_length,
                                model_.loaded.model->config.vocab_source);
  }
  common.load_seconds = load_seconds_ + Seconds(start);

  // Warms up.
  NIBU_ASSIGN_OR_RETURN(BenchResult result, Measure(sources, &engine, common));
  if (result.sentences == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(workload_.src, " has no text; give a file with a segment a line"));
  }
  for (int i = 0; i < workload_.repeat; ++i) {
    NIBU_ASSIGN_OR_RETURN(BenchResult again, Measure(sources, &engine, common));
    if (i == 0 || again.seconds < result.seconds) result = std::move(again);
  }
  result.peak_rss_bytes = std::max(load_peak_bytes_, PeakMemoryBytes());
  result.matmul_floor_seconds = engine.translator().MatmulFloor(result.measurement);
  result.weight_bytes = model_.loaded.model->weight_bytes() +
                        (model_.draft != nullptr ? model_.draft->weight_bytes() : 0);
  return result;
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
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const double rank = std::ceil(part * static_cast<double>(values.size()));
  return values[static_cast<size_t>(std::max(rank, 1.0)) - 1];
}

}  // namespace nibu
