// Translator: owns the prepared models, the queue, the workers with their threads, and the thread
// that delivers results.
#include "engine/translator.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/core/exception_status.h"
#include "engine/core/exit_guard.h"
#include "engine/core/gather.h"
#include "engine/core/status_macros.h"
#include "engine/plan.h"
#include "engine/schedule/core_budget.h"
#include "engine/schedule/job_queue.h"
#include "engine/schedule/worker.h"

namespace nibu::internal {
namespace {

// The most sentences and rows that a worker decodes together by default. More are no faster.
constexpr size_t kDefaultSentences = 64;
constexpr size_t kDefaultRows = 128;
// The most source tokens that it decodes together: more long sentences would take memory, and they
// have enough rows anyway.
constexpr size_t kDefaultTokens = 4096;
// An eighth of these tokens is for sentences of at most 64. Otherwise a short request would wait
// until a piece of a long line has been translated, which takes up to a second. Long sentences are
// encoded 256 tokens at a time, as many as one call of the encoder has.
constexpr size_t kTokensForShort = kDefaultTokens / 8;
// The requests under way for each worker by default: several windows of the queue.
constexpr size_t kDefaultQueue = 2048;
// The positions that models are prepared for beyond the longest sources and outputs: requests may
// have frames of this length.
constexpr int kFramePositions = 64;

// Returns a number that no other translator of the process has.
uint64_t NextNumber() {
  static std::atomic<uint64_t> count{0};
  return ++count;
}

constexpr size_t kAnyNumber = std::numeric_limits<size_t>::max();

// Returns the threads that may work inside the matmuls of a single sentence. Threads take sums in
// another order, so only int8, whose sums are exact, and int4, which shares out whole outputs, use
// several. More than a few threads wait for each other longer than a small matmul takes; more
// threads than cores gain nothing.
int MostSoloThreads(const Model& model, const TranslatorOptions& options) {
  constexpr int kMost = 4;
  if (!HasInt8Inputs(model.compute_type)) return 1;
  auto cores = static_cast<int>(std::thread::hardware_concurrency());  // 0: not known
  if (options.cores != nullptr) cores = std::min(cores, options.cores->cores());
  return std::max(1, std::min({options.threads, kMost, cores}));
}

JobQueue::Room RoomFor(const TranslatorOptions& options) {
  const auto batch = static_cast<size_t>(options.batch_size);
  if (batch == 0) return {kDefaultSentences, kDefaultTokens, kDefaultRows, kTokensForShort};
  if (options.batch_type == BatchType::kExamples) return {batch, kAnyNumber, kAnyNumber};
  return {std::max(kDefaultSentences, batch), batch, kAnyNumber};
}

size_t QueueSize(const TranslatorOptions& options) {
  if (options.queue_size > 0) return options.queue_size;
  return static_cast<size_t>(options.threads) *
         std::max(kDefaultQueue, 2 * static_cast<size_t>(options.batch_size));
}

}  // namespace

// Everything that the threads of a translator share.
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
      // Only one worker uses OpenMP's threads, since these wait for each other well only if there
      // are not more of them than cores.
      const int solo_threads = i == 0 ? MostSoloThreads(*model, options) : 1;
      const auto number = static_cast<size_t>(i);
      const WorkerOptions worker{
          .draft = draft.get(),
          .cores = cores.get(),
          .solo_threads = solo_threads,
          .most = RoomFor(options),
          .vocab_target = vocabularies.vocab_target,
          .kernels = options.kernels,
          .observer = number < options.observers.size() ? options.observers[number] : nullptr};
      workers.push_back(std::make_unique<Worker>(models, worker, &queue));
    }
  }

  // Starts the threads. Throws std::system_error if the system does not have so many.
  void Start() {
    threads.reserve(workers.size());
    for (auto& worker : workers) {
      threads.emplace_back([worker = worker.get()] { worker->Run(); });
    }
    delivery = std::thread([this] { Deliver(); });
    // A static translator may be older than oneDNN's global objects, and is then destroyed after
    // them; workers that still decode would hang. So it ends before static objects are destroyed.
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

  // Waits until everything that was submitted is done and delivered, and ends the threads.
  void End() {
    queue.Close();
    for (std::thread& thread : threads) thread.join();
    threads.clear();
    queue.CloseFinished();
    if (delivery.joinable()) delivery.join();
  }

  // Returns the longest source that a frame leaves room for.
  int MaxSource(const Frame& frame) const {
    return std::min(max_source, source_positions - frame.source_extra());
  }

  const uint64_t plan_owner = NextNumber();  // see SearchPlan::owner
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
  // Returns the positions that models are prepared for so that sequences may have `longest` tokens
  // beside their frames; no more than every model has.
  int Positions(int longest, const TranslatorOptions& options) const {
    int most = model->config.max_positions;
    for (const auto& other : options.ensemble) most = std::min(most, other->config.max_positions);
    return longest < most ? std::min(most, longest + kFramePositions) : most;
  }

  const pid_t process_ = getpid();

  // The loop of the thread that delivers.
  void Deliver() {
    while (const std::shared_ptr<Job> job = queue.TakeFinished()) {
      try {
        job->done(job->request.key, std::move(job->result));
      } catch (...) {  // see Done
      }
      job->done = nullptr;  // destroys what the function holds
      queue.Delivered();
    }
  }
};

