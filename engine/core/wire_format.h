// Reads the wire format of protocol buffers, as far as SentencePiece's models need it. A message is
// a sequence of fields: a varint (number << 3 | wire type), then the value, which is a varint (wire
// type 0), eight bytes (1), a varint length and so many bytes (2), or four bytes (5).
#ifndef NIBU_ENGINE_CORE_WIRE_FORMAT_H_
#define NIBU_ENGINE_CORE_WIRE_FORMAT_H_

#include <algorithm>
#include <cstdint>

#include "absl/strings/string_view.h"

namespace nibu::internal {

struct WireField {
  uint64_t number = 0;
  bool is_bytes = false;    // the wire type is 2
  absl::string_view bytes;  // the value's bytes; empty for a varint
};

// Takes a varint off the front of `bytes`. Returns false if they hold no whole varint.
inline bool ReadVarint(absl::string_view* bytes, uint64_t* value) {
  *value = 0;
  for (int shift = 0; shift < 64 && !bytes->empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(bytes->front());
    bytes->remove_prefix(1);
    *value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return true;
  }
  return false;
}

// Calls use(field) for every field of a message. Stops and returns false if that returns false, or
// if the bytes are no whole message.
template <typename F>
bool EachField(absl::string_view message, F use) {
  while (!message.empty()) {
    uint64_t key = 0;
    uint64_t size = 0;
    if (!ReadVarint(&message, &key)) return false;
    const uint64_t type = key & 7;
    if ((type == 0 || type == 2) && !ReadVarint(&message, &size)) return false;
    if (type == 0) size = 0;
    if (type == 1) size = 8;
    if (type == 5) size = 4;
    if ((type > 2 && type != 5) || size > message.size()) return false;
    if (!use(WireField{key >> 3, type == 2, message.substr(0, size)})) return false;
    message.remove_prefix(size);
  }
  return true;
}

// Returns true if bytes begin like a text, and not like a message whose first field is number 1
// with bytes, as a SentencePiece model's is: the key of that field is a line feed.
inline bool BeginsLikeText(absl::string_view bytes) {
  const absl::string_view front = bytes.substr(0, 100);
  return !front.empty() && front[0] != '\n' &&
         std::none_of(front.begin(), front.end(), [](unsigned char c) {
           return c < ' ' && c != '\t' && c != '\r' && c != '\n';
         });
}

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_CORE_WIRE_FORMAT_H_
