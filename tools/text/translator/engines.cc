// Makes engines, counts their plans and uses, and destroys those that nobody needs any more.
#include "tools/text/translator/engines.h"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/base/macros.h"
#include "engine/core/status_macros.h"
#include "tools/text/options/option_table.h"

namespace nibu::internal {
namespace {

// The most plans that an engine remembers: enough for a language each of a multilingual model,
// which src_lang=auto asks for. The entries of glossaries count, too, since a plan keeps them.
constexpr size_t kMostPrepared = 256;
constexpr size_t kEntriesOfAPlan = 64;  // so many entries of a glossary count as one plan

Activity& operator+=(Activity& sum, const Activity& other) {
  sum.waiting += other.waiting;
  sum.begun += other.begun;
  sum.waited_seconds += other.waited_seconds;
  sum.steps += other.steps;
  sum.step_sentences += other.step_sentences;
  return sum;
}

size_t WeightOf(const Engine::Prepared& prepared) {
  return 1 + prepared.plan->options.glossary.size() / kEntriesOfAPlan;
}

// Returns whether options are equal. Those that are not in the table are compared here.
bool AreEqual(const Options& a, const Options& b) {
  const auto same_entry = [](const GlossaryEntry& x, const GlossaryEntry& y) {
    return x.source == y.source && x.target == y.target;
  };
  return a.return_scores == b.return_scores && a.return_ends == b.return_ends &&
         absl::c_all_of(TextOptionRows(),
                        [&](const OptionRow& row) { return row.equal(&a, &b); }) &&
         absl::c_equal(a.glossary, b.glossary, same_entry);
}

bool IsOf(const Engine& engine, const std::weak_ptr<const ModelParts>& model) {
  return !engine.model.owner_before(model) && !model.owner_before(engine.model);
}

bool IsLongEnough(const TranslatorOptions& options, const TranslatorOptions& wanted) {
  return options.max_source_length >= wanted.max_source_length &&
         options.max_decoding_length >= wanted.max_decoding_length;
}

bool HasEnded(const std::unique_ptr<Engine>& engine) {
  return engine->plans == 0 && (engine->is_replaced || engine->model.expired());
}

// Returns the length of the position tables for sequences of `wanted` tokens. Each new length costs
// an engine, with threads and memory, and requests may ask for any. So lengths above the default
// are rounded up to a power of two. Plans keep their own limits.
int TableLength(int wanted, int by_default) {
  constexpr int kLargest = 1 << 30;  // the largest power of two that is an int
  if (wanted <= by_default) return by_default;
  if (wanted > kLargest) return wanted;
  return static_cast<int>(std::bit_ceil(static_cast<uint32_t>(wanted)));
}

}  // namespace

Engines::Engines(TranslatorOptions options) : options_(std::move(options)), process_(getpid()) {}

bool Engines::is_forked() const { return getpid() != process_; }

bool Engines::Enter() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (is_closed_) return false;
  ++uses_;
  return true;
}

void Engines::Leave() {
  const std::lock_guard<std::mutex> lock(mutex_);
  ABSL_ASSERT(uses_ > 0);
  if (--uses_ == 0) unused_.notify_all();
}

absl::StatusOr<std::unique_ptr<Engines, Engines::CallLeave>> Engines::Use() {
  if (is_forked()) {
    return absl::FailedPreconditionError(
        "the translator is that of a parent process; make one of the child's own");
  }
  if (!Enter()) return absl::FailedPreconditionError("the translator has ended");
  std::unique_ptr<Engines, CallLeave> use(this);
  ReleaseUnloaded();
  return use;
}

absl::StatusOr<std::shared_ptr<void>> Engines::Hold() {
  if (!Enter()) return absl::FailedPreconditionError("the translator has ended");
  return std::shared_ptr<void>(this, [](Engines* engines) { engines->Leave(); });
}

absl::StatusOr<Engine*> Engines::For(const std::shared_ptr<const ModelParts>& model,
                                     int source_length, int target_length) {
  TranslatorOptions wanted = options_;
  wanted.max_source_length = TableLength(source_length, wanted.max_source_length);
  wanted.max_decoding_length = TableLength(target_length, wanted.max_decoding_length);
  if (Engine* const found = Find(model, &wanted); found != nullptr) return found;
  // Another thread may make this engine just now; those who have theirs do not wait for it.
  const std::lock_guard<std::mutex> lock(making_);
  if (Engine* const found = Find(model, &wanted); found != nullptr) return found;
  wanted.draft = model->draft;
  wanted.ensemble = model->ensemble;
  wanted.ensemble_weights = model->ensemble_weights;
  auto engine = std::make_unique<Engine>(Engine{model, wanted, nullptr});
  NIBU_ASSIGN_OR_RETURN(engine->translator, Translator::Create(model->loaded.model, wanted));
  return Add(std::move(engine));
}

