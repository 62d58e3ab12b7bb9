// Wraps SentencePiece. Its header puts names into namespace absl, so that no file that includes it
// may include Abseil, too; this header has standard types only.
#ifndef NIBU_TOKENIZER_SUBWORDS_SENTENCEPIECE_MODEL_H_
#define NIBU_TOKENIZER_SUBWORDS_SENTENCEPIECE_MODEL_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "tokenizer/unicode/text_span.h"

namespace nibu::internal {

// A SentencePiece model. Immutable after Load; threads may share it.
class SentencePieceModel {
 public:
  SentencePieceModel();
  ~SentencePieceModel();

  int size() const;
  // REQUIRES: 0 <= id < size().
  const std::string& Piece(int id) const;

  // Each of these returns false on failure, with the reason in `error`. Encode appends to `pieces`.
  // Encode and Decode append to `spans` the bytes of the text that each piece comes from, or stands
  // for.
  bool Load(const char* bytes, size_t size, std::string* error);
  bool Encode(const char* text, size_t size, std::vector<std::string>* pieces,
              std::vector<TextSpan>* spans, std::string* error) const;
  bool Decode(const std::vector<std::string>& pieces, std::string* text,
              std::vector<TextSpan>* spans, std::string* error) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace nibu::internal

#endif  // NIBU_TOKENIZER_SUBWORDS_SENTENCEPIECE_MODEL_H_
