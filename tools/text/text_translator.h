// Translates lines of text: joins a model's vocabulary and tokenizers with the engine.
//
// 1. Submit cuts a line into parts (ReadLine) and queues each of them in the engine's Translator.
// 2. With two models, Continue hands the first model's translation of a part to the second model.
// 3. Take counts the parts that are done. The last one joins all parts (Finish) and calls `done`.
#ifndef NIBU_TOOLS_TEXT_TEXT_TRANSLATOR_H_
#define NIBU_TOOLS_TEXT_TEXT_TRANSLATOR_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/translator.h"
#include "nibu/translator.h"
#include "tools/text/marked_text.h"
#include "tools/text/text_coder.h"
#include "tools/text/text_model.h"
#include "tools/text/text_options.h"
#include "tools/text/text_plan.h"

namespace nibu::internal {

// Thread-safe. No exception comes out of it. It must not be destroyed on one of its own threads, so
// not within a Done.
class TextTranslator {
 public:
  // Returns InvalidArgument if the options or the vocabulary make no sense. Draft model and
  // ensemble are those of `model`, whatever the options say.
  static absl::StatusOr<std::unique_ptr<TextTranslator>> Create(TextModel model,
                                                                TranslatorOptions options);
  // Does the same with a coder made before. The tokens and SentencePiece models of the model's
  // vocabulary are not used.
  static absl::StatusOr<std::unique_ptr<TextTranslator>> Create(TextModel model, TextCoder coder,
                                                                TranslatorOptions options);
  // Finishes everything that was submitted.
  ~TextTranslator();

  // Returns the options that hold for the model unless a request says otherwise.
  TextOptions default_options() const;

  // Options that have been checked against the model and worked out, for any number of requests.
  using Plan = TextPlan;
  // Returns InvalidArgument, as a rule with a message that begins with the option's name.
  absl::StatusOr<std::shared_ptr<const Plan>> Prepare(const TextOptions& options) const;
  // Does the same for two models in a row: the model of `second` translates, sentence by sentence,
  // what this one's model has written. See MakePivotPlan. `second` must outlive all requests.
  absl::StatusOr<std::shared_ptr<const Plan>> PreparePivot(const TextOptions& first_options,
                                                           const TextTranslator& second,
                                                           const TextOptions& options) const;

  struct Request {
    std::shared_ptr<const Plan> plan;
    // See nibu::internal::Request. All sentences of the line have these.
    int64_t priority = 0;
    std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
    // Handed to Done. Samples depend on its lower 44 bits.
    uint64_t key = 0;
    // The beginning of the translation: text, or pieces if tokenized. Its sentences begin those of
    // the line, one by one. Alternatives are those of the sentence in which it ends.
    std::string target_prefix = {};
    // A translation to be scored; nothing is searched for then. Its sentences are scored as
    // translations of the line's, one by one, if there are equally many; else the line is scored as
    // one sentence. The result has one hypothesis, with an EOS token behind each sentence.
    std::optional<std::string> target = {};
    // See nibu::Request.
    std::function<bool(const nibu::Step&)> on_step = nullptr;
  };
  // Gets a result, or the status of the sentence that failed. Exceptions from it are dropped.
  using Done = std::function<void(uint64_t key, absl::StatusOr<TextResult>)>;
  struct Pending;
  using TextTicket = std::weak_ptr<Pending>;

  // A value for the patience of Submit.
  static constexpr auto kForever = std::chrono::nanoseconds::max();

  // Tokenizes a line (any bytes but a line feed) on the calling thread and queues its sentences. If
  // it returns OK, `done` is called exactly once: before Submit returns, or on the threads on which
  // Translator::Submit calls its own. Otherwise it is never called. Returns OutOfRange if a
  // sentence has too many tokens, and there is a target or LongInput::kError; InvalidArgument for a
  // target of a blank line; and the errors of Translator::Submit (ResourceExhausted,
  // FailedPrecondition). `patience` is the time to wait for room in the queue, for all of the line.
  // It has to be above 0 if the line has more sentences than the queue has room for.
  absl::StatusOr<TextTicket> Submit(
      absl::string_view line, const Request& request, Done done,
      std::chrono::nanoseconds patience = std::chrono::nanoseconds(0));
  // Does the same with a line with markup. Each hypothesis has its annotations once, and the text
  // that is copied in its place. A language token in front of the first segment holds for all.
  absl::StatusOr<TextTicket> Submit(
      const MarkedLine& line, const Request& request, Done done,
      std::chrono::nanoseconds patience = std::chrono::nanoseconds(0));

  // Ends a request with Cancelled. Does nothing once it has ended.
  void Cancel(const TextTicket& ticket);
  // Does the same with all requests that have not ended.
  void CancelAll();

  // Submits all lines and waits for them; not to be called within a Done. If some fail, returns the
  // error of the first of them.
  absl::StatusOr<std::vector<TextResult>> Translate(const std::vector<std::string>& lines,
                                                    const TextOptions& options);

  // Returns the most tokens that a sentence may have to be translated without being cut.
  int max_input_length(const Plan& plan) const;

  // For measurements.
  Translator& translator() { return *translator_; }
  Activity activity() const { return translator_->activity(); }
  // Seconds so far, summed over threads: in Submit before a line is queued; and in joining results.
  double tokenizer_seconds() const { return tokenizing_; }
  double text_seconds() const { return finishing_; }
  // Return the number of parts (sentences, or pieces of long ones) so far that lines were cut into,
  // and that are translated.
  uint64_t sentences() const { return sentences_; }
  uint64_t translated_sentences() const { return translated_sentences_; }

 private:
  explicit TextTranslator(TextCoder coder) : coder_(std::move(coder)) {}
  PlannedModel Planned() const;
  absl::StatusOr<nibu::internal::Request> MakeRequest(Pending* pending, size_t part) const;
  // Takes the hypotheses of a part, or the error. The last part of a line delivers the line's
  // result.
  void Take(const std::shared_ptr<Pending>& pending, size_t part, Result result);
  // Takes the first model's translation of a part, and submits it to the second model
  // (SubmitPivot), in several requests if it is too long for one. TakePivot takes the result of a
  // request; the last one joins them and calls Take.
  void Continue(const std::shared_ptr<Pending>& pending, size_t part,
                const Hypothesis& translation);
  absl::Status SubmitPivot(const std::shared_ptr<Pending>& pending, size_t part, size_t index);
  void TakePivot(const std::shared_ptr<Pending>& pending, size_t part, size_t index, Result result);
  absl::StatusOr<TextResult> Finish(Pending* pending) const;

  // Cancels all parts that have been submitted.
  void CancelParts(const Pending& pending);
  // Remembers a request for CancelAll.
  void Remember(const TextTicket& ticket);

  const TextCoder coder_;
  LoadedModel loaded_;  // without the vocabulary's tokens and SentencePiece models
  std::atomic<double> tokenizing_ = 0;
  std::atomic<double> finishing_ = 0;
  std::atomic<uint64_t> sentences_ = 0;
  std::atomic<uint64_t> translated_sentences_ = 0;
  std::mutex mutex_;                        // guards the next two members
  std::vector<TextTicket> known_;           // requests for CancelAll; some may have ended
  size_t most_known_ = 64;                  // the size of known_ at which ended ones are removed
  std::unique_ptr<Translator> translator_;  // comes last, since its threads use the other members
};

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_TEXT_TRANSLATOR_H_
