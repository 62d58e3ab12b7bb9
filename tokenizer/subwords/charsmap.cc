// Checks that no node or value of a character map points outside of it.
#include "tokenizer/subwords/charsmap.h"

#include <cstdint>
#include <cstring>

#include "engine/core/wire_format.h"

namespace nibu::internal {
namespace {

// Checks one map. All units count, whether a walk can reach them or not; unit 0, the root, is
// always a node.
bool CharsmapIsSound(absl::string_view map) {
  if (map.empty()) return true;  // nothing is replaced
  uint32_t trie_bytes;
  if (map.size() < sizeof(trie_bytes)) return false;
  std::memcpy(&trie_bytes, map.data(), sizeof(trie_bytes));
  map.remove_prefix(sizeof(trie_bytes));
  if (trie_bytes == 0 || trie_bytes % 4 != 0 || trie_bytes >= map.size()) return false;
  const size_t units = trie_bytes / 4;
  const size_t replacements = map.size() - trie_bytes;  // bytes
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
    // A child may be at any of 256 units, since a byte changes the lowest 8 bits of `children`.
    if ((children | 0xff) >= units) return false;
    if ((node & 0x100) != 0 && (unit(children) & 0x7fffffff) >= replacements) return false;
  }
  return true;
}

}  // namespace

bool CharsmapsAreSound(absl::string_view model) {
  return EachField(model, [](const WireField& normalizer) {
    if (!normalizer.is_bytes || (normalizer.number != 3 && normalizer.number != 5)) return true;
    return EachField(normalizer.bytes, [](const WireField& map) {
      return !map.is_bytes || map.number != 2 || CharsmapIsSound(map.bytes);
    });
  });
}

}  // namespace nibu::internal
