#include "engine/translator.h"

#include <unistd.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/core/check_range.h"
#include "engine/core/exception_status.h"
#include "engine/core/exit_guard.h"
#include "engine/core/gather.h"
#include "engine/core/status_macros.h"
#include "engine/schedule/core_budget.h"
#include "engine/schedule/job_queue.h"
#include "engine/schedule/worker.h"

namespace nibu::internal {
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

// Threads inside the matmuls of a single sentence. Their sums are in any order, so only exact ones
// are shared out; more than a few threads wait for each other longer than a small matmul takes, and
// more than there are cores wait in vain.
int MostSoloThreads(const Model& model, const TranslatorOptions& options) {
  constexpr int kMost = 4;
  if (model.compute_type != ComputeType::kInt8) return 1;
  auto cores = static_cast<int>(std::thread::hardware_concurrency());  // 0: not known
  if (options.cores != nullptr) cores = std::min(cores, options.cores->cores());
  return std::max(1, std::min({options.threads, kMost, cores}));
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

absl::Status CheckTokens(absl::string_view what, absl::Span<const int> ids, int shortest,
                         int longest, int vocabulary) {
  if (ids.size() < static_cast<size_t>(shortest) ||
      ids.size() > static_cast<size_t>(std::max(longest, 0))) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, " has ", ids.size(), " tokens, expected ", shortest, " to ", longest));
  }
  return CheckIds(what, ids, 0, vocabulary - 1, "the token ");
}

absl::Status CheckOnStep(const Request& request) {
  const DecodingOptions& options = request.options;
  if (request.on_step == nullptr) return absl::OkStatus();
  if (options.beam_size == 1 && options.patience == 1 && !options.return_alternatives &&
      options.on_repetition == OnRepetition::kKeep && !request.target.has_value()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      "on_step needs a beam_size of 1 and a patience of 1, and neither a target, "
      "return_alternatives nor on_repetition=retry");
}

absl::Status CheckConstraints(const Request& request, int vocabulary) {
  if (request.constraints.empty()) return absl::OkStatus();
  NIBU_RETURN_IF_ERROR(
      CheckRange<size_t>("constraints", request.constraints.size(), 0, kMostConstraints));
  if (!request.options.allow_constraints()) {
    return absl::InvalidArgumentError(
        "constraints need a beam_size above 1, and neither samples, return_alternatives nor "
        "prefix_bias_beta");
  }
  for (const Constraint& constraint : request.constraints) {
    if (constraint.empty()) return absl::InvalidArgumentError("constraints have an empty one");
    for (const std::vector<int>& phrase : constraint) {
      NIBU_RETURN_IF_ERROR(
          CheckTokens("constraints", phrase, 1, std::numeric_limits<int>::max(), vocabulary));
    }
  }
  return absl::OkStatus();
}

}  // namespace

