// The loaded models of a nibu::Translator, and which of them can be destroyed.
#ifndef NIBU_TOOLS_TEXT_ENGINES_H_
#define NIBU_TOOLS_TEXT_ENGINES_H_

#include <sys/types.h>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/translator.h"
#include "tools/text/model_parts.h"
#include "tools/text/text_translator.h"

namespace nibu::internal {

// A model with the threads that translate with it.
struct Engine {
  std::weak_ptr<const ModelParts> model;
  TranslatorOptions options;  // The position tables have the lengths in it.
  std::unique_ptr<TextTranslator> text;
  bool is_replaced = false;  // An engine with longer tables gets the model's new plans.
  size_t plans = 0;          // The number of plans that use it.
};

// The engines of a translator. Its plans share this object, since they may outlive the translator.
// Thread-safe. In a forked child, whose parent's threads may have held the mutex, only Close,
// ReleasePlan and is_forked may be called.
class Engines {
 public:
  Engines();

  // Enter and Leave stand around each use of an engine. Enter returns false once Close has begun;
  // then there is no use, and no Leave.
  bool Enter();
  void Leave();
  // Begins a use that lasts as long as the returned object: Close destroys no engine before it
  // ends. A request that goes from one engine to another needs it. Returns FailedPrecondition if
  // Close has begun. This object must outlive the returned one.
  absl::StatusOr<std::shared_ptr<void>> Hold();

  // Returns an engine of a model whose position tables are as long as wanted, and counts one more
  // plan of it. If there is none, returns null and raises the lengths in `wanted` to those of the
  // model's other engines, so that a new engine can replace them.
  Engine* Find(const std::shared_ptr<const ModelParts>& model, TranslatorOptions* wanted);

  // Adds an engine, which replaces the others of its model, and counts one plan of it.
  Engine* Add(std::unique_ptr<Engine> added);

  // Says that a plan of the engine has ended. May be called from any thread, and after Close.
  void ReleasePlan(Engine* engine);

  // Destroys the engines that nobody can use any more: those that have no plans, and either no
  // model or a replacement.
  void ReleaseUnloaded();

  // Ends all requests with Cancelled. REQUIRES: the call is between Enter and Leave.
  void CancelAll();

  // Lets no further use begin, waits for the uses that have begun, and finishes all requests.
  void Close();

  bool is_forked() const;

  // Sums of TextTranslator's counters over all engines, those that have been destroyed included.
  uint64_t sentences() const { return Sum(&TextTranslator::sentences, sentences_); }
  uint64_t translated_sentences() const {
    return Sum(&TextTranslator::translated_sentences, translated_);
  }
  Activity activity() const { return Sum(&TextTranslator::activity, activity_); }

 private:
  template <typename T>
  T Sum(T (TextTranslator::*counter)() const, const T& ended) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    T sum = ended;
    for (const auto& engine : engines_) sum += (*engine->text.*counter)();
    return sum;
  }

  const pid_t process_;
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable unused_;
  size_t uses_ = 0;
  bool is_closed_ = false;
  std::vector<std::unique_ptr<Engine>> engines_;
  uint64_t sentences_ = 0;  // The sums over the engines that have been destroyed.
  uint64_t translated_ = 0;
  Activity activity_;
};

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_ENGINES_H_
