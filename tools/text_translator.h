// Text in, text out: joins a model's vocabulary and tokenizers with the engine.
#ifndef NIBU_TOOLS_TEXT_TRANSLATOR_H_
#define NIBU_TOOLS_TEXT_TRANSLATOR_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/translator.h"
#include "models/load_model.h"
#include "tokenizer/sentence_splitter.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/vocabulary.h"

namespace nibu {

// What to do with a line of more than max_input_length tokens.
enum class LongInput {
  kSplit,     // at sentence or clause ends; the parts' translations are joined by a space
  kTruncate,  // what is too much is left out
  kError,     // the line is not translated
};

struct TextOptions {
  bool tokenized = false;  // input and output are pieces separated by single spaces
  // A line's sentences are translated one by one, and white space stays as it was; not if
  // tokenized.
  bool split_sentences = true;
  std::string split_language;  // any code; empty: the model's source language
  LongInput long_input = LongInput::kSplit;
  int max_input_length = 1024;  // tokens, EOS not counted; never more than the model's positions
  DecodingOptions decoding;
  TranslatorOptions translator;  // max_source_length is set from max_input_length
};

struct TextHypothesis {
  std::string text;                 // without line breaks
  std::vector<std::string> tokens;  // of all sentences; EOS left out
  std::vector<float> token_scores;  // log-probability of each of the tokens
  float log_prob = 0;               // S, EOS included
  float score = 0;                  // S / L^length_penalty
  bool finished = true;             // false: it, or a part of it, was cut at a length limit
};

struct TextResult {
  // Best first. One empty hypothesis of score 0 for a line that is blank, or has nothing but a
  // language token; none for a line that was refused.
  std::vector<TextHypothesis> hypotheses;
  int source_tokens = 0;
  int target_tokens = 0;  // of the best hypothesis
  bool too_long = false;  // more than max_input_length tokens, in a sentence
};

// Thread-safe.
class TextTranslator {
 public:
  using Done = std::function<void(TextResult)>;

  // InvalidArgument: options that make no sense, a model without SentencePiece where it is needed.
  static absl::StatusOr<std::unique_ptr<TextTranslator>> Create(LoadedModel model,
                                                                const TextOptions& options);
  // Finishes everything that was submitted.
  ~TextTranslator();

  // Tokenizes a line (any bytes but a line feed) on the calling thread and queues it. `done` is
  // called exactly once, from any thread, perhaps before Submit returns.
  void Submit(absl::string_view line, Done done);

  // Submits all, waits for all.
  std::vector<TextResult> Translate(const std::vector<std::string>& lines);

  // Tokens of a line that can be translated in one piece.
  int max_input_length() const { return translator_->max_source_length(); }
  // For measurements.
  Translator& translator() { return *translator_; }
  // Ids of a line's tokens, source_suffix left out. Thread-safe.
  std::vector<int> Encode(absl::string_view line) const;

 private:
  struct Pending;

  struct Line;

  TextTranslator() = default;
  Line Understand(absl::string_view line) const;
  // Pieces of a text of the line, what is said in front of all of them included.
  std::vector<std::string> Pieces(const Line& line, absl::string_view text) const;
  std::vector<int> Ids(absl::Span<const std::string> pieces) const;
  // Adds what is translated of a text, in parts if it is too long. False: it is refused.
  bool AddText(const std::vector<std::string>& pieces, Pending* pending,
               std::vector<std::vector<int>>* sources) const;
  TextHypothesis Join(const Pending& pending, size_t n) const;
  TextResult Finish(const Pending& pending) const;

  TextOptions options_;
  bool language_tokens_ = false;
  bool instructions_ = false;                         // T5: the text says what to do
  std::unique_ptr<const SentenceSplitter> splitter_;  // null: lines are translated whole
  std::shared_ptr<const Vocabulary> source_vocabulary_;
  std::shared_ptr<const Vocabulary> target_vocabulary_;
  std::shared_ptr<const Tokenizer> source_tokenizer_;
  std::shared_ptr<const Tokenizer> target_tokenizer_;
  std::unique_ptr<Translator> translator_;  // last: its threads use the rest
};

}  // namespace nibu

#endif  // NIBU_TOOLS_TEXT_TRANSLATOR_H_
