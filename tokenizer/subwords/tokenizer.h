// Splits text into subword pieces, and joins pieces to text.
#ifndef NIBU_TOKENIZER_SUBWORDS_TOKENIZER_H_
#define NIBU_TOKENIZER_SUBWORDS_TOKENIZER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tokenizer/subwords/merges.h"
#include "tokenizer/subwords/sentencepiece_model.h"
#include "tokenizer/subwords/vocabulary.h"
#include "tokenizer/unicode/text_span.h"

namespace nibu::internal {

// Splits a text whose pieces are separated by ASCII white space already. `spans`, if not null,
// gets the bytes of each piece.
std::vector<std::string> SplitAtSpaces(absl::string_view text,
                                       std::vector<TextSpan>* spans = nullptr);

// A SentencePiece model (Kudo and Richardson 2018), or the merges of subword-nmt. Immutable;
// threads may share it.
class SentencePieceTokenizer {
 public:
  // `model`: the contents of a .spm file, or of a file of merges (merges.h). InvalidArgument if it
  // is damaged, or if `vocabulary` knows less than half of its pieces, because it belongs to
  // another model then.
  static absl::StatusOr<std::unique_ptr<SentencePieceTokenizer>> FromSerialized(
      absl::string_view model, const Vocabulary& vocabulary);

  // Any bytes are text; those that are not UTF-8 become unknown characters. `spans`, if not null,
  // gets the bytes of the text that each piece comes from (Encode) or stands for (Decode). They are
  // in order, and end where the text does or before; blanks may belong to a piece or to none. Where
  // normalization makes several pieces of one character, the last has its bytes, and spans of those
  // in front of it are empty, or end there.
  // Internal: SentencePiece fails.
  absl::StatusOr<std::vector<std::string>> Encode(absl::string_view text,
                                                  std::vector<TextSpan>* spans = nullptr) const;
  absl::StatusOr<std::string> Decode(absl::Span<const std::string> pieces,
                                     std::vector<TextSpan>* spans = nullptr) const;

 private:
  SentencePieceTokenizer() = default;

  SentencePieceModel model_;
  std::unique_ptr<const SubwordMerges> merges_;  // null: `model_` counts
};

}  // namespace nibu::internal

#endif  // NIBU_TOKENIZER_SUBWORDS_TOKENIZER_H_
