// Text in, text out: joins a model's vocabulary and tokenizers with the engine.
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

// Thread-safe. No exception comes out of it. Destroy it on no thread of its own, such as in a Done.
class TextTranslator {
 public:
  // InvalidArgument: options or a vocabulary that make no sense. Draft and ensemble are the
  // model's, whatever the options say.
  static absl::StatusOr<std::unique_ptr<TextTranslator>> Create(TextModel model,
                                                                TranslatorOptions options);
  // The same with the model's coder; its vocabulary's tokens and SentencePiece models are not used.
  static absl::StatusOr<std::unique_ptr<TextTranslator>> Create(TextModel model, TextCoder coder,
                                                                TranslatorOptions options);
  // Finishes everything that was submitted.
  ~TextTranslator();

  // What a model wants where nothing else is said.
  TextOptions default_options() const;

  // Options, checked against the model and worked out: for any number of requests.
  using Plan = TextPlan;
  // InvalidArgument whose message begins with the option's name, as a rule.
  absl::StatusOr<std::shared_ptr<const Plan>> Prepare(const TextOptions& options) const;
  // The same for two models in a row: the second translator's model translates, sentence by
  // sentence, what this one's has translated. See MakePivotPlan. `second` outlives all requests.
  absl::StatusOr<std::shared_ptr<const Plan>> PreparePivot(const TextOptions& first_options,
                                                           const TextTranslator& second,
                                                           const TextOptions& options) const;

  struct Request {
    std::shared_ptr<const Plan> plan;
    // See nibu::internal::Request; a line's sentences share them.
    int64_t priority = 0;
    std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
    // Handed back; samples depend on its lower 44 bits.
    uint64_t key = 0;
    // What the translation begins with: text, or pieces if tokenized. Its sentences begin those of
    // the line, one by one. Alternatives are of the sentence in which it ends.
    std::string target_prefix = {};
    // A translation to be scored, in place of one to be searched for. Its sentences are scored as
    // translations of the line's, one by one, if there are equally many; else the line is scored as
    // one sentence. The only hypothesis of the result then has an EOS token behind each sentence.
    std::optional<std::string> target = {};
    // See nibu::Request.
    std::function<bool(const nibu::Step&)> on_step = nullptr;
  };
  // A result, or the status of the sentence that failed. What it throws is dropped.
  using Done = std::function<void(uint64_t key, absl::StatusOr<TextResult>)>;
  struct Pending;
  using TextTicket = std::weak_ptr<Pending>;

  // Of Submit's patience.
  static constexpr auto kForever = std::chrono::nanoseconds::max();

  // Tokenizes a line (any bytes but a line feed) on the calling thread and queues its sentences.
  // OK: `done` is called exactly once, perhaps before Submit returns, else as Translator::Submit's.
  // Otherwise never: OutOfRange: LongInput::kError or a target, and a sentence of too many tokens;
  // InvalidArgument: a target for a blank line; and Translator::Submit's errors (ResourceExhausted,
  // FailedPrecondition). `patience` is the whole line's, and has to be above 0 for one of more
  // sentences than the queue has room for.
  absl::StatusOr<TextTicket> Submit(
      absl::string_view line, const Request& request, Done done,
      std::chrono::nanoseconds patience = std::chrono::nanoseconds(0));
  // The same of a marked line: what it carries comes out once in each hypothesis, what is left
  // alone stays where it is. A language token in front of the first segment is that of all.
  absl::StatusOr<TextTicket> Submit(
      const MarkedLine& line, const Request& request, Done done,
      std::chrono::nanoseconds patience = std::chrono::nanoseconds(0));

  // Ends a request with Cancelled. Does nothing once it has ended.
  void Cancel(const TextTicket& ticket);
  // The same for all requests that have not ended.
  void CancelAll();

  // Submits all, waits for all: not within a Done. An error: the first one's.
  absl::StatusOr<std::vector<TextResult>> Translate(const std::vector<std::string>& lines,
                                                    const TextOptions& options);

  // Tokens of a line that can be translated in one piece.
  int max_input_length(const Plan& plan) const;

  // For measurements.
  Translator& translator() { return *translator_; }
  Activity activity() const { return translator_->activity(); }
  // So far, over all threads: seconds in Submit before the queue; and with results, what `done`
  // takes included.
  double tokenizer_seconds() const { return tokenizing_; }
  double text_seconds() const { return finishing_; }
  // Sentences (and parts of long ones) that lines were cut into so far, and those of them that are
  // translated.
  uint64_t sentences() const { return sentences_; }
  uint64_t translated_sentences() const { return translated_sentences_; }

 private:
  explicit TextTranslator(TextCoder coder) : coder_(std::move(coder)) {}
  PlannedModel Planned() const;
  absl::StatusOr<nibu::internal::Request> MakeRequest(Pending* pending, size_t part) const;
  // The hypotheses of a part have come, or the reason why there are none.
  void Take(const std::shared_ptr<Pending>& pending, size_t part, Result result);
  // The first model's translation of a part has come: hands it to the second one in pieces of
  // which each can be translated at once, and takes its hypotheses.
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
  std::mutex mutex_;                        // guards what follows
  std::vector<TextTicket> known_;           // requests, of which some may have ended
  size_t most_known_ = 64;                  // how many there may be before those are forgotten
  std::unique_ptr<Translator> translator_;  // last: its threads use the rest
};

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_TEXT_TRANSLATOR_H_
