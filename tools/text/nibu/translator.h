// Translates texts, with any number of models at once. With one model, a few lines do it:
//
//   auto translator = nibu::Translator::Open("opus-mt-en-fr");
//   if (!translator.ok()) return Fail(translator.status());
//   auto translation = (*translator)->Translate("A dog runs.");
//   if (!translation.ok()) return Fail(translation.status());
//   std::cout << *translation;
//
// Who has several models or kinds of requests, or submits texts without waiting for them, makes
// each part once:
//
//   model = Model::Load(path)           shared by any number of translators
//   translator = Translator::Create()   has the threads
//   plan = translator->Prepare(model, options)   for each kind of request
//   translator->Translate(texts, plan), or Submit(text, plan, request, done) for servers
#ifndef NIBU_TRANSLATOR_H_
#define NIBU_TRANSLATOR_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "nibu/engine.h"
#include "nibu/export.h"
#include "nibu/model.h"
#include "nibu/options.h"
#include "nibu/result.h"
#include "nibu/text.h"

namespace nibu {

namespace internal {
class Engines;
class PendingLine;
struct MarkedLine;
}  // namespace internal

// Options that have been checked against a model, for any number of requests. Immutable, for one
// Translator. It keeps its model alive, and so does each of its requests until it has ended.
class Plan;

// A token of a translation that has just been chosen: see Request::on_step.
struct Step {
  size_t sentence = 0;    // The sentence of the line, from 0.
  size_t hypothesis = 0;  // The number of the sample, from 0; 0 without sampling.
  size_t position = 0;    // The token's place in the sentence's hypothesis, from 0.
  std::string token = {};
  // The characters by which the sentence's translation has grown, for showing it as it comes: what
  // the tokens so far say, without what the steps before have said. Empty while a character lacks
  // bytes. Tags are not in it, and in place of a protected part, it has the word that stands for
  // it.
  std::string text = {};
  int id = 0;            // The token's id in the target vocabulary.
  float log_prob = 0;    // 0 for tokens of a prefix; without return_scores, the logit.
  bool is_last = false;  // The hypothesis ends with it: it is its end token, or at a length limit.
};

// The settings of one request.
struct Request {
  // Requests of higher priority are taken first; one that is being decoded goes on.
  int64_t priority = 0;
  // A request that has not ended by then ends with DeadlineExceeded, at whatever step it is.
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  // The caller's own number, handed back with the result. Sampling depends on its lower 44 bits.
  uint64_t key = 0;
  // The text that the translation begins with, or its pieces if Options::tokenized. Its sentences
  // begin those of the line, one by one. Alternatives are those of the sentence in which it ends.
  // The lines of a prefix begin those of a whole text, one by one.
  std::string target_prefix = {};
  // A translation to be scored; nothing is searched for then. Its sentences are scored as
  // translations of the line's, one by one, if there are equally many; else the line is scored as
  // one sentence. The result has one hypothesis, with an end token behind each sentence. Its tokens
  // have the model's own log-probabilities, among all tokens, whatever the options of the search
  // and the model's shortlist are. If Options::min_decoding_length has a value, they have those
  // that a search would see: tokens that it never generates there have probability 0.
  std::optional<std::string> target = {};
  // Called with each token of greedy search or sampling as soon as it is chosen, the prefix and the
  // end token included; tokens of a sentence come in their order. If it returns true, or throws,
  // the sentence ends, and its tokens so far become its translation. It is called on the threads
  // that decode, perhaps on several at a time, and the other sentences of a thread wait for it.
  // Submit refuses it with InvalidArgument together with a beam, patience, alternatives, a target,
  // OnRepetition::kRetry, two models in a row, or a whole text.
  std::function<bool(const Step& step)> on_step = nullptr;
  // The priority at the line's beginning. Those of its sentences go evenly from there to `priority`
  // at its end, so that the sentences of a long line wait among others' instead of all together.
  // nullopt: all of them have `priority`, and so have the units of a whole text in any case.
  std::optional<int64_t> first_priority = std::nullopt;
};

// Called once with a request's key and its result, or the reason why there is none: Cancelled,
// DeadlineExceeded, ResourceExhausted (not enough memory for this request) or Internal. It is
// called on a thread of the translator that decodes nothing, or within Submit if nothing has to be
// decoded. Other results wait for it, so it must not block for long; exceptions from it are
// dropped. It may call Submit, which does not wait there, Prepare and Cancel. Translate and Score
// would wait for themselves, and are refused with FailedPrecondition. It must not destroy the
// Translator, nor wait for a future. The same holds for on_step.
using Done = std::function<void(uint64_t key, absl::StatusOr<Result> result)>;

// A queue_timeout for Translator::Submit, which then waits as long as it takes.
inline constexpr std::chrono::nanoseconds kForever = std::chrono::nanoseconds::max();

// A request that was submitted, for Translator::Cancel. It may be copied and kept for any time,
// since it keeps nothing of the request alive.
class NIBU_EXPORT Ticket {
 private:
  friend class Translator;
  struct State;
  std::shared_ptr<const State> state_;
};

// Thread-safe. It owns the threads: each model has some, but no more of all of them decode at a
// time than SpeedOptions::threads says, and those that wait take turns. Each model has a queue of
// its own. No exception comes out of it. A request that fails leaves the others, and the
// translator, as they are. A forked child can destroy its parent's translator, and nothing else:
// the rest returns FailedPrecondition there.
class NIBU_EXPORT Translator {
 public:
  // Loads a model (see Model::Load) and makes a translator for it, whose options are those for
  // which a plan is not given.
  static absl::StatusOr<std::unique_ptr<Translator>> Open(const std::string& model,
                                                          const Options& options = {},
                                                          const ModelOptions& model_options = {},
                                                          const SpeedOptions& speed_options = {});

