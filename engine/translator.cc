#include "engine/translator.h"

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/core/status_macros.h"
#include "engine/job_queue.h"
#include "engine/worker.h"

namespace nibu {
namespace {

// Sentences a worker decodes together unless told otherwise, and about the rows that its steps then
// have at most. More are no faster.
constexpr int kDefaultSentences = 64;
constexpr int kDefaultRows = 128;
// And not more source tokens: long sentences would take memory, and their rows are many anyway.
constexpr size_t kDefaultTokens = 4096;

Frame FrameOf(const ModelConfig& config, const DecodingOptions& decoding) {
  return decoding.frame.value_or(Frame{{}, config.source_suffix, {config.decoder_start}});
}

// Positions of the source that are not its text.
int SourceExtra(const Frame& frame) {
  return static_cast<int>(frame.source_prefix.size() + frame.source_suffix.size());
}

// Positions of the decoder before the first generated token's.
int TargetExtra(const Frame& frame) { return static_cast<int>(frame.decoder_start.size()) - 1; }

absl::Status CheckOption(bool ok, absl::string_view message) {
  return ok ? absl::OkStatus() : absl::InvalidArgumentError(message);
}

absl::Status CheckIds(const char* what, const std::vector<int>& ids, int low, int vocabulary) {
  for (const int id : ids) {
    NIBU_RETURN_IF_ERROR(CheckOption(
        id >= low && id < vocabulary,
        absl::StrCat("frame.", what, " has ", id, ", expected ", low, " to ", vocabulary - 1)));
  }
  return absl::OkStatus();
}

absl::Status CheckFrame(const Frame& frame, const ModelConfig& config) {
  NIBU_RETURN_IF_ERROR(CheckIds("source_prefix", frame.source_prefix, 0, config.vocab_source));
  NIBU_RETURN_IF_ERROR(CheckIds("source_suffix", frame.source_suffix, 0, config.vocab_source));
  NIBU_RETURN_IF_ERROR(CheckIds("decoder_start", frame.decoder_start, -1, config.vocab_target));
  NIBU_RETURN_IF_ERROR(CheckOption(SourceExtra(frame) < config.max_positions,
                                   "the model has no positions for a source token"));
  return CheckOption(TargetExtra(frame) >= 0 && TargetExtra(frame) < config.max_positions,
                     "the model has no position for a generated token");
}

absl::Status CheckDraft(const ModelConfig& draft, const ModelConfig& config, int beam_size) {
  NIBU_RETURN_IF_ERROR(draft.Validate());
  NIBU_RETURN_IF_ERROR(CheckOption(
      beam_size == 1, absl::StrCat("a draft model needs beam_size 1, not ", beam_size)));
  return CheckOption(draft.vocab_source == config.vocab_source &&
                         draft.vocab_target == config.vocab_target && draft.eos == config.eos,
                     "the draft model has another vocabulary");
}

// Threads inside the matmuls of a single sentence. Their sums are in any order, so only exact ones
// are shared out; more than a few threads wait for each other longer than a small matmul takes, and
// more than there are cores wait in vain.
int MostSoloThreads(const Model& model, int threads) {
  constexpr int kMost = 4;
  if (model.compute_type != ComputeType::kInt8) return 1;
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());  // 0: not known
  return std::max(1, std::min({threads, kMost, cores}));
}

}  // namespace

absl::Status DecodingOptions::Validate() const {
  NIBU_RETURN_IF_ERROR(CheckOption(beam_size >= 1 && beam_size <= 1024,
                                   absl::StrCat("beam_size must be 1 to 1024, not ", beam_size)));
  NIBU_RETURN_IF_ERROR(
      CheckOption(std::isfinite(patience) && patience > 0 && patience <= 1024,
                  absl::StrCat("patience must be more than 0 and at most 1024, not ", patience)));
  const long finished = std::max(1L, std::lround(static_cast<double>(beam_size) * patience));
  NIBU_RETURN_IF_ERROR(
      CheckOption(num_hypotheses >= 1 && num_hypotheses <= finished,
                  absl::StrCat("num_hypotheses must be 1 to beam_size * patience = ", finished,
                               ", not ", num_hypotheses)));
  NIBU_RETURN_IF_ERROR(
      CheckOption(std::isfinite(length_penalty),
                  absl::StrCat("length_penalty must be a number, not ", length_penalty)));
  NIBU_RETURN_IF_ERROR(CheckOption(
      max_decoding_length >= 1,
      absl::StrCat("max_decoding_length must be at least 1, not ", max_decoding_length)));
  NIBU_RETURN_IF_ERROR(
      CheckOption(std::isfinite(max_length_factor) && max_length_factor >= 0,
                  absl::StrCat("max_length_factor must be at least 0, not ", max_length_factor)));
  return CheckOption(min_decoding_length >= 0 && min_decoding_length <= max_decoding_length,
                     absl::StrCat("min_decoding_length must be 0 to max_decoding_length = ",
                                  max_decoding_length, ", not ", min_decoding_length));
}

