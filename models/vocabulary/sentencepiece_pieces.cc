#include "models/vocabulary/sentencepiece_pieces.h"

#include "absl/strings/str_cat.h"
#include "engine/core/wire_format.h"
#include "models/files/errors.h"

namespace nibu {

absl::StatusOr<std::vector<std::string>> ReadSentencePieces(absl::string_view bytes,
                                                            const std::string& file) {
  std::vector<std::string> pieces;
  const bool whole = EachField(bytes, [&](const WireField& field) {
    if (field.number != 1) return true;
    bool has_text = false;
    return field.is_bytes &&
           EachField(field.bytes,
                     [&](const WireField& part) {
                       if (part.number != 1 || !part.is_bytes || has_text) return true;
                       has_text = true;
                       pieces.emplace_back(part.bytes);
                       return true;
                     }) &&
           has_text;
  });
  if (whole && !pieces.empty()) return pieces;
  return Invalid(file, ": not a whole SentencePiece model; download it again");
}

}  // namespace nibu