  // Makes a translator without a model. Returns InvalidArgument if an option makes no sense (see
  // OptionOfError).
  static absl::StatusOr<std::unique_ptr<Translator>> Create(const SpeedOptions& options = {});
  // Finishes everything that was submitted. It must not be called on a thread of the translator.
  ~Translator();
  Translator(const Translator&) = delete;
  Translator& operator=(const Translator&) = delete;

  // Checks options against a model, and starts the model's threads at its first plan.
  // InvalidArgument: an option makes no sense, or not for this model (see OptionOfError);
  // ResourceExhausted: there is not enough memory, or not so many threads.
  absl::StatusOr<std::shared_ptr<const Plan>> Prepare(std::shared_ptr<const Model> model,
                                                      const Options& options = {});

  // Translates a text, which may be any bytes: with TextKind::kLines and without a line feed a
  // line, else a whole text, which is cut into units as Options::text and Options::markup say
  // (TextReader). The result of a whole text is as if it were a line and its units were sentences:
  // the n-th hypothesis consists of the n-th ones of the units, and its text has the line ends of
  // the source. Units with the same text are translated once, except with markup and sampling.
  //
  // The text is tokenized on the calling thread, which copies what it needs, and its sentences are
  // queued. `plan`: null stands for the options of Open. If this returns OK, `done` is called
  // exactly once, with the result or with the error of the first unit that failed; otherwise it
  // never is. Errors are
  //   InvalidArgument: a target for a blank line; a target or on_step for a whole text, or a prefix
  //     for one that is not TextKind::kLines; or a src_lang of "auto" and no language that could be
  //     detected;
  //   OutOfRange: a sentence has too many tokens, with LongInput::kError or a target;
  //   ResourceExhausted: there is not enough memory, the attention of all tokens of a whole text to
  //     all of the source takes too much of it, or the queue has been full for `queue_timeout`,
  //     which holds for each unit, and has to be above 0 for a unit of more sentences than the
  //     queue has room for; within a Done or on_step it counts as 0;
  //   FailedPrecondition: the plan is another translator's, or the destructor has begun.
  absl::StatusOr<Ticket> Submit(
      absl::string_view text, std::shared_ptr<const Plan> plan, Request request, Done done,
      std::chrono::nanoseconds queue_timeout = std::chrono::nanoseconds(0));

