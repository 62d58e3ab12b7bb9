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
#include "tools/text_translator.h"

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

void Measure(const std::vector<std::string>& lines, Engine* engine,
             std::vector<std::vector<int>>* sources, BenchResult* result) {
  const Clock::time_point start = Clock::now();
  if (engine->text != nullptr) {
    sources->clear();
    for (const std::string& line : lines) {
      std::vector<int> ids = engine->text->Encode(line);
      if (!ids.empty()) sources->push_back(std::move(ids));
    }
  }
  result->tokenizer_seconds = engine->text != nullptr ? Seconds(start) : 0;
  engine->translator().StartMeasuring();
  const auto hypotheses = engine->translator().Translate(*sources);
  result->seconds = Seconds(start);
  result->measurement = engine->translator().FinishMeasuring();
  result->sentences = sources->size();
  result->source_tokens = 0;
  for (const auto& source : *sources) result->source_tokens += static_cast<int64_t>(source.size());
  result->target_tokens = 0;
  for (const auto& sentence : hypotheses) {
    result->target_tokens += static_cast<int64_t>(sentence[0].tokens.size());
  }
}

}  // namespace

absl::Status Bench::Load(ComputeType compute_type) {
  loaded_ = LoadedModel();
  draft_ = nullptr;
  ResetPeakMemory();
  const Clock::time_point start = Clock::now();
  if (workload_.random_weights) {
    NIBU_ASSIGN_OR_RETURN(const ModelConfig config, ReadModelShape(workload_.model.path));
    NIBU_ASSIGN_OR_RETURN(loaded_.model, RandomModel(config, compute_type, /*seed=*/1));
  } else {
    NIBU_ASSIGN_OR_RETURN(loaded_, LoadModel(workload_.model.path, compute_type));
    NIBU_RETURN_IF_ERROR(ChooseSentencePiece(&loaded_.vocabulary));
    NIBU_ASSIGN_OR_RETURN(LoadedModel draft, LoadDraft(loaded_, workload_.model));
    draft_ = std::move(draft.model);
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
  const ModelConfig& config = loaded_.model->config;
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
  if (loaded_.model == nullptr || loaded_.model->compute_type != settings.compute_type) {
    NIBU_RETURN_IF_ERROR(Load(settings.compute_type));
  }
  NIBU_RETURN_IF_ERROR(CheckLengths(settings));
  ResetPeakMemory();

  BenchResult result;
  result.model = workload_.model.path;
  result.settings = settings;
  DecodingOptions decoding = settings.decoding;
  decoding.return_scores = false;
  NIBU_ASSIGN_OR_RETURN(decoding.shortlist, ChooseShortlist(loaded_.vocabulary, loaded_.shortlist));
  if (workload_.output_length > 0) {
    decoding.min_decoding_length = workload_.output_length;
    decoding.max_decoding_length = workload_.output_length;
    decoding.max_length_factor = 0;
  }
  TranslatorOptions options = settings.translator;
  options.draft = draft_;
  const Clock::time_point start = Clock::now();
  Engine engine;
  std::vector<std::vector<int>> sources;
  if (!workload_.src.empty()) {
    NIBU_ASSIGN_OR_RETURN(decoding.frame, ChooseLanguages(loaded_, workload_.languages));
    TextOptions text;
    text.decoding = decoding;
    text.translator = options;
    text.max_input_length = options.max_source_length;
    text.split_sentences = false;  // lines are measured whole
    NIBU_ASSIGN_OR_RETURN(engine.text, TextTranslator::Create(loaded_, text));
  } else {
    NIBU_ASSIGN_OR_RETURN(engine.ids, Translator::Create(loaded_.model, decoding, options));
    sources = RandomSources(workload_.sentences, settings.source_length,
                            loaded_.model->config.vocab_source);
  }
  result.load_seconds = load_seconds_ + Seconds(start);

  Measure(lines_, &engine, &sources, &result);  // warms up
  if (result.sentences == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(workload_.src, " has no text; give a file with a segment a line"));
  }
  for (int i = 0; i < workload_.repeat; ++i) {
    BenchResult again = result;
    Measure(lines_, &engine, &sources, &again);
    if (i == 0 || again.seconds < result.seconds) result = std::move(again);
  }
  result.peak_rss_bytes = std::max(load_peak_bytes_, PeakMemoryBytes());
  result.matmul_floor_seconds = engine.translator().MatmulFloor(result.measurement);
  result.weight_bytes =
      loaded_.model->weight_bytes() + (draft_ != nullptr ? draft_->weight_bytes() : 0);
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
