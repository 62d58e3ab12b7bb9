#include "tokenizer/sentencepiece_model.h"

#include <sentencepiece_processor.h>

#include <exception>

namespace nibu {

struct SentencePieceModel::Impl {
  sentencepiece::SentencePieceProcessor processor;
};

SentencePieceModel::SentencePieceModel() : impl_(std::make_unique<Impl>()) {}
SentencePieceModel::~SentencePieceModel() = default;

namespace {

// Runs f, which returns SentencePiece's status, and keeps its exceptions here.
template <typename F>
bool Run(F f, std::string* error) {
  try {
    const sentencepiece::util::Status status = f();
    if (!status.ok()) *error = status.ToString();
    return status.ok();
  } catch (const std::exception& e) {
    *error = e.what();
    return false;
  }
}

}  // namespace

bool SentencePieceModel::Load(const char* bytes, size_t size, std::string* error) {
  return Run([&] { return impl_->processor.LoadFromSerializedProto({bytes, size}); }, error);
}

int SentencePieceModel::size() const { return impl_->processor.GetPieceSize(); }

const std::string& SentencePieceModel::Piece(int id) const {
  return impl_->processor.IdToPiece(id);
}

bool SentencePieceModel::Encode(const char* text, size_t size, std::vector<std::string>* pieces,
                                std::string* error) const {
  return Run([&] { return impl_->processor.Encode({text, size}, pieces); }, error);
}

bool SentencePieceModel::Decode(const std::vector<std::string>& pieces, std::string* text,
                                std::string* error) const {
  return Run([&] { return impl_->processor.Decode(pieces, text); }, error);
}

}  // namespace nibu
