#include "models/vocabulary/sentencepiece_pieces.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "models/files/byte_reader.h"

namespace nibu {
namespace {

struct Field {
  uint64_t number = 0;
  bool is_bytes = false;
  absl::string_view bytes;  // of wire type 2
};

uint64_t ReadVarint(ByteReader* reader) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const auto byte = reader->Read<uint8_t>();
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return value;
  }
  reader->ReadBytes(~uint64_t{0});  // too long: the reader fails
  return 0;
}

bool ReadField(ByteReader* reader, Field* field) {
  const uint64_t key = ReadVarint(reader);
  field->number = key >> 3;
  field->is_bytes = (key & 7) == 2;
  switch (key & 7) {
    case 0:
      ReadVarint(reader);
      break;
    case 1:
      reader->ReadBytes(8);
      break;
    case 2:
      field->bytes = reader->ReadBytes(ReadVarint(reader));
      break;
    case 5:
      reader->ReadBytes(4);
      break;
    default:
      return false;
  }
  return reader->ok();
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ReadSentencePieces(absl::string_view bytes,
                                                            const std::string& file) {
  const absl::Status damaged = absl::InvalidArgumentError(
      absl::StrCat(file, ": not a whole SentencePiece model; download it again"));
  std::vector<std::string> pieces;
  ByteReader reader(bytes);
  while (reader.remaining() > 0) {
    Field field;
    if (!ReadField(&reader, &field)) return damaged;
    if (field.number != 1) continue;
    if (!field.is_bytes) return damaged;
    ByteReader piece(field.bytes);
    bool has_text = false;
    while (piece.remaining() > 0) {
      Field part;
      if (!ReadField(&piece, &part)) return damaged;
      if (part.number != 1 || !part.is_bytes || has_text) continue;
      has_text = true;
      pieces.emplace_back(part.bytes);
    }
    if (!has_text) return damaged;
  }
  if (pieces.empty()) return damaged;
  return pieces;
}

}  // namespace nibu
