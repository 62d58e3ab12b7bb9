// Splits text into sentences, as a Translator does before it translates them one by one.
#ifndef NIBU_SENTENCES_H_
#define NIBU_SENTENCES_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "nibu/export.h"

namespace nibu {

namespace internal {
class SentenceSplitter;
}

// The bytes [begin, end) of a text.
struct ByteSpan {
  size_t begin = 0;
  size_t end = 0;

  friend bool operator==(const ByteSpan& a, const ByteSpan& b) {
    return a.begin == b.begin && a.end == b.end;
  }
};

// The rules of one language. Immutable: any number of threads may use one splitter.
class NIBU_EXPORT SentenceSplitter {
 public:
  // `language`: any code, such as "de", "de-DE", "deu_Latn" or "zh_CN". The empty one stands for
  // English; a language without rules of its own gets those that hold for all. InvalidArgument: it
  // is not a code; FailedPrecondition: ICU lacks its data; ResourceExhausted: there is not enough
  // memory.
  static absl::StatusOr<std::unique_ptr<const SentenceSplitter>> Create(absl::string_view language);
  ~SentenceSplitter();
  SentenceSplitter(const SentenceSplitter&) = delete;
  SentenceSplitter& operator=(const SentenceSplitter&) = delete;

  // Returns the sentences of a text, in order. Outside of them there is only white space, and they
  // neither begin nor end with any. No sentence goes over a line feed. Any bytes are allowed: those
  // that are not UTF-8 belong to the sentence around them. Takes time linear in the text's length.
  // Returns ResourceExhausted if there is not enough memory.
  absl::StatusOr<std::vector<ByteSpan>> Split(absl::string_view text) const;

 private:
  explicit SentenceSplitter(std::unique_ptr<const internal::SentenceSplitter> splitter);
  std::unique_ptr<const internal::SentenceSplitter> splitter_;
};

}  // namespace nibu

#endif  // NIBU_SENTENCES_H_
