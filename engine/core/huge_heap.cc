// Allocation and deallocation in the steps that huge_heap.h lists.
#include "engine/core/huge_heap.h"

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
constexpr size_t kLine = 64;

// Step 1 of an allocation: returns the bytes that a piece takes up, whole cache lines. A
// deallocation rounds in the same way. The limit keeps the sum from overflowing.
size_t RoomOf(size_t bytes) {
  if (bytes > SIZE_MAX / 2) throw std::bad_alloc();
  return (std::max<size_t>(bytes, 1) + kLine - 1) / kLine * kLine;
}

}  // namespace

void* HugeHeap::do_allocate(size_t bytes, size_t alignment) {
  if (alignment > kLine) throw std::bad_alloc();
  const size_t room = RoomOf(bytes);
  // Step 4. `at` points to the pointer to the range, so that the list can be changed there.
  const auto cut = [room](Range** at) -> void* {
    Range* const range = *at;
    if (range->bytes == room) {
      *at = range->next;
    } else {
      char* const rest = reinterpret_cast<char*>(range) + room;
      *at = new (rest) Range{range->next, range->bytes - room};
    }
    return range;
  };
  // Step 2.
  Range** best = nullptr;
  for (Block& block : blocks_) {
    for (Range** at = &block.first; *at != nullptr; at = &(*at)->next) {
      const size_t there = (*at)->bytes;
      if (there >= room && (best == nullptr || there < (*best)->bytes)) best = at;
    }
  }
  if (best != nullptr) return cut(best);
  // Step 3.
  blocks_.reserve(blocks_.size() + 1);  // so that nothing throws once the block is mapped
  const size_t block = std::max(room, kBlock);
  std::shared_ptr<char> memory = MapHuge(block);
  Range* const all = new (memory.get()) Range{nullptr, block};
  blocks_.push_back({std::move(memory), block, all});
  return cut(&blocks_.back().first);
}

void HugeHeap::do_deallocate(void* piece, size_t bytes, size_t /*alignment*/) noexcept {
  // Step 1.
  char* const start = static_cast<char*>(piece);
  const auto block = absl::c_find_if(blocks_, [start](const Block& b) {
    return start >= b.memory.get() && start < b.memory.get() + b.bytes;
  });
  // Step 2: `before` and `after` are the free ranges on both sides of the piece, null for none.
  Range* before = nullptr;
  Range* after = block->first;
  while (after != nullptr && reinterpret_cast<char*>(after) < start) {
    before = after;
    after = after->next;
  }
  auto* range = new (piece) Range{after, RoomOf(bytes)};
  if (after != nullptr && reinterpret_cast<char*>(after) == range->end()) {
    *range = {after->next, range->bytes + after->bytes};
  }
  if (before == nullptr) {
    block->first = range;
  } else if (before->end() == start) {
    *before = {range->next, before->bytes + range->bytes};
  } else {
    before->next = range;
  }
  // Step 3.
  if (block->is_free() &&
      absl::c_count_if(blocks_, [](const Block& b) { return b.is_free(); }) > 1) {
    blocks_.erase(block);
  }
}

std::pmr::memory_resource* WatchedBySanitizers([[maybe_unused]] HugeHeap* heap) {
#ifdef ABSL_HAVE_ADDRESS_SANITIZER
  return std::pmr::new_delete_resource();
#else
  return heap;
#endif
}

void GiveBack::operator()(char* piece) const noexcept { resource->deallocate(piece, bytes, kLine); }

MemoryPiece TakePiece(std::pmr::memory_resource* resource, size_t bytes) {
  return {static_cast<char*>(resource->allocate(bytes, kLine)), GiveBack{resource, bytes}};
}

}  // namespace nibu::internal
