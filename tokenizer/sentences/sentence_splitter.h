// Splits a line into sentences by the rules of one language.
//
// The splitter walks over the line and decides at each full stop or stronger mark (a "stop") if the
// sentence ends behind it. The first of these that gives an answer decides:
//   - what follows the stop: the line's end, a comma, no blank;
//   - the kind of the stop: the number of a list item, "!" and "?", a full stop before a lower-case
//     letter, an ellipsis;
//   - the word before a full stop: an abbreviation (the lists of sentence_words.txt, CLDR's), an
//     initial, an ordinal;
//   - ICU's sentence iterator.
// A sentence also ends before the next item of a numbered or bulleted list. Neither a stop nor a
// list item ends a sentence inside of a pair of brackets of at most 400 bytes; a line feed does.
// The .cc begins with all rules, numbered in their order.
#ifndef NIBU_TOKENIZER_SENTENCES_SENTENCE_SPLITTER_H_
#define NIBU_TOKENIZER_SENTENCES_SENTENCE_SPLITTER_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tokenizer/unicode/text_span.h"

namespace nibu::internal {

// Finds the sentences of one language. Immutable: any number of threads may use one splitter.
class SentenceSplitter {
 public:
  // `language`: any code ("de", "de-DE", "deu_Latn", "zh_CN"). The empty one stands for English; an
  // unknown one gets the rules that hold for all languages. FailedPrecondition: ICU lacks its data;
  // ResourceExhausted: memory is short.
  static absl::StatusOr<std::unique_ptr<SentenceSplitter>> Create(absl::string_view language);
  ~SentenceSplitter();

  // Returns the bytes of the line's sentences, in order. Nothing but white space (IsBlank) lies
  // between them, and none at their beginnings and ends; a line of white space has no sentence. A
  // line feed always ends a sentence. Any bytes may be given: those that are not UTF-8 belong to
  // the sentence around them. Takes time linear in the line's length.
  std::vector<TextSpan> Split(absl::string_view line) const;

 private:
  struct Language;
  explicit SentenceSplitter(std::unique_ptr<const Language> language);

  std::unique_ptr<const Language> language_;
};

}  // namespace nibu::internal

#endif  // NIBU_TOKENIZER_SENTENCES_SENTENCE_SPLITTER_H_