Translator::Translator(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Translator::~Translator() {
  // In a forked child, the threads do not exist and cannot be joined. Their memory is leaked.
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

absl::StatusOr<std::shared_ptr<const SearchPlan>> Translator::Plan(
    const DecodingOptions& options) const {
  try {
    const ModelConfig& config = impl_->model->config;
    // A frame in the options is given to all models, whose tokens it must be. Without one, each
    // model has a frame of its own, and only the first model's is checked here.
    NIBU_RETURN_IF_ERROR(
        ValidateFor(options, options.frame.has_value() ? impl_->vocabularies : config));
    Frame frame = FrameFor(options, config);
    const int positions = impl_->target_positions - frame.target_extra();
    if (positions < 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("frame.decoder_start has ", frame.decoder_start.size(),
                       " tokens, expected at most ", impl_->target_positions));
    }
    return std::make_shared<const SearchPlan>(
        options, SearchModelOf(config, std::move(frame), positions, impl_->plan_owner));
  } catch (...) {
    return StatusOfException();
  }
}

absl::StatusOr<std::shared_ptr<Job>> Translator::MakeJob(Request request, Done done) const {
  if (request.plan == nullptr) {
    NIBU_ASSIGN_OR_RETURN(request.plan, Plan(request.options));
    request.options = {};  // the plan has them now
  }
  const SearchPlan& plan = *request.plan;
  if (plan.owner() != impl_->plan_owner) {
    return absl::InvalidArgumentError(
        "plan is another translator's; make one with this one's Plan");
  }
  const ModelConfig& common = impl_->vocabularies;
  NIBU_RETURN_IF_ERROR(
      CheckRequest(request, plan.options(),
                   {.vocab_source = common.vocab_source,
                    .vocab_target = common.vocab_target,
                    .max_source_length = impl_->MaxSource(plan.frame()),
                    .max_target_length = impl_->target_positions - plan.frame().target_extra()}));
  return std::make_shared<Job>(std::move(request), std::move(done));
}

void Translator::Cancel(const Ticket& ticket) {
  if (impl_->is_forked()) return;
  if (const std::shared_ptr<Job> job = ticket.lock()) impl_->queue.Cancel(job);
}

absl::StatusOr<std::vector<std::vector<Hypothesis>>> Translator::Translate(
    const std::vector<std::vector<int>>& sources, const DecodingOptions& options) {
  try {
    NIBU_RETURN_IF_ERROR(impl_->CheckProcess());
    NIBU_ASSIGN_OR_RETURN(const std::shared_ptr<const SearchPlan> plan, Plan(options));
    const auto all = std::make_shared<Gather<std::vector<Hypothesis>>>(sources.size());
    for (size_t i = 0; i < sources.size(); ++i) {
      if (sources[i].empty()) {
        all->Add(i, std::vector<Hypothesis>(1));
        continue;
      }
      const absl::StatusOr<Ticket> ticket = Submit(
          {.source = sources[i], .plan = plan, .key = i},
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
  return impl_->MaxSource(FrameFor(options, impl_->model->config));
}

const Model& Translator::model() const { return *impl_->model; }

Activity Translator::activity() const { return impl_->queue.activity(); }

void Translator::StartMeasuring() {
  impl_->queue.AwaitIdle();
  for (auto& worker : impl_->workers) worker->StartMeasuring();
}

Translator::Measurement Translator::FinishMeasuring() {
  impl_->queue.AwaitIdle();  // a result may be delivered before its worker's step has ended
  Measurement result;
  for (auto& worker : impl_->workers) {
    const std::vector<double> latencies = worker->FinishMeasuring();
    result.latencies.insert(result.latencies.end(), latencies.begin(), latencies.end());
    result.profile += worker->workspace().profile;
  }
  return result;
}

}  // namespace nibu::internal
