// The loaded models of a nibu::Translator, and which of them can be destroyed.
//
// An engine is made at the first Prepare for its model. It has SpeedOptions::threads workers, which
// decode while they hold one of as many cores, which all engines share (CoreBudget). A plan for two
// models in a row has two engines. Plans count themselves in and out of their engine, and each
// request holds its plan until its Done has been called. So an engine without plans has no
// requests, and it can be destroyed once its model is gone, or once an engine with longer position
// tables has replaced it. That happens in Prepare, Submit, ReleaseUnloaded and the destructor,
// never where the last plan ends: this may be on a thread of the engine's own, which its destructor
// would wait for.
#ifndef NIBU_TOOLS_TEXT_TRANSLATOR_ENGINES_H_
#define NIBU_TOOLS_TEXT_TRANSLATOR_ENGINES_H_

#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/translator.h"
#include "tools/text/lines/line_plan.h"
#include "tools/text/model/model_parts.h"

namespace nibu::internal {

class PendingLine;

// A model with the threads that translate with it.
struct Engine {
  std::weak_ptr<const ModelParts> model;
  TranslatorOptions options;  // The position tables have the lengths in it.
  std::unique_ptr<Translator> translator;
  uint64_t number = 0;       // No other engine ever has it.
  bool is_replaced = false;  // An engine with longer tables gets the model's new plans.
  size_t plans = 0;          // The number of plans that use it.
  // A plan, and the number of its second engine; 0: it has none.
  struct Prepared {
    std::shared_ptr<const LinePlan> plan;
    uint64_t pivot = 0;
  };
  std::list<Prepared> prepared = {};  // lately; the last ones that were asked for come first
};

// The work that the texts of a translator have made so far.
struct TextCosts {
  std::atomic<uint64_t> sentences = 0;  // Sentences, and pieces of long ones, that lines had.
  std::atomic<uint64_t> translated_sentences = 0;
  std::atomic<double> tokenizer_seconds = 0;  // In Submit before a line is queued, on all threads.
  std::atomic<double> text_seconds = 0;       // Making text of results.
};

// The engines of a translator. Its plans share this object, since they may outlive the translator.
// Thread-safe. In a forked child, whose parent's threads may have held the mutex, only Close,
// ReleasePlan and is_forked may be called.
class Engines {
 public:
  // `options`: those of every engine, without the models and lengths.
  explicit Engines(TranslatorOptions options);

  // Enter and Leave stand around each use of an engine. Enter returns false once Close has begun;
  // then there is no use, and no Leave.
  bool Enter();
  void Leave();
  // Enters, and leaves when the returned object ends. Before that, frees the engines of models that
  // have been unloaded. Returns FailedPrecondition if Close has begun, or in a forked child.
  struct CallLeave {
    void operator()(Engines* engines) const { engines->Leave(); }
  };
  absl::StatusOr<std::unique_ptr<Engines, CallLeave>> Use();
  // Begins a use that lasts as long as the returned object: Close destroys no engine before it
  // ends. A request that goes from one engine to another needs it. Returns FailedPrecondition if
  // Close has begun. This object must outlive the returned one.
  absl::StatusOr<std::shared_ptr<void>> Hold();

  // Returns an engine of a model for sources and targets of at least these lengths, and counts one
  // more plan of it. To be called within Use.
  absl::StatusOr<Engine*> For(const std::shared_ptr<const ModelParts>& model, int source_length,
                              int target_length);
  // Says that a plan of the engine has ended. May be called from any thread, and after Close.
  void ReleasePlan(Engine* engine);

  // Returns the plan of an engine for options (MakeLinePlan). With a second engine, it is one for
  // two models in a row (MakePivotPlan). Equal options share a plan as long as it is remembered.
  absl::StatusOr<std::shared_ptr<const LinePlan>> Prepare(Engine* engine, const ModelParts& model,
                                                          Engine* pivot, const ModelParts* second,
                                                          const Options& options);

  // Remembers a request for TakeRequests, as long as it exists.
  void Remember(const std::weak_ptr<PendingLine>& request);
  // Returns the requests of all engines, and forgets them. In a forked child there are none.
  std::vector<std::weak_ptr<PendingLine>> TakeRequests();

  // Lets no further use begin, waits for the uses that have begun, and finishes all requests.
  void Close();

  bool is_forked() const;
  int threads() const { return options_.threads; }
  TextCosts& costs() { return costs_; }
  // Returns the sum over all engines, those that have been destroyed included.
  Activity activity() const;

 private:
  Engine* Find(const std::shared_ptr<const ModelParts>& model, TranslatorOptions* wanted);
  std::shared_ptr<const LinePlan> FindPrepared(Engine* engine, uint64_t pivot,
                                               const Options& options);
  Engine* Add(std::unique_ptr<Engine> added);
  void ReleaseUnloaded();

  const TranslatorOptions options_;
  const pid_t process_;
  TextCosts costs_;
  std::mutex making_;         // so that one engine is made at a time
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable unused_;
  size_t uses_ = 0;
  bool is_closed_ = false;
  std::vector<std::unique_ptr<Engine>> engines_;
  uint64_t last_number_ = 0;
  Activity activity_;                              // the sum over engines that have been destroyed
  std::vector<std::weak_ptr<PendingLine>> known_;  // some may have ended
  size_t most_known_ = 64;  // the size of known_ at which those that have ended are removed
};

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_TRANSLATOR_ENGINES_H_
