// Translates lines of text, with any number of models at once.
//
//   model = Model::Load(path)       once, shared
//   translator = Translator::Create()   once: it has the threads
//   plan = translator->Prepare(model, options)   once for each kind of request
//   translator->Translate(lines, plan), or Submit(line, plan, request, done) for servers
#ifndef NIBU_TRANSLATOR_H_
#define NIBU_TRANSLATOR_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "nibu/export.h"
#include "nibu/model.h"
#include "nibu/options.h"
#include "nibu/result.h"
#include "nibu/text.h"

namespace nibu {

// Options that have been checked against a model, for any number of requests. Immutable, for one
// Translator. It keeps its model alive, and so does each of its requests until it has ended.
class Plan;

// A token of a translation that has just been chosen: see Request::on_step.
struct Step {
  size_t sentence = 0;    // The sentence of the line, from 0.
  size_t hypothesis = 0;  // The number of the sample, from 0; 0 without sampling.
  size_t position = 0;    // The token's place in the sentence's hypothesis, from 0.
  std::string token = {};
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
  std::string target_prefix = {};
  // A translation to be scored; nothing is searched for then. Its sentences are scored as
  // translations of the line's, one by one, if there are equally many; else the line is scored as
  // one sentence. The result has one hypothesis, with an end token behind each sentence.
  std::optional<std::string> target = {};
  // Called with each token of greedy search or sampling as soon as it is chosen, the prefix and the
  // end token included; tokens of a sentence come in their order. If it returns true, or throws,
  // the sentence ends, and its tokens so far become its translation. It is called on the threads
  // that decode, perhaps on several at a time, and the other sentences of a thread wait for it.
  // Submit refuses it with InvalidArgument together with a beam, patience, alternatives, a target,
  // OnRepetition::kRetry, or two models in a row; SubmitText always refuses it.
  std::function<bool(const Step& step)> on_step = nullptr;
};

// Called once with a request's key and its result, or the reason why there is none: Cancelled,
// DeadlineExceeded, ResourceExhausted (not enough memory for this request) or Internal. It is
// called on a thread of the translator that decodes nothing, or within Submit if nothing has to be
// decoded. Other results wait for it, so it must not block for long; exceptions from it are
// dropped. It may call Submit (without patience), Prepare and Cancel, and must not destroy the
// Translator.
using Done = std::function<void(uint64_t key, absl::StatusOr<Result> result)>;

// The translation of a whole text.
struct Translation {
  // The text with its units translated. Except in a document, all lines end in a line feed,
  // whatever ended them in the source, and so does the last one.
  std::string text;
  std::vector<TextUnit> units;  // The units of the source, in order.
  std::vector<Result> results;  // For each unit, its result; empty for a unit without text.
  bool ends_open = false;       // See TextReader::is_open.
  bool ends_line = false;       // The source's last line has an end; that of `text` always has.
  std::string source_language;  // See Result::source_language; it is that of the whole text.
};
// Called once with all of a text, in the way of Done.
using TextDone = std::function<void(uint64_t key, absl::StatusOr<Translation> translation)>;

// Joins the results of a text's units to one, as if the text were a line and its units were
// sentences: the n-th hypothesis consists of the n-th ones of the units, and its text has the line
// ends of the source. `plan` is the one that the text was submitted with. Returns ResourceExhausted
// if the attention of all tokens to all tokens of the source takes too much memory.
NIBU_EXPORT absl::StatusOr<Result> JoinUnits(const Translation& translation, const Plan& plan);

// A patience for Translator::Submit, which then waits as long as it takes.
inline constexpr std::chrono::nanoseconds kForever = std::chrono::nanoseconds::max();

// A request that was submitted, for Translator::Cancel. It may be copied and kept for any time,
// since it keeps nothing of the request alive.
class NIBU_EXPORT Ticket {
 public:
  Ticket();
  ~Ticket();
  Ticket(const Ticket&);
  Ticket(Ticket&&) noexcept;
  Ticket& operator=(const Ticket&);
  Ticket& operator=(Ticket&&) noexcept;

