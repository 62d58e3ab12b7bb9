// Text in, text out: joins a model's vocabulary and tokenizers with the engine.
#ifndef NIBU_TOOLS_TEXT_TEXT_TRANSLATOR_H_
#define NIBU_TOOLS_TEXT_TEXT_TRANSLATOR_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/translator.h"
#include "tokenizer/sentence_splitter.h"
#include "tools/text/text_coder.h"
#include "tools/text/text_model.h"
#include "tools/text/text_options.h"

namespace nibu {

// Thread-safe. No exception comes out of it.
class TextTranslator {
 public:
  // InvalidArgument: options or a vocabulary that make no sense.
  static absl::StatusOr<std::unique_ptr<TextTranslator>> Create(TextModel model,
                                                                const TranslatorOptions& options);
  // Finishes everything that was submitted.
  ~TextTranslator();

  // What a model wants where nothing else is said.
  TextOptions default_options() const;

  // Options, checked against the model and worked out: for any number of requests.
  struct Plan;
  // InvalidArgument whose message begins with the option's name, as a rule.
  absl::StatusOr<std::shared_ptr<const Plan>> Prepare(const TextOptions& options) const;

  struct Request {
    std::shared_ptr<const Plan> plan;
    // See nibu::Request; a line's sentences share them.
    int priority = 0;
    std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
    uint64_t key = 0;
  };
  // A result, or the status of the sentence that failed. What it throws is dropped.
  using Done = std::function<void(uint64_t key, absl::StatusOr<TextResult>)>;
  struct Pending;
  using TextTicket = std::weak_ptr<Pending>;

  // Tokenizes a line (any bytes but a line feed) on the calling thread and queues its sentences.
  // OK: `done` is called exactly once, perhaps before Submit returns, else as Translator::Submit's.
  // Otherwise never: OutOfRange: LongInput::kError, and a sentence of too many tokens; and
  // Translator::Submit's errors; `patience` is its, too.
  absl::StatusOr<TextTicket> Submit(
      absl::string_view line, const Request& request, Done done,
      std::chrono::nanoseconds patience = std::chrono::nanoseconds(0));

  // Ends a request with Cancelled. Does nothing once it has ended.
  void Cancel(const TextTicket& ticket);

  // Submits all, waits for all. An error: the first one's.
  absl::StatusOr<std::vector<TextResult>> Translate(const std::vector<std::string>& lines,
                                                    const TextOptions& options);

  // Tokens of a line that can be translated in one piece.
  int max_input_length(const Plan& plan) const;

  // For measurements.
  Translator& translator() { return *translator_; }
  // So far, over all threads: seconds in Submit before the queue; and with results, what `done`
  // takes included.
  double tokenizer_seconds() const { return tokenizing_; }
  double text_seconds() const { return finishing_; }

 private:
  explicit TextTranslator(TextCoder coder) : coder_(std::move(coder)) {}
  // The sources of a line's parts.
  absl::StatusOr<std::vector<std::vector<int>>> Read(absl::string_view line,
                                                     Pending* pending) const;
  absl::Status AddText(const std::vector<std::string>& pieces, Pending* pending,
                       std::vector<std::vector<int>>* sources) const;
  TextHypothesis Join(const Pending& pending, size_t n) const;
  absl::StatusOr<TextResult> Finish(Pending* pending) const;

  const TextCoder coder_;
  ModelConfig config_;
  ModelVocabulary vocabulary_;  // without the tokens
  ModelDefaults defaults_;
  std::shared_ptr<const Shortlist> shortlist_;
  std::atomic<double> tokenizing_ = 0;
  std::atomic<double> finishing_ = 0;
  std::unique_ptr<Translator> translator_;  // last: its threads use the rest
};

}  // namespace nibu

#endif  // NIBU_TOOLS_TEXT_TEXT_TRANSLATOR_H_
