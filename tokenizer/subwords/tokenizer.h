// Text to pieces and back.
#ifndef NIBU_TOKENIZER_SUBWORDS_TOKENIZER_H_
#define NIBU_TOKENIZER_SUBWORDS_TOKENIZER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tokenizer/subwords/sentencepiece_model.h"
#include "tokenizer/subwords/vocabulary.h"
#include "tokenizer/unicode/text_span.h"

namespace nibu::internal {

// Text that is in pieces already, separated by white space. `spans`, if not null: their bytes.
std::vector<std::string> SplitAtSpaces(absl::string_view text,
                                       std::vector<TextSpan>* spans = nullptr);

// A SentencePiece model (Kudo and Richardson 2018). Immutable; threads may share it.
class SentencePieceTokenizer {
 public:
  // `model`: the contents of a .spm file. InvalidArgument when it is damaged, or when `vocabulary`
  // knows less than half of its pieces: it belongs to another model.
  static absl::StatusOr<std::unique_ptr<SentencePieceTokenizer>> FromSerialized(
      absl::string_view model, const Vocabulary& vocabulary);

  // Any bytes are text; what is not UTF-8 becomes unknown characters. `spans`, if not null: the
  // bytes of the text that each piece comes from, or stands for. They are in order, and end where
  // the text does or before; blanks may belong to a piece or to none.
  absl::StatusOr<std::vector<std::string>> Encode(absl::string_view text,
                                                  std::vector<TextSpan>* spans = nullptr) const;
  absl::StatusOr<std::string> Decode(absl::Span<const std::string> pieces,
                                     std::vector<TextSpan>* spans = nullptr) const;

 private:
  SentencePieceTokenizer() = default;

  SentencePieceModel model_;
};

}  // namespace nibu::internal

#endif  // NIBU_TOKENIZER_SUBWORDS_TOKENIZER_H_
