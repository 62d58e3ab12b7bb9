#include "engine/translator.h"

#include <algorithm>
#include <limits>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/core/check_range.h"
#include "engine/core/exception_status.h"
#include "engine/core/gather.h"
#include "engine/core/status_macros.h"
#include "engine/job_queue.h"
#include "engine/worker.h"

namespace nibu {
namespace {

// What a worker decodes together unless told otherwise: more are no faster.
constexpr size_t kDefaultSentences = 64;
constexpr size_t kDefaultRows = 128;
// And not more source tokens: long sentences would take memory, and their rows are many anyway.
constexpr size_t kDefaultTokens = 4096;
// Requests under way for each worker: several windows of the queue.
constexpr size_t kDefaultQueue = 2048;
// Positions for the frames of requests, beyond the longest sources and outputs.
constexpr int kFramePositions = 64;

constexpr size_t kAnyNumber = std::numeric_limits<size_t>::max();

absl::Status CheckDraft(const ModelConfig& draft, const ModelConfig& config) {
  NIBU_RETURN_IF_ERROR(draft.Validate());
  const bool fits = draft.vocab_source == config.vocab_source &&
                    draft.vocab_target == config.vocab_target && draft.eos == config.eos;
  return fits ? absl::OkStatus()
              : absl::InvalidArgumentError("the draft model has another vocabulary");
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

JobQueue::Room RoomFor(const TranslatorOptions& options) {
  const auto batch = static_cast<size_t>(options.batch_size);
  if (batch == 0) return {kDefaultSentences, kDefaultTokens, kDefaultRows};
  if (options.batch_type == BatchType::kExamples) return {batch, kAnyNumber, kAnyNumber};
  return {std::max(kDefaultSentences, batch), batch, kAnyNumber};
}

size_t QueueSize(const TranslatorOptions& options) {
  if (options.queue_size > 0) return options.queue_size;
  return static_cast<size_t>(options.threads) *
         std::max(kDefaultQueue, 2 * static_cast<size_t>(options.batch_size));
}

absl::Status CheckSource(const std::vector<int>& source, int longest, int vocabulary) {
  if (source.empty() || source.size() > static_cast<size_t>(std::max(longest, 0))) {
    return absl::InvalidArgumentError(
        absl::StrCat("source has ", source.size(), " tokens, expected 1 to ", longest));
  }
  for (const int id : source) {
    if (id < 0 || id >= vocabulary) {
      return absl::InvalidArgumentError(
          absl::StrCat("source has the token ", id, ", expected 0 to ", vocabulary - 1));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status TranslatorOptions::Validate() const {
  NIBU_RETURN_IF_ERROR(CheckRange("threads", threads, 1, 1024));
  NIBU_RETURN_IF_ERROR(CheckRange("batch_size", batch_size, 0, 65536));
  NIBU_RETURN_IF_ERROR(CheckRange("max_source_length", max_source_length, 1));
  return CheckRange("max_decoding_length", max_decoding_length, 1);
}

// What its threads share.
class Translator::Impl {
 public:
  Impl(std::shared_ptr<const Model> of, const TranslatorOptions& options)
      : model(std::move(of)),
        max_source(options.max_source_length),
        source_positions(Positions(options.max_source_length)),
        target_positions(Positions(options.max_decoding_length)),
        source(model->config, model->weights.source, source_positions),
        target(model->config, model->weights.target, target_positions),
        queue(options.threads, QueueSize(options)) {
    if (options.draft != nullptr) {
      draft = std::make_unique<const DraftModel>(options.draft, source_positions, target_positions);
    }
    for (int i = 0; i < options.threads; ++i) {
      // One of them: OpenMP's threads wait for each other well only where there are not more of
      // them than cores.
      const int solo_threads = i == 0 ? MostSoloThreads(*model, options.threads) : 1;
      workers.push_back(std::make_unique<Worker>(
          *model, source, target, WorkerOptions{draft.get(), solo_threads, RoomFor(options)},
          &queue));
    }
  }

  // Throws std::system_error where the system has not so many threads.
  void Start() {
    threads.reserve(workers.size());
    for (auto& worker : workers) {
      threads.emplace_back([worker = worker.get()] { worker->Run(); });
    }
    delivery = std::thread([this] { Deliver(); });
  }

  ~Impl() { End(); }

  // Once everything that was submitted is done.
  void End() {
    queue.Close();
    for (std::thread& thread : threads) thread.join();
    threads.clear();
    queue.CloseFinished();
    if (delivery.joinable()) delivery.join();
  }

  const std::shared_ptr<const Model> model;
  const int max_source;
  const int source_positions;
  const int target_positions;
  const Embedder source;
  const Embedder target;
  std::unique_ptr<const DraftModel> draft;
  JobQueue queue;
  std::vector<std::unique_ptr<Worker>> workers;
  std::vector<std::thread> threads;
  std::thread delivery;

 private:
  // Of sequences up to `longest` tokens, and their frames.
  int Positions(int longest) const {
    const int most = model->config.max_positions;
    return longest < most ? std::min(most, longest + kFramePositions) : most;
  }

  void Deliver() {
    while (const std::shared_ptr<Job> job = queue.TakeFinished()) {
      try {
        job->done(job->key, std::move(job->result));
      } catch (...) {  // see Done
      }
      job->done = nullptr;  // with what it holds
      queue.Delivered();
    }
  }
};

Translator::Translator(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Translator::~Translator() = default;

absl::StatusOr<std::unique_ptr<Translator>> Translator::Create(std::shared_ptr<const Model> model,
                                                               const TranslatorOptions& options) {
  NIBU_RETURN_IF_ERROR(options.Validate());
  NIBU_RETURN_IF_ERROR(model->config.Validate());
  NIBU_RETURN_IF_ERROR(DecodingOptions().ValidateFor(model->config));  // its own frame
  if (options.draft != nullptr) {
    NIBU_RETURN_IF_ERROR(CheckDraft(options.draft->config, model->config));
  }
  try {
    auto impl = std::make_unique<Impl>(std::move(model), options);
    impl->Start();
    return std::unique_ptr<Translator>(new Translator(std::move(impl)));
  } catch (const std::system_error& e) {
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot start ", options.threads, " threads: ", e.what(), "; use fewer"));
  } catch (...) {
    return StatusOfException();
  }
}

absl::StatusOr<Ticket> Translator::Submit(Request request, Done done,
                                          std::chrono::nanoseconds patience) {
  try {
    NIBU_ASSIGN_OR_RETURN(std::shared_ptr<Job> job, MakeJob(std::move(request), std::move(done)));
    Ticket ticket = job;
    NIBU_RETURN_IF_ERROR(impl_->queue.Push(std::move(job), patience));
    return ticket;
  } catch (...) {
    return StatusOfException();
  }
}

absl::StatusOr<std::shared_ptr<Job>> Translator::MakeJob(Request request, Done done) const {
  const ModelConfig& config = impl_->model->config;
  const DecodingOptions& options = request.options;
  NIBU_RETURN_IF_ERROR(options.ValidateFor(config));
  NIBU_RETURN_IF_ERROR(
      CheckSource(request.source, max_source_length(options), config.vocab_source));
  const Frame frame = options.FrameFor(config);
  const int most = impl_->target_positions - frame.target_extra();
  if (most < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("frame.decoder_start has ", frame.decoder_start.size(),
                     " tokens, expected at most ", impl_->target_positions));
  }
  auto job = std::make_shared<Job>();
  job->decoder_start = frame.decoder_start;
  if (impl_->draft != nullptr) {
    job->draft_decoder_start = options.frame.has_value()
                                   ? frame.decoder_start
                                   : std::vector<int>{impl_->draft->model->config.decoder_start};
  }
  std::vector<int>& source = request.source;
  source.insert(source.begin(), frame.source_prefix.begin(), frame.source_prefix.end());
  source.insert(source.end(), frame.source_suffix.begin(), frame.source_suffix.end());
  job->search = {options.beam_size,
                 options.patience,
                 options.num_hypotheses,
                 options.length_penalty,
                 std::min(options.max_decoding_length, most),
                 config.eos};
  if (options.max_length_factor > 0) {
    const float longest = options.max_length_factor * static_cast<float>(source.size());
    if (longest < static_cast<float>(job->search.max_length)) {
      job->search.max_length = std::max(1, static_cast<int>(longest));
    }
  }
  static_cast<Request&>(*job) = std::move(request);
  job->done = std::move(done);
  return job;
}

void Translator::Cancel(const Ticket& ticket) {
  if (const std::shared_ptr<Job> job = ticket.lock()) impl_->queue.Cancel(job);
}

absl::StatusOr<std::vector<std::vector<Hypothesis>>> Translator::Translate(
    const std::vector<std::vector<int>>& sources, const DecodingOptions& options) {
  try {
    const auto all = std::make_shared<Gather<std::vector<Hypothesis>>>(sources.size());
    for (size_t i = 0; i < sources.size(); ++i) {
      if (sources[i].empty()) {
        all->Add(i, std::vector<Hypothesis>(1));
        continue;
      }
      const absl::StatusOr<Ticket> ticket = Submit(
          {.source = sources[i], .options = options, .key = i},
          [all](uint64_t key, Result result) { all->Add(key, std::move(result)); },
          std::chrono::nanoseconds::max());
      if (!ticket.ok()) all->Add(i, ticket.status());
    }
    return all->Await();
  } catch (...) {
    return StatusOfException();
  }
}

int Translator::max_source_length(const DecodingOptions& options) const {
  const int extra = options.FrameFor(impl_->model->config).source_extra();
  return std::min(impl_->max_source, impl_->source_positions - extra);
}

const Model& Translator::model() const { return *impl_->model; }

void Translator::StartMeasuring() {
  impl_->queue.AwaitIdle();
  for (auto& worker : impl_->workers) worker->StartMeasuring();
}

Translator::Measurement Translator::FinishMeasuring() {
  impl_->queue.AwaitIdle();  // the last result is on its way before its worker's step ends
  Measurement result;
  for (auto& worker : impl_->workers) {
    const std::vector<double> latencies = worker->FinishMeasuring();
    result.latencies.insert(result.latencies.end(), latencies.begin(), latencies.end());
    result.profile += worker->workspace().profile;
    result.traces.push_back(worker->workspace().matmul.FinishTrace());
  }
  return result;
}

double Translator::MatmulFloor(const Measurement& measurement) {
  // OpenMP's threads wait well only while there are no more of them than cores: those of the
  // workers end with them.
  impl_->End();
  std::vector<double> floors(impl_->workers.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < floors.size(); ++i) {
    threads.emplace_back([&, i] {
      floors[i] = impl_->workers[i]->workspace().matmul.ReplayTrace(*measurement.traces[i]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return *std::max_element(floors.begin(), floors.end());
}

}  // namespace nibu
