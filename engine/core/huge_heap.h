// A memory resource for what comes and goes with a sentence: keys, values, shortlist outputs. It
// cuts pieces from blocks of huge pages by best fit, with a list of free ranges inside each block:
//
//   block 0   | piece | Range ..... | piece | piece | Range .......... |    first -> Range -> Range
//   block 1   | Range ............................................... |    first -> Range
//
// To allocate:
//  1. Round the size up to whole cache lines of 64 bytes, each of which has room for a Range.
//  2. Find the smallest free range of all blocks that is large enough.
//  3. If there is none, map a new block of 8 MB, or of the piece's size if that is larger.
//  4. Cut the piece from the front of the range; the rest stays a free range.
//
// To deallocate:
//  1. Find the block by the address.
//  2. Insert the piece into the block's ranges, which ascend, and join it with the free ranges that
//     it touches.
//  3. If the whole block is free and another one is, too, give it back to the system. One free
//     block is kept, so that sentences that come and go do not map it again and again.
//
// Both take time linear in the number of blocks and ranges. There are few, since pieces are large:
// eight positions of keys and values have tens to hundreds of kilobytes.
#ifndef NIBU_ENGINE_CORE_HUGE_HEAP_H_
#define NIBU_ENGINE_CORE_HUGE_HEAP_H_

#include <cstddef>
#include <memory>
#include <memory_resource>
#include <vector>

namespace nibu::internal {

// Every decoder step reads tens of megabytes of keys and values; with 4 KB pages it would spend its
// time on TLB misses. Memory is 64-byte aligned and not initialized. Throws std::bad_alloc for a
// larger alignment, or if the system has no memory; the heap is then as it was. deallocate never
// fails. Not thread-safe; neither copied nor moved.
class HugeHeap final : public std::pmr::memory_resource {
 public:
  HugeHeap() = default;
  HugeHeap(const HugeHeap&) = delete;
  HugeHeap& operator=(const HugeHeap&) = delete;

 private:
  // Stands at the start of each free range. A block's ranges ascend by address, and none touches
  // the next one.
  struct Range {
    Range* next;   // null: the last one of the block
    size_t bytes;  // of the range, this header included
    char* end() { return reinterpret_cast<char*>(this) + bytes; }
  };
  struct Block {
    std::shared_ptr<char> memory;
    size_t bytes;
    Range* first;  // null: nothing is free
    bool is_free() const { return first != nullptr && first->bytes == bytes; }
  };

  void* do_allocate(size_t bytes, size_t alignment) override;
  void do_deallocate(void* piece, size_t bytes, size_t alignment) noexcept override;
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }

  std::vector<Block> blocks_;
};

// Returns `heap`. In a build with the address sanitizer, which cannot see the borders of the heap's
// pieces, it returns the resource of new and delete instead.
std::pmr::memory_resource* WatchedBySanitizers(HugeHeap* heap);

// The deleter of MemoryPiece, which owns memory from `resource` and gives it back. The resource
// outlives it.
struct GiveBack {
  std::pmr::memory_resource* resource;
  size_t bytes;
  void operator()(char* piece) const noexcept;
};
using MemoryPiece = std::unique_ptr<char, GiveBack>;

// Returns `bytes` bytes, 64-byte aligned and not initialized. Throws std::bad_alloc.
MemoryPiece TakePiece(std::pmr::memory_resource* resource, size_t bytes);

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_CORE_HUGE_HEAP_H_
