// Counts the plans and uses of engines, and destroys those that nobody needs any more.
#include "tools/text/engines.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/base/macros.h"

namespace nibu::internal {
namespace {

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

}  // namespace

Engines::Engines() : process_(getpid()) {}

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

absl::StatusOr<std::shared_ptr<void>> Engines::Hold() {
  if (!Enter()) return absl::FailedPreconditionError("the translator has ended");
  return std::shared_ptr<void>(this, [](Engines* engines) { engines->Leave(); });
}

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

Engine* Engines::Add(std::unique_ptr<Engine> added) {
  const std::lock_guard<std::mutex> lock(mutex_);
  engines_.reserve(engines_.size() + 1);  // Nothing throws from here on.
  for (const auto& engine : engines_) engine->is_replaced |= IsOf(*engine, added->model);
  ++added->plans;
  return engines_.emplace_back(std::move(added)).get();
}

void Engines::ReleasePlan(Engine* engine) {
  if (is_forked()) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (is_closed_) return;  // Close destroys the engines.
  ABSL_ASSERT(engine->plans > 0);
  --engine->plans;
}

void Engines::ReleaseUnloaded() {
  std::vector<std::unique_ptr<Engine>> ended;  // Destroyed behind the lock: it waits for threads.
  const std::lock_guard<std::mutex> lock(mutex_);
  ended.reserve(static_cast<size_t>(absl::c_count_if(engines_, HasEnded)));
  for (auto& engine : engines_) {
    if (!HasEnded(engine)) continue;
    sentences_ += engine->text->sentences();
    translated_ += engine->text->translated_sentences();
    activity_ += engine->text->activity();
    ended.push_back(std::move(engine));
  }
  std::erase(engines_, nullptr);
}

void Engines::CancelAll() {
  const std::lock_guard<std::mutex> lock(mutex_);
  ABSL_ASSERT(uses_ > 0);
  for (const auto& engine : engines_) engine->text->CancelAll();
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