// Returns an engine of the model whose position tables are as long as wanted, and counts one more
// plan of it. If there is none, returns null and raises the lengths in `wanted` to those of the
// model's other engines, so that a new engine can replace them.
Engine* Engines::Find(const std::shared_ptr<const ModelParts>& model, TranslatorOptions* wanted) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& engine : engines_) {
    if (!IsOf(*engine, model)) continue;
    if (!engine->is_replaced && IsLongEnough(engine->options, *wanted)) {
      ++engine->plans;
      return engine.get();
    }
    wanted->max_source_length =
        std::max(wanted->max_source_length, engine->options.max_source_length);
    wanted->max_decoding_length =
        std::max(wanted->max_decoding_length, engine->options.max_decoding_length);
  }
  return nullptr;
}

// Adds an engine, which replaces the others of its model, and counts one plan of it.
Engine* Engines::Add(std::unique_ptr<Engine> added) {
  const std::lock_guard<std::mutex> lock(mutex_);
  engines_.reserve(engines_.size() + 1);  // Nothing throws from here on.
  for (const auto& engine : engines_) engine->is_replaced |= IsOf(*engine, added->model);
  ++added->plans;
  added->number = ++last_number_;
  return engines_.emplace_back(std::move(added)).get();
}

void Engines::ReleasePlan(Engine* engine) {
  if (is_forked()) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (is_closed_) return;  // Close destroys the engines.
  ABSL_ASSERT(engine->plans > 0);
  --engine->plans;
}

absl::StatusOr<std::shared_ptr<const LinePlan>> Engines::Prepare(Engine* engine,
                                                                 const ModelParts& model,
                                                                 Engine* pivot,
                                                                 const ModelParts* second,
                                                                 const Options& options) {
  const uint64_t number = pivot == nullptr ? 0 : pivot->number;
  if (auto found = FindPrepared(engine, number, options); found != nullptr) return found;
  NIBU_ASSIGN_OR_RETURN(LinePlan made, pivot == nullptr
                                           ? MakeLinePlan(options, model, *engine->translator)
                                           : MakePivotPlan(options, model, *engine->translator,
                                                           *second, *pivot->translator));
  // Another thread may have prepared the same plan at the same time; the first one is kept.
  if (auto found = FindPrepared(engine, number, options); found != nullptr) return found;
  auto plan = std::make_shared<const LinePlan>(std::move(made));
  std::list<Engine::Prepared> forgotten;  // destroyed behind the lock
  const std::lock_guard<std::mutex> lock(mutex_);
  engine->prepared.push_front({plan, number});
  size_t weight = 0;
  for (auto each = engine->prepared.begin(); each != engine->prepared.end(); ++each) {
    weight += WeightOf(*each);
    if (weight <= kMostPrepared || each == engine->prepared.begin()) continue;
    forgotten.splice(forgotten.begin(), engine->prepared, each, engine->prepared.end());
    break;
  }
  return plan;
}

std::shared_ptr<const LinePlan> Engines::FindPrepared(Engine* engine, uint64_t pivot,
                                                      const Options& options) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = absl::c_find_if(engine->prepared, [&](const Engine::Prepared& each) {
    return each.pivot == pivot && AreEqual(each.plan->options, options);
  });
  if (found == engine->prepared.end()) return nullptr;
  engine->prepared.splice(engine->prepared.begin(), engine->prepared, found);
  return found->plan;
}

void Engines::Remember(const std::weak_ptr<PendingLine>& request) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (known_.size() >= most_known_) {
    std::erase_if(known_, [](const auto& each) { return each.expired(); });
    most_known_ = std::max<size_t>(64, 2 * known_.size());
  }
  known_.push_back(request);
}

std::vector<std::weak_ptr<PendingLine>> Engines::TakeRequests() {
  if (is_forked()) return {};
  const std::lock_guard<std::mutex> lock(mutex_);
  return std::exchange(known_, {});
}

void Engines::ReleaseUnloaded() {
  std::vector<std::unique_ptr<Engine>> ended;  // Destroyed behind the lock: it waits for threads.
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto count = static_cast<size_t>(absl::c_count_if(engines_, HasEnded));
  if (count == 0) return;
  ended.reserve(count);
  for (auto& engine : engines_) {
    if (!HasEnded(engine)) continue;
    activity_ += engine->translator->activity();
    ended.push_back(std::move(engine));
  }
  std::erase(engines_, nullptr);
  // Plans for two models in a row have the vocabulary of a model that may be gone.
  for (const auto& engine : engines_) {
    engine->prepared.remove_if([&](const Engine::Prepared& each) {
      return each.pivot != 0 && absl::c_none_of(engines_, [&](const auto& other) {
               return other->number == each.pivot;
             });
    });
  }
  std::erase_if(known_, [](const auto& each) { return each.expired(); });
}

Activity Engines::activity() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  Activity sum = activity_;
  for (const auto& engine : engines_) sum += engine->translator->activity();
  return sum;
}

void Engines::Close() {
  std::vector<std::unique_ptr<Engine>> engines;
  // The parent's threads do not exist in a forked child, so there is nobody to lock out or wait
  // for.
  if (is_forked()) {
    engines.swap(engines_);
    return;
  }
  std::unique_lock<std::mutex> lock(mutex_);
  is_closed_ = true;
  unused_.wait(lock, [this] { return uses_ == 0; });
  engines.swap(engines_);
  lock.unlock();
}

}  // namespace nibu::internal
