#ifndef NIBU_TOKENIZER_SENTENCEPIECE_TOKENIZER_H_
#define NIBU_TOKENIZER_SENTENCEPIECE_TOKENIZER_H_

#include <memory>
#include <string>
#include <vector>

#include "tokenizer/text_span.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/vocabulary.h"

namespace nibu {

class SentencePieceModel;

// A SentencePiece model (Kudo and Richardson 2018).
class SentencePieceTokenizer : public Tokenizer {
 public:
  // `model`: the contents of a .spm file. InvalidArgument when it is damaged, or when `vocabulary`
  // knows less than half of its pieces: it belongs to another model.
  static absl::StatusOr<std::unique_ptr<SentencePieceTokenizer>> FromSerialized(
      absl::string_view model, const Vocabulary& vocabulary);
  ~SentencePieceTokenizer() override;

  absl::StatusOr<std::vector<std::string>> Encode(absl::string_view text) const override;
  absl::StatusOr<std::string> Decode(absl::Span<const std::string> pieces) const override;

  // The same, with the bytes of the text that each piece comes from, or stands for. They are in
  // order, and end where the text does or before; blanks may belong to a piece or to none.
  absl::StatusOr<std::vector<std::string>> Encode(absl::string_view text,
                                                  std::vector<TextSpan>* spans) const;
  absl::StatusOr<std::string> Decode(absl::Span<const std::string> pieces,
                                     std::vector<TextSpan>* spans) const;

 private:
  explicit SentencePieceTokenizer(std::unique_ptr<SentencePieceModel> model);

  std::unique_ptr<SentencePieceModel> model_;
};

}  // namespace nibu

#endif  // NIBU_TOKENIZER_SENTENCEPIECE_TOKENIZER_H_
