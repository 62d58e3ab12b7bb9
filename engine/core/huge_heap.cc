#include "engine/core/huge_heap.h"

#include <sanitizer/asan_interface.h>

#include <algorithm>
#include <cstdint>
#include <new>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/base/config.h"
#include "engine/core/huge_memory.h"

namespace nibu::internal {
namespace {

constexpr size_t kBlock = size_t{8} << 20;

// Of a piece: room for a Range, whole lines, and, where it is watched, one that nobody may touch.
size_t RoomOf(size_t bytes) {
  if (bytes > SIZE_MAX / 2) throw std::bad_alloc();
#ifdef ABSL_HAVE_ADDRESS_SANITIZER
  bytes += 64;
#endif
  return (std::max<size_t>(bytes, 1) + 63) / 64 * 64;
}

}  // namespace

HugeHeap::Piece HugeHeap::Take(size_t bytes) {
  const size_t room = RoomOf(bytes);
  const auto cut = [&](Range** at) {
    Range* const range = *at;
    if (range->bytes == room) {
      *at = range->next;
    } else {
      char* const rest = reinterpret_cast<char*>(range) + room;
      ASAN_UNPOISON_MEMORY_REGION(rest, sizeof(Range));
      *at = new (rest) Range{range->next, range->bytes - room};
    }
    ASAN_POISON_MEMORY_REGION(range, room);
    ASAN_UNPOISON_MEMORY_REGION(range, bytes);
    return Piece(reinterpret_cast<char*>(range), Give{this, bytes});
  };
  Range** best = nullptr;
  for (Block& block : blocks_) {
    for (Range** at = &block.first; *at != nullptr; at = &(*at)->next) {
      const size_t there = (*at)->bytes;
      if (there >= room && (best == nullptr || there < (*best)->bytes)) best = at;
    }
  }
  if (best != nullptr) return cut(best);
  blocks_.reserve(blocks_.size() + 1);
  const size_t block = std::max(room, kBlock);
  std::shared_ptr<char> memory = MapHuge(block);
  Range* const all = new (memory.get()) Range{nullptr, block};
  ASAN_POISON_MEMORY_REGION(memory.get() + sizeof(Range), block - sizeof(Range));
  blocks_.push_back({std::move(memory), block, all});
  return cut(&blocks_.back().first);
}

void HugeHeap::Put(char* piece, size_t bytes) noexcept {
  const auto block = absl::c_find_if(blocks_, [piece](const Block& b) {
    return piece >= b.memory.get() && piece < b.memory.get() + b.bytes;
  });
  const size_t room = RoomOf(bytes);
  ASAN_POISON_MEMORY_REGION(piece, room);
  ASAN_UNPOISON_MEMORY_REGION(piece, sizeof(Range));
  Range* before = nullptr;
  Range* after = block->first;
  while (after != nullptr && reinterpret_cast<char*>(after) < piece) {
    before = after;
    after = after->next;
  }
  auto* range = new (piece) Range{after, room};
  if (after != nullptr && reinterpret_cast<char*>(after) == range->end()) {
    *range = {after->next, range->bytes + after->bytes};
    ASAN_POISON_MEMORY_REGION(after, sizeof(Range));
  }
  if (before == nullptr) {
    block->first = range;
  } else if (before->end() == piece) {
    *before = {range->next, before->bytes + range->bytes};
    ASAN_POISON_MEMORY_REGION(range, sizeof(Range));
  } else {
    before->next = range;
  }
  if (block->is_free() &&
      absl::c_count_if(blocks_, [](const Block& b) { return b.is_free(); }) > 1) {
    blocks_.erase(block);
  }
}

}  // namespace nibu::internal
