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

// A model's workers.
struct Engine {
  std::weak_ptr<const ModelParts> model;
  TranslatorOptions options;  // Its position tables have these lengths.
  std::unique_ptr<TextTranslator> text;
  bool is_replaced = false;  // An engine with longer tables gets the model's new plans.
  size_t plans = 0;
};

// The engines of a translator. Its plans share this object, since they may outlive the translator.
// Thread-safe. In a forked child, whose parent's threads may have held the mutex, only Close,
// ReleasePlan and is_forked may be called.
class Engines {
 public:
  Engines();

  // Enter and Leave stand around each use of an engine. False: Close has begun.
  bool Enter();
  void Leave();
  // A use that lasts as long as what it returns, for a request that goes from one engine to
  // another: Close destroys neither before. FailedPrecondition: Close has begun. The engines must
  // exist as long.
  absl::StatusOr<std::shared_ptr<void>> Hold();

  // The engine of a model that is long enough, with one more plan counted; null: there is none, and
  // `wanted` is made to suit those that the model has so far.
  Engine* Find(const std::shared_ptr<const ModelParts>& model, TranslatorOptions* wanted);

  // Puts an engine in the place of the model's others, with one plan counted.
  Engine* Add(std::unique_ptr<Engine> added);

  // Counts a plan out. Call it from any thread, also after Close.
  void ReleasePlan(Engine* engine);

  // Destroys the engines that nobody can use any more: those without plans whose model is gone, or
  // that have been replaced.
  void ReleaseUnloaded();

  // Ends all requests with Cancelled. REQUIRES: within Enter and Leave.
  void CancelAll();

  // Lets no use begin, waits for those that have, and finishes all that was submitted.
  void Close();

  bool is_forked() const;

  // Sums of TextTranslator's counters.
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
  uint64_t sentences_ = 0;  // of engines that have ended
  uint64_t translated_ = 0;
  Activity activity_;
};

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_ENGINES_H_
