// Where the sentences of a line begin and end.
#ifndef NIBU_TOKENIZER_SENTENCES_SENTENCE_SPLITTER_H_
#define NIBU_TOKENIZER_SENTENCES_SENTENCE_SPLITTER_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tokenizer/unicode/text_span.h"

namespace nibu::internal {

// The sentences of one language. Any number of threads may use one splitter.
//
// Rules of ours know abbreviations (CLDR's and more), initials, ordinals, quotes, brackets, lists
// and ellipses. ICU's sentence iterator has the last word on full stops that they say nothing of.
class SentenceSplitter {
 public:
  // `language`: any code ("de", "de-DE", "deu_Latn", "zh_CN"). The empty one stands for English; an
  // unknown one gets the rules that hold for all. FailedPrecondition: ICU lacks its data;
  // ResourceExhausted: memory is short.
  static absl::StatusOr<std::unique_ptr<SentenceSplitter>> Create(absl::string_view language);
  ~SentenceSplitter();

  // The sentences of a line, in order; only white space (IsBlank) lies outside of them, none at
  // their ends. Any bytes: what is not UTF-8 belongs to the sentence around it. Takes time linear
  // in the line's length.
  std::vector<TextSpan> Split(absl::string_view line) const;

 private:
  struct Language;
  explicit SentenceSplitter(std::unique_ptr<const Language> language);

  std::unique_ptr<const Language> language_;
};

}  // namespace nibu::internal

#endif  // NIBU_TOKENIZER_SENTENCES_SENTENCE_SPLITTER_H_
