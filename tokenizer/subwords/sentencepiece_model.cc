// The only file that includes SentencePiece's header; see sentencepiece_model.h.
#include "tokenizer/subwords/sentencepiece_model.h"

#include <sentencepiece_processor.h>

#include <cassert>
#include <exception>
#include <new>

namespace nibu::internal {

struct SentencePieceModel::Impl {
  sentencepiece::SentencePieceProcessor processor;
};

SentencePieceModel::SentencePieceModel() : impl_(std::make_unique<Impl>()) {}
SentencePieceModel::~SentencePieceModel() = default;

namespace {

// Runs f, which returns SentencePiece's status. Its exceptions become errors, except
// std::bad_alloc, which passes.
template <typename F>
bool Run(F f, std::string* error) {
  try {
    const sentencepiece::util::Status status = f();
    if (!status.ok()) *error = status.ToString();
    return status.ok();
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& e) {
    *error = e.what();
    return false;
  }
}

void AppendSpans(const sentencepiece::ImmutableSentencePieceText& text,
                 std::vector<TextSpan>* spans) {
  for (const auto& piece : text.pieces()) spans->push_back({piece.begin(), piece.end()});
}

}  // namespace

bool SentencePieceModel::Load(const char* bytes, size_t size, std::string* error) {
  return Run([&] { return impl_->processor.LoadFromSerializedProto({bytes, size}); }, error);
}

int SentencePieceModel::size() const { return impl_->processor.GetPieceSize(); }

const std::string& SentencePieceModel::Piece(int id) const {
  assert(0 <= id && id < size());  // not ABSL_ASSERT: see the header
  return impl_->processor.IdToPiece(id);
}

bool SentencePieceModel::Encode(const char* text, size_t size, std::vector<std::string>* pieces,
                                std::vector<TextSpan>* spans, std::string* error) const {
  sentencepiece::ImmutableSentencePieceText encoded;
  if (!Run([&] { return impl_->processor.Encode({text, size}, encoded.mutable_proto()); }, error)) {
    return false;
  }
  for (const auto& piece : encoded.pieces()) pieces->push_back(piece.piece());
  AppendSpans(encoded, spans);
  return true;
}

bool SentencePieceModel::Decode(const std::vector<std::string>& pieces, std::string* text,
                                std::vector<TextSpan>* spans, std::string* error) const {
  sentencepiece::ImmutableSentencePieceText decoded;
  if (!Run([&] { return impl_->processor.Decode(pieces, decoded.mutable_proto()); }, error)) {
    return false;
  }
  *text = decoded.text();
  AppendSpans(decoded, spans);
  return true;
}

}  // namespace nibu::internal
