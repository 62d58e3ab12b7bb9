#include "tokenizer/sentencepiece_tokenizer.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "tokenizer/charsmap.h"
#include "tokenizer/sentencepiece_model.h"

namespace nibu {

SentencePieceTokenizer::SentencePieceTokenizer(std::unique_ptr<SentencePieceModel> model)
    : model_(std::move(model)) {}
SentencePieceTokenizer::~SentencePieceTokenizer() = default;

absl::StatusOr<std::unique_ptr<Tokenizer>> SentencePieceTokenizer::FromSerialized(
    absl::string_view model) {
  auto loaded = std::make_unique<SentencePieceModel>();
  std::string error = "its character map is broken";
  if (!CharsmapsAreSound(model) || !loaded->Load(model.data(), model.size(), &error)) {
    return absl::InvalidArgumentError(
        absl::StrCat("not a whole SentencePiece model (", error, "); download it again"));
  }
  return std::unique_ptr<Tokenizer>(new SentencePieceTokenizer(std::move(loaded)));
}

absl::StatusOr<std::vector<std::string>> SentencePieceTokenizer::Encode(
    absl::string_view text) const {
  std::vector<std::string> pieces;
  std::string error;
  if (!model_->Encode(text.data(), text.size(), &pieces, &error)) {
    return absl::InternalError(absl::StrCat("SentencePiece cannot encode a line: ", error));
  }
  return pieces;
}

absl::StatusOr<std::string> SentencePieceTokenizer::Decode(
    absl::Span<const std::string> pieces) const {
  std::string text;
  std::string error;
  if (!model_->Decode({pieces.begin(), pieces.end()}, &text, &error)) {
    return absl::InternalError(absl::StrCat("SentencePiece cannot decode a line: ", error));
  }
  return text;
}

}  // namespace nibu
