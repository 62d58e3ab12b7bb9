// A memory resource for what comes and goes with a sentence: keys, values, shortlist outputs.
#ifndef NIBU_ENGINE_CORE_HUGE_HEAP_H_
#define NIBU_ENGINE_CORE_HUGE_HEAP_H_

#include <cstddef>
#include <memory>
#include <memory_resource>
#include <vector>

namespace nibu::internal {

// Allocates from 8 MB blocks of huge pages, best fit. Every decoder step reads tens of megabytes of
// keys and values; with 4 KB pages it would spend its time on TLB misses. Blocks that are free go
// back to the system, except for one. Memory is 64-byte aligned; a larger alignment, and memory
// that the system does not have, are std::bad_alloc. Not thread-safe; neither copied nor moved.
class HugeHeap final : public std::pmr::memory_resource {
 public:
  HugeHeap() = default;
  HugeHeap(const HugeHeap&) = delete;
  HugeHeap& operator=(const HugeHeap&) = delete;

 private:
  // Stands at the start of each free range. Ranges ascend, and none touches the next.
  struct Range {
    Range* next;
    size_t bytes;
    char* end() { return reinterpret_cast<char*>(this) + bytes; }
  };
  struct Block {
    std::shared_ptr<char> memory;
    size_t bytes;
    Range* first;
    bool is_free() const { return first != nullptr && first->bytes == bytes; }
  };

  void* do_allocate(size_t bytes, size_t alignment) override;
  void do_deallocate(void* piece, size_t bytes, size_t alignment) noexcept override;
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }

  std::vector<Block> blocks_;
};

// Returns `heap`, or, in a build with the address sanitizer, which cannot see the borders of the
// heap's pieces, the resource of new and delete.
std::pmr::memory_resource* WatchedBySanitizers(HugeHeap* heap);

// Memory from a resource, which outlives it. Null: none.
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