absl::Status TranslatorOptions::Validate() const {
  NIBU_RETURN_IF_ERROR(CheckOption(threads >= 1 && threads <= 1024,
                                   absl::StrCat("threads must be 1 to 1024, not ", threads)));
  NIBU_RETURN_IF_ERROR(
      CheckOption(batch_size >= 0 && batch_size <= 65536,
                  absl::StrCat("batch_size must be 0 to 65536, not ", batch_size)));
  return CheckOption(max_source_length >= 1,
                     absl::StrCat("max_source_length must be at least 1, not ", max_source_length));
}

class Translator::Impl {
 public:
  Impl(std::shared_ptr<const Model> model, Frame frame, const WorkerOptions& worker_options,
       int max_source, int threads)
      : model_(std::move(model)),
        frame_(std::move(frame)),
        max_source_(max_source),
        source_(model_->config, model_->weights.source, max_source + SourceExtra(frame_)),
        target_(model_->config, model_->weights.target,
                TargetExtra(frame_) + worker_options.search.max_length),
        queue_(threads) {
    for (int i = 0; i < threads; ++i) {
      WorkerOptions own = worker_options;
      // One of them: OpenMP's threads wait for each other well only where there are not more of
      // them than cores.
      if (i == 0) own.solo_threads = MostSoloThreads(*model_, threads);
      workers_.push_back(std::make_unique<Worker>(*model_, source_, target_, own, &queue_));
    }
  }

  // ResourceExhausted: the system has not so many threads.
  absl::Status Start() {
    try {
      for (auto& worker : workers_) {
        threads_.emplace_back([worker = worker.get()] { worker->Run(); });
      }
    } catch (const std::system_error& e) {
      return absl::ResourceExhaustedError(
          absl::StrCat("cannot start ", workers_.size(), " threads: ", e.what(), "; use fewer"));
    }
    return absl::OkStatus();
  }

  ~Impl() { End(); }

  void Submit(std::vector<int> source, Done done) {
    source.insert(source.begin(), frame_.source_prefix.begin(), frame_.source_prefix.end());
    source.insert(source.end(), frame_.source_suffix.begin(), frame_.source_suffix.end());
    queue_.Push({std::move(source), std::move(done)});
  }

  int max_source() const { return max_source_; }
  const Model& model() const { return *model_; }

  void StartMeasuring() {
    queue_.AwaitIdle();
    for (auto& worker : workers_) worker->StartMeasuring();
  }

  Measurement FinishMeasuring() {
    queue_.AwaitIdle();  // the last result is delivered before its worker's step ends
    Measurement result;
    for (auto& worker : workers_) {
      const std::vector<double> latencies = worker->FinishMeasuring();
      result.latencies.insert(result.latencies.end(), latencies.begin(), latencies.end());
      result.profile += worker->workspace().profile;
      result.traces.push_back(worker->workspace().matmul.FinishTrace());
    }
    return result;
  }

  double MatmulFloor(const Measurement& measurement) {
    // OpenMP's threads wait well only while there are no more of them than cores: those of the
    // workers end with them.
    End();
    std::vector<double> floors(workers_.size());
    std::vector<std::thread> threads;
    for (size_t i = 0; i < workers_.size(); ++i) {
      threads.emplace_back([&, i] {
        floors[i] = workers_[i]->workspace().matmul.ReplayTrace(*measurement.traces[i]);
      });
    }
    for (std::thread& thread : threads) thread.join();
    return *std::max_element(floors.begin(), floors.end());
  }