// What its threads share.
class Translator::Impl {
 public:
  Impl(std::shared_ptr<const Model> of, const TranslatorOptions& options)
      : model(std::move(of)),
        cores(options.cores),
        max_source(options.max_source_length),
        source_positions(Positions(options.max_source_length, options)),
        target_positions(Positions(options.max_decoding_length, options)),
        vocabularies(WithCommonTokens(model->config, options)),
        queue(options.threads, QueueSize(options)) {
    std::vector<float> weights = options.ensemble_weights;
    weights.resize(1 + options.ensemble.size(), 1.0f);
    const float sum = std::accumulate(weights.begin(), weights.end(), 0.0f);
    for (size_t m = 0; m < weights.size(); ++m) {
      models.push_back(std::make_unique<const PreparedModel>(
          m == 0 ? model : options.ensemble[m - 1], source_positions, target_positions,
          weights[m] / sum));
    }
    if (options.draft != nullptr) {
      draft =
          std::make_unique<const PreparedModel>(options.draft, source_positions, target_positions);
    }
    for (int i = 0; i < options.threads; ++i) {
      // One of them: OpenMP's threads wait for each other well only where there are not more of
      // them than cores.
      const int solo_threads = i == 0 ? MostSoloThreads(*model, options) : 1;
      workers.push_back(
          std::make_unique<Worker>(models,
                                   WorkerOptions{draft.get(), cores.get(), solo_threads,
                                                 RoomFor(options), vocabularies.vocab_target},
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
    // oneDNN's global objects may be younger than a static translator, whose workers hang without
    // them.
    at_exit = std::make_unique<ExitGuard>([this] {
      if (is_forked()) return;
      queue.CancelWaiting();
      End();
    });
  }

  ~Impl() {
    at_exit = nullptr;
    End();
  }

  // Returns true in a forked child of the process that created the translator. It has the memory of
  // that process, but none of its threads, and the queue's mutex may stay locked for ever.
  bool is_forked() const { return process_ != getpid(); }

  absl::Status CheckProcess() const {
    if (!is_forked()) return absl::OkStatus();
    return absl::FailedPreconditionError(
        "this translator belongs to the parent process; create one after fork()");
  }

  // Once everything that was submitted is done.
  void End() {
    queue.Close();
    for (std::thread& thread : threads) thread.join();
    threads.clear();
    queue.CloseFinished();
    if (delivery.joinable()) delivery.join();
  }

  const std::shared_ptr<const Model> model;
  const std::shared_ptr<CoreBudget> cores;  // null: none
  const int max_source;
  const int source_positions;
  const int target_positions;
  const ModelConfig vocabularies;                            // see WithCommonTokens
  std::vector<std::unique_ptr<const PreparedModel>> models;  // `model`, and the ensemble's
  std::unique_ptr<const PreparedModel> draft;
  JobQueue queue;
  std::vector<std::unique_ptr<Worker>> workers;
  std::vector<std::thread> threads;
  std::thread delivery;
  std::unique_ptr<ExitGuard> at_exit;

 private:
  // Of sequences up to `longest` tokens, and their frames.
  int Positions(int longest, const TranslatorOptions& options) const {
    int most = model->config.max_positions;
    for (const auto& other : options.ensemble) most = std::min(most, other->config.max_positions);
    return longest < most ? std::min(most, longest + kFramePositions) : most;
  }

  const pid_t process_ = getpid();

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
Translator::~Translator() {
  // Threads that do not exist cannot be joined: their memory stays until the process ends.
  if (impl_->is_forked()) (void)impl_.release();
}

absl::StatusOr<std::unique_ptr<Translator>> Translator::Create(std::shared_ptr<const Model> model,
                                                               const TranslatorOptions& options) {
  try {
    NIBU_RETURN_IF_ERROR(options.Validate());
    if (model == nullptr ||
        std::count(options.ensemble.begin(), options.ensemble.end(), nullptr) > 0) {
      return absl::InvalidArgumentError("a model is null");
    }
    NIBU_RETURN_IF_ERROR(options.ValidateFor(*model));
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

absl::Status Translator::AwaitRoom(std::chrono::nanoseconds patience) {
  NIBU_RETURN_IF_ERROR(impl_->CheckProcess());
  return impl_->queue.AwaitRoom(patience);
}

absl::StatusOr<Ticket> Translator::Submit(Request request, Done done,
                                          std::chrono::nanoseconds patience) {
  try {
    NIBU_RETURN_IF_ERROR(impl_->CheckProcess());
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
  const ModelConfig& common = impl_->vocabularies;
  // A frame of the model's own is not the other models'.
  NIBU_RETURN_IF_ERROR(
      request.options.ValidateFor(request.options.frame.has_value() ? common : config));
  NIBU_RETURN_IF_ERROR(CheckTokens("source", request.source, 1, max_source_length(request.options),
                                   common.vocab_source));
  const Frame frame = request.options.FrameFor(config);
  const int most = impl_->target_positions - frame.target_extra();
  if (most < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("frame.decoder_start has ", frame.decoder_start.size(),
                     " tokens, expected at most ", impl_->target_positions));
  }
  NIBU_RETURN_IF_ERROR(CheckTokens("target_prefix", request.target_prefix, 0,
                                   std::numeric_limits<int>::max(), common.vocab_target));
  if (request.target.has_value()) {
    NIBU_RETURN_IF_ERROR(CheckTokens("target", *request.target, 1, most, common.vocab_target));
  }
  NIBU_RETURN_IF_ERROR(CheckConstraints(request, common.vocab_target));
  NIBU_RETURN_IF_ERROR(CheckOnStep(request));
  auto job = std::make_shared<Job>();
  static_cast<Request&>(*job) = std::move(request);
  job->done = std::move(done);
  job->source.insert(job->source.begin(), frame.source_prefix.begin(), frame.source_prefix.end());
  job->source.insert(job->source.end(), frame.source_suffix.begin(), frame.source_suffix.end());
  const DecodingOptions& options = job->options;
  job->search = {.options = &options,
                 .max_length = std::min(options.max_decoding_length, most),
                 .ends = options.end_tokens,
                 .first_row = frame.target_extra()};
  if (options.max_length_factor > 0) {
    const float longest = options.max_length_factor * static_cast<float>(job->source.size());
    if (longest < static_cast<float>(job->search.max_length)) {
      job->search.max_length =
          std::min(job->search.max_length,
                   std::max({1, options.min_decoding_length, static_cast<int>(longest)}));
    }
  }
  if (options.end_tokens.empty()) job->search.ends = {config.eos};
  job->suppressed = config.suppressed;
  if (options.disable_unk) job->suppressed.push_back(config.unk_target);
  job->suppressed.insert(job->suppressed.end(), job->search.ends.begin(), job->search.ends.end());
  job->search.constraints = job->constraints;
  job->search.word_parts = job->word_parts.get();
  job->rows = job->search.width() * static_cast<size_t>(options.branches());
  job->frame = frame.decoder_start.size();
  job->start = frame.decoder_start;
  if (impl_->draft != nullptr && !options.frame.has_value()) {
    job->draft_start = {impl_->draft->model->config.decoder_start};
  } else {
    job->draft_start = frame.decoder_start;
  }
  return job;
}

void Translator::Cancel(const Ticket& ticket) {
  if (impl_->is_forked()) return;
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
  const int extra = options.frame.has_value()
                        ? options.frame->source_extra()
                        : static_cast<int>(impl_->model->config.source_suffix.size());
  return std::min(impl_->max_source, impl_->source_positions - extra);
}

const Model& Translator::model() const { return *impl_->model; }

Activity Translator::activity() const { return impl_->queue.activity(); }

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
    result.matmul_seconds =
        std::max(result.matmul_seconds, MatmulContext::TracedSeconds(*result.traces.back()));
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

}  // namespace nibu::internal
