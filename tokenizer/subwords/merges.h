// Splits text into subwords by learned merges, byte pair encoding (Sennrich et al. 2016), as
// subword-nmt and fastBPE apply them.
#ifndef NIBU_TOKENIZER_SUBWORDS_MERGES_H_
#define NIBU_TOKENIZER_SUBWORDS_MERGES_H_

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tokenizer/subwords/vocabulary.h"
#include "tokenizer/unicode/text_span.h"

namespace nibu::internal {

// The merges of a file, a pair of symbols a line, the first learned first:
//
//   #version: 0.2      subword-nmt: the last symbol of a word is its last character and "</w>".
//                      Without this line, "</w>" is a symbol of its own
//   t h
//   th e</w>
//
// fastBPE writes no version, but a count as a third field; its words end as those of 0.2.
// Symbols that another one follows in their word end in "@@". Immutable; threads may share it.
class SubwordMerges {
 public:
  // Returns true if a text looks like such a file, by its first line.
  static bool IsMerges(absl::string_view text);

  // InvalidArgument: a line, which it names, is not two symbols; the version is not known; or
  // `vocabulary` has less than a tenth of the pieces that the merges make. Not all of them need be
  // there, since most symbols are merged further, and one file may serve two languages.
  static absl::StatusOr<std::unique_ptr<const SubwordMerges>> FromText(
      absl::string_view text, const Vocabulary& vocabulary);

  // In each word, which ASCII white space ends, the earliest merge that any two neighbours allow is
  // done wherever it is possible, from left to right, until there is none. `spans` gets the bytes
  // of the text that each piece comes from (Encode) or stands for (Decode). Any bytes are text.
  std::vector<std::string> Encode(absl::string_view text, std::vector<TextSpan>* spans) const;
  std::string Decode(absl::Span<const std::string> pieces, std::vector<TextSpan>* spans) const;

 private:
  SubwordMerges() = default;

  // Returns the bytes of the word's pieces.
  std::vector<TextSpan> EncodeWord(absl::string_view word) const;

  std::unordered_map<std::string, int> ranks_;  // of "left right"
  bool end_is_symbol_ = false;
};

}  // namespace nibu::internal

#endif  // NIBU_TOKENIZER_SUBWORDS_MERGES_H_