 private:
  // Once everything that was submitted is done.
  void End() {
    queue_.Close();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  const std::shared_ptr<const Model> model_;
  const Frame frame_;
  const int max_source_;
  const Embedder source_;
  const Embedder target_;
  JobQueue queue_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::thread> threads_;
};

Translator::Translator(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Translator::~Translator() = default;

absl::StatusOr<std::unique_ptr<Translator>> Translator::Create(std::shared_ptr<const Model> model,
                                                               const DecodingOptions& decoding,
                                                               const TranslatorOptions& options) {
  NIBU_RETURN_IF_ERROR(decoding.Validate());
  NIBU_RETURN_IF_ERROR(model->config.Validate());
  NIBU_RETURN_IF_ERROR(options.Validate());
  const ModelConfig& config = model->config;
  Frame frame = FrameOf(config, decoding);
  NIBU_RETURN_IF_ERROR(CheckFrame(frame, config));
  const int max_source =
      std::min(options.max_source_length, config.max_positions - SourceExtra(frame));

  WorkerOptions worker;
  worker.search.beam_size = decoding.beam_size;
  worker.search.patience = decoding.patience;
  worker.search.num_hypotheses = decoding.num_hypotheses;
  worker.search.length_penalty = decoding.length_penalty;
  worker.search.max_length =
      std::min(decoding.max_decoding_length, config.max_positions - TargetExtra(frame));
  worker.search.eos = config.eos;
  worker.min_length = std::min(decoding.min_decoding_length, worker.search.max_length);
  worker.decoder_start = frame.decoder_start;
  worker.max_length_factor = decoding.max_length_factor;
  worker.return_scores = decoding.return_scores;
  worker.shortlist = decoding.shortlist;
  worker.max_sentences =
      static_cast<size_t>(std::clamp(kDefaultRows / decoding.beam_size, 1, kDefaultSentences));
  if (options.draft != nullptr) {
    NIBU_RETURN_IF_ERROR(CheckDraft(options.draft->config, config, decoding.beam_size));
    worker.draft = std::make_shared<const DraftModel>(
        options.draft,
        decoding.frame.has_value() ? frame.decoder_start
                                   : std::vector<int>{options.draft->config.decoder_start},
        max_source + SourceExtra(frame), TargetExtra(frame) + worker.search.max_length);
  }
  worker.max_tokens = kDefaultTokens;
  const auto batch_size = static_cast<size_t>(options.batch_size);
  if (batch_size > 0 && options.batch_type == BatchType::kExamples) {
    worker.max_sentences = batch_size;
    worker.max_tokens = std::numeric_limits<size_t>::max();
  } else if (batch_size > 0) {
    worker.max_tokens = batch_size;
    worker.max_sentences = std::max(worker.max_sentences, batch_size);
  }
  auto impl = std::make_unique<Impl>(std::move(model), std::move(frame), worker, max_source,
                                     options.threads);
  NIBU_RETURN_IF_ERROR(impl->Start());
  return std::unique_ptr<Translator>(new Translator(std::move(impl)));
}

void Translator::Submit(std::vector<int> source, Done done) {
  impl_->Submit(std::move(source), std::move(done));
}

std::vector<std::vector<Hypothesis>> Translator::Translate(
    const std::vector<std::vector<int>>& sources) {
  std::vector<std::vector<Hypothesis>> results(sources.size());
  std::mutex mutex;
  std::condition_variable changed;
  size_t waiting = 0;
  for (const auto& source : sources) waiting += source.empty() ? 0 : 1;
  for (size_t i = 0; i < sources.size(); ++i) {
    if (sources[i].empty()) {
      results[i].resize(1);
      continue;
    }
    Submit(sources[i], [&, i](std::vector<Hypothesis> hypotheses) {
      const std::lock_guard<std::mutex> lock(mutex);
      results[i] = std::move(hypotheses);
      if (--waiting == 0) changed.notify_one();
    });
  }
  std::unique_lock<std::mutex> lock(mutex);
  changed.wait(lock, [&] { return waiting == 0; });
  return results;
}

int Translator::max_source_length() const { return impl_->max_source(); }
const Model& Translator::model() const { return impl_->model(); }
void Translator::StartMeasuring() { impl_->StartMeasuring(); }
Translator::Measurement Translator::FinishMeasuring() { return impl_->FinishMeasuring(); }
double Translator::MatmulFloor(const Measurement& measurement) {
  return impl_->MatmulFloor(measurement);
}

}  // namespace nibu
