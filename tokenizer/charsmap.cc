#include "tokenizer/charsmap.h"

#include <cstdint>
#include <cstring>

namespace nibu {
namespace {

bool ReadVarint(absl::string_view* bytes, uint64_t* value) {
  *value = 0;
  for (int shift = 0; shift < 64 && !bytes->empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(bytes->front());
    bytes->remove_prefix(1);
    *value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return true;
  }
  return false;
}

// Calls f(number, contents) for every field of a message that has a length, until f returns false.
template <typename F>
bool EachField(absl::string_view message, F f) {
  while (!message.empty()) {
    uint64_t key;
    uint64_t size = 0;
    if (!ReadVarint(&message, &key)) return false;
    switch (key & 7) {
      case 0:
        if (!ReadVarint(&message, &size)) return false;
        continue;
      case 1:
        size = 8;
        break;
      case 2:
        if (!ReadVarint(&message, &size)) return false;
        break;
      case 5:
        size = 4;
        break;
      default:
        return false;
    }
    if (size > message.size()) return false;
    const absl::string_view contents = message.substr(0, size);
    message.remove_prefix(size);
    if ((key & 7) == 2 && !f(key >> 3, contents)) return false;
  }
  return true;
}

bool CharsmapIsSound(absl::string_view map) {
  if (map.empty()) return true;  // nothing is replaced
  uint32_t trie_bytes;
  if (map.size() < sizeof(trie_bytes)) return false;
  std::memcpy(&trie_bytes, map.data(), sizeof(trie_bytes));
  map.remove_prefix(sizeof(trie_bytes));
  if (trie_bytes == 0 || trie_bytes % 4 != 0 || trie_bytes >= map.size()) return false;
  const size_t units = trie_bytes / 4;
  const size_t replacements = map.size() - trie_bytes;
  const auto unit = [&](size_t i) {
    uint32_t value;
    std::memcpy(&value, map.data() + 4 * i, sizeof(value));
    return value;
  };
  for (size_t i = 0; i < units; ++i) {
    const uint32_t node = unit(i);
    if (i > 0 && (node >> 31) != 0) continue;  // a value
    const uint32_t offset = (node >> 10) << ((node & 0x200) >> 6);
    const size_t children = i ^ offset;
    if ((children | 0xff) >= units) return false;
    if ((node & 0x100) != 0 && (unit(children) & 0x7fffffff) >= replacements) return false;
  }
  return true;
}

}  // namespace

bool CharsmapsAreSound(absl::string_view model) {
  return EachField(model, [](uint64_t number, absl::string_view field) {
    if (number != 3 && number != 5) return true;
    return EachField(field, [](uint64_t inner, absl::string_view map) {
      return inner != 2 || CharsmapIsSound(map);
    });
  });
}

}  // namespace nibu