 private:
  friend class Translator;
  struct State;
  std::shared_ptr<const State> state_;
};

// Counts what the threads of a translator have done since it was created, for monitoring a server.
// A sentence that two models translate in a row counts twice, once for each.
struct Activity {
  uint64_t waiting = 0;       // Sentences that no thread has begun; the only number that may fall.
  uint64_t begun = 0;         // Sentences that a thread has begun, those cancelled since included.
  double waited_seconds = 0;  // The sum of the times for which these waited in the queue.
  uint64_t steps = 0;         // Steps of the decoder: each adds a token to each of its sentences.
  uint64_t step_sentences = 0;  // The sum of the numbers of sentences in these steps.
};

// Thread-safe. It owns the threads: each model has some, but no more of all of them decode at a
// time than SpeedOptions::threads says, and those that wait take turns. Each model has a queue of
// its own. No exception comes out of it. A request that fails leaves the others, and the
// translator, as they are. A forked child can destroy its parent's translator, and nothing else:
// the rest returns FailedPrecondition there.
class NIBU_EXPORT Translator {
 public:
  // Returns InvalidArgument if an option makes no sense (see OptionOfError).
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

  // Tokenizes a line (any bytes but a line feed) on the calling thread, copies what it needs, and
  // queues the line's sentences. With Options::markup, the line is read by itself: an element that
  // is open at the end of another line has no effect on it. Options::text has no effect either.
  // If this returns OK, `done` is called exactly once; otherwise it never is. Errors are
  // InvalidArgument: a line feed, a target for a blank line, or a src_lang of "auto" and no
  // language that could be detected; OutOfRange: a sentence has too many tokens, with
  // LongInput::kError or a target; ResourceExhausted: there is not enough memory, or the queue has
  // been full for `patience`, which has to be above 0 for a line of more sentences than the queue
  // has room for; FailedPrecondition: the plan is another translator's, or the destructor has
  // begun.
  absl::StatusOr<Ticket> Submit(absl::string_view line, std::shared_ptr<const Plan> plan,
                                Request request, Done done,
                                std::chrono::nanoseconds patience = std::chrono::nanoseconds(0));

  // Does the same with a unit of a text (see TextReader), whatever the plan says about texts and
  // markup.
  absl::StatusOr<Ticket> Submit(const TextUnit& unit, std::shared_ptr<const Plan> plan,
                                Request request, Done done,
                                std::chrono::nanoseconds patience = std::chrono::nanoseconds(0));

  // Translates a whole text, cut into units as the plan's Options::text and Options::markup say.
  // Units with the same text are translated once, except with markup and sampling. If this returns
  // OK, `done` is called exactly once, with the translation or with the error of the first unit
  // that failed; otherwise it never is, and the errors are those of Submit. `patience` holds for
  // each unit. With TextKind::kLines, the lines of Request::target_prefix begin those of the text,
  // one by one; else it must be empty, and so must Request::target. Samples of the first unit are
  // those of a line with the same key.
  absl::StatusOr<Ticket> SubmitText(
      absl::string_view text, std::shared_ptr<const Plan> plan, Request request, TextDone done,
      std::chrono::nanoseconds patience = std::chrono::nanoseconds(0));
  // Does the same, and waits for the translation. It must not be called within a Done.
  absl::StatusOr<Translation> TranslateText(absl::string_view text,
                                            std::shared_ptr<const Plan> plan);

  // Ends a request with Cancelled, before its next step at the latest. Does nothing once it has
  // ended.
  void Cancel(const Ticket& ticket);

  // Ends all requests that have been submitted and have not ended, as Cancel does.
  void CancelAll();

  // Submits all lines and waits for them; not to be called within a Done. The results are in the
  // lines' order, and their number is the line's key. An error is that of the first line that
  // failed; lines that have not been submitted then are not begun.
  absl::StatusOr<std::vector<Result>> Translate(const std::vector<std::string>& lines,
                                                std::shared_ptr<const Plan> plan);
  // Does the same with a given translation of each line, which is scored (see Request::target).
  // Returns InvalidArgument if there are not equally many of both.
  absl::StatusOr<std::vector<Result>> Score(const std::vector<std::string>& lines,
                                            const std::vector<std::string>& targets,
                                            std::shared_ptr<const Plan> plan);

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
  class Impl;
  explicit Translator(std::unique_ptr<Impl> impl);
  // Returns the error with which a request with this plan would be refused, whatever its text.
  absl::Status CheckUsable(const std::shared_ptr<const Plan>& plan);
  absl::StatusOr<std::vector<Result>> SubmitAll(const std::vector<std::string>& lines,
                                                const std::vector<std::string>* targets,
                                                const std::shared_ptr<const Plan>& plan);
  std::unique_ptr<Impl> impl_;
};

}  // namespace nibu

#endif  // NIBU_TRANSLATOR_H_
