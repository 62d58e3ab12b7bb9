// Memory in huge pages for what comes and goes.
#ifndef NIBU_ENGINE_CORE_HUGE_HEAP_H_
#define NIBU_ENGINE_CORE_HUGE_HEAP_H_

#include <cstddef>
#include <memory>
#include <vector>

namespace nibu::internal {

// Pieces of blocks of huge pages, by best fit: keys and values of many sentences lie
// in tens of MB, of which each step reads all, and with pages of 4 KB it waits for their addresses.
// Blocks that are free go back to the system, but for one. Not thread-safe; neither copied nor
// moved.
class HugeHeap {
 public:
  struct Give {
    HugeHeap* heap;
    size_t bytes;
    void operator()(char* piece) const noexcept { heap->Put(piece, bytes); }
  };
  // Null: nothing. The heap outlives it.
  using Piece = std::unique_ptr<char, Give>;

  HugeHeap() = default;
  HugeHeap(const HugeHeap&) = delete;
  HugeHeap& operator=(const HugeHeap&) = delete;

  // `bytes` bytes, 64-byte aligned, not initialized. Throws std::bad_alloc.
  Piece Take(size_t bytes);

 private:
  // At the start of each free range. They ascend, and none touches the next.
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

  void Put(char* piece, size_t bytes) noexcept;

  std::vector<Block> blocks_;
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_CORE_HUGE_HEAP_H_