  // Does the same with a unit of a text, whatever the plan says about texts and markup.
  absl::StatusOr<Ticket> Submit(
      const TextUnit& unit, std::shared_ptr<const Plan> plan, Request request, Done done,
      std::chrono::nanoseconds queue_timeout = std::chrono::nanoseconds(0));

  // Submits a text, waits while the queue is full, and returns the result that is to come, or the
  // error. Not to be called within a Done.
  std::future<absl::StatusOr<Result>> SubmitFuture(absl::string_view text,
                                                   std::shared_ptr<const Plan> plan = nullptr,
                                                   Request request = {});

  // Ends a request with Cancelled, before its next step at the latest. Does nothing once it has
  // ended.
  void Cancel(const Ticket& ticket);

  // Ends all requests that have been submitted and have not ended, as Cancel does.
  void CancelAll();

  // Translates a text with the options of Open, and waits for it. FailedPrecondition within a Done
  // or on_step, which would wait for itself.
  absl::StatusOr<std::string> Translate(absl::string_view text);

  // Submits all texts and waits for them. The results are in the texts' order. Texts that are equal
  // are translated once, except with sampling, and on_step is told of the first of them. `plan`:
  // null stands for the options of Open. `request` holds for each text, but its key is that of the
  // first one: the others' follow it. An error is that of the first text that failed; texts that
  // have not been submitted then are not begun. FailedPrecondition within a Done or on_step.
  absl::StatusOr<std::vector<Result>> Translate(const std::vector<std::string>& texts,
                                                std::shared_ptr<const Plan> plan = nullptr,
                                                const Request& request = {});
  // Does the same with a given translation of each line, which is scored (see Request::target).
  // Returns InvalidArgument if there are not equally many of both.
  absl::StatusOr<std::vector<Result>> Score(const std::vector<std::string>& lines,
                                            const std::vector<std::string>& targets,
                                            std::shared_ptr<const Plan> plan = nullptr,
                                            const Request& request = {});

  // Returns whether the calling thread is within a Done or on_step of any Translator.
  static bool InCallback();

  // Frees the threads and memory of models that have been unloaded: those whose plans and requests
  // have ended, and which nobody holds any more. Prepare and Submit do so, too, so this is for a
  // translator that may be idle for long.
  void ReleaseUnloaded();

  // Returns the most tokens of a sentence that is translated in one piece:
  // Options::max_input_length, or fewer if the model has fewer positions.
  int max_input_length(const Plan& plan) const;

  // Returns the number of threads that decode: SpeedOptions::threads, or that of the usable cores.
  int threads() const;
  // Return the number of sentences (and parts of long ones) that lines were cut into so far, and
  // the number of those that have been translated.
  uint64_t sentences() const;
  uint64_t translated_sentences() const;
  // Returns what the threads have done so far.
  Activity activity() const;

 private:
  explicit Translator(std::shared_ptr<internal::Engines> engines);
  // Returns the plan for a text: `plan` or, if its src_lang is "auto", the plan for the text's
  // language, whose code goes to `language`. Returns the error with which any request with this
  // plan is refused.
  absl::StatusOr<std::shared_ptr<const Plan>> PlanFor(absl::string_view text,
                                                      std::shared_ptr<const Plan> plan,
                                                      std::string* language);
  absl::StatusOr<Ticket> SubmitLine(const internal::MarkedLine& line,
                                    std::shared_ptr<const Plan> plan, Request request,
                                    std::string language, Done done,
                                    std::chrono::nanoseconds queue_timeout);
  absl::StatusOr<Ticket> SubmitWhole(absl::string_view text, std::shared_ptr<const Plan> plan,
                                     Request request, std::string language, Done done,
                                     std::chrono::nanoseconds queue_timeout);
  void CancelLines(const std::vector<std::weak_ptr<internal::PendingLine>>& lines);
  absl::StatusOr<std::vector<Result>> SubmitAll(const std::vector<std::string>& texts,
                                                const std::vector<std::string>* targets,
                                                const std::shared_ptr<const Plan>& plan,
                                                const Request& request);
  const std::shared_ptr<internal::Engines> engines_;
  std::shared_ptr<const Plan> plan_;  // that of Open, or null
};

}  // namespace nibu

#endif  // NIBU_TRANSLATOR_H_
