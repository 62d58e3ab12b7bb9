#include "tools/bench_run.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/core/status_macros.h"
#include "models/files/errors.h"
#include "tools/lines.h"
#include "tools/text/resources.h"
#include "tools/text/text_translator.h"

namespace nibu {
namespace {

absl::Status MeasureText(const std::vector<std::string>& lines, const TextOptions& options,
                         TextTranslator* translator, BenchResult* result) {
  const double tokenizing = translator->tokenizer_seconds();
  const double finishing = translator->text_seconds();
  NIBU_ASSIGN_OR_RETURN(const auto results, translator->Translate(lines, options));
  for (const TextResult& line : results) {
    result->sentences += line.source_tokens > 0 ? 1 : 0;
    result->source_tokens += line.source_tokens;
    result->target_tokens += line.target_tokens;
  }
  result->tokenizer_seconds = translator->tokenizer_seconds() - tokenizing;
  result->text_seconds = translator->text_seconds() - finishing;
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

}  // namespace

absl::Status Bench::Load(ComputeType compute_type) {
  model_ = TextModel();
  ResetPeakMemory();
  const Clock::time_point start = Clock::now();
  NIBU_ASSIGN_OR_RETURN(OpenedModel opened, Open(workload_.model));
  NIBU_ASSIGN_OR_RETURN(model_,
                        LoadTextModel(std::move(opened), compute_type, workload_.model.text));
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
  const ModelConfig& config = model_.loaded.model->config;
  const std::string positions =
      absl::StrCat(config.max_positions, " positions of ", workload_.model.path);
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
  if (model_.loaded.model == nullptr ||
      model_.loaded.model->compute_type != settings.compute_type) {
    NIBU_RETURN_IF_ERROR(Load(settings.compute_type));
  }
  NIBU_RETURN_IF_ERROR(CheckLengths(settings));
  ResetPeakMemory();

  DecodingOptions decoding = settings.decoding;
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
  std::unique_ptr<TextTranslator> text;  // or ids
  std::unique_ptr<Translator> ids;
  std::function<absl::Status(BenchResult*)> translate;
  if (!workload_.src.empty()) {
    NIBU_ASSIGN_OR_RETURN(text, TextTranslator::Create(model_, options));
    TextOptions text_options = workload_.text;
    text_options.decoding = decoding;
    text_options.split_sentences = false;  // lines are measured whole
    translate = [&, text_options](BenchResult* result) {
      return MeasureText(lines_, text_options, text.get(), result);
    };
  } else {
    options.draft = model_.draft;
    NIBU_ASSIGN_OR_RETURN(ids, Translator::Create(model_.loaded.model, options));
    translate = [&, sources = RandomSources(workload_.sentences, settings.source_length,
                                            model_.loaded.model->config.vocab_source)](
                    BenchResult* result) {
      return MeasureIds(sources, decoding, ids.get(), result);
    };
  }
  Translator& translator = text != nullptr ? text->translator() : *ids;
  const double load_seconds = load_seconds_ + SecondsSince(start);

  BenchResult fastest;
  for (int i = 0; i <= workload_.repeat; ++i) {
    BenchResult result;
    translator.StartMeasuring();
    const Clock::time_point translating = Clock::now();
    NIBU_RETURN_IF_ERROR(translate(&result));
    result.seconds = SecondsSince(translating);
    result.measurement = translator.FinishMeasuring();
    if (result.sentences == 0) {
      return Invalid(workload_.src, " has no text; give a file with a segment a line");
    }
    // The first one warms up.
    if (i <= 1 || result.seconds < fastest.seconds) fastest = std::move(result);
  }
  fastest.model = workload_.model.path;
  fastest.settings = settings;
  fastest.load_seconds = load_seconds;
  fastest.peak_rss_bytes = std::max(load_peak_bytes_, PeakMemoryBytes());
  fastest.matmul_floor_seconds = translator.MatmulFloor(fastest.measurement);
  fastest.weight_bytes = model_.loaded.model->weight_bytes() +
                         (model_.draft != nullptr ? model_.draft->weight_bytes() : 0);
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
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const double rank = std::ceil(part * static_cast<double>(values.size()));
  return values[static_cast<size_t>(std::max(rank, 1.0)) - 1];
}

}  // namespace nibu
