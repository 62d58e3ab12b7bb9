// Tests of the heap in blocks of huge pages: its pieces do not overlap, are joined again once they
// are given back, and running out of memory is an exception.
// Threads: the thread sanitizer runs this file.
#include "engine/core/huge_heap.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>
#include <random>
#include <vector>

#include "engine/core/huge_memory.h"
#include "gtest/gtest.h"

namespace nibu::internal {
namespace {

// Pieces of many sizes that come and go do not overlap, and keep their bytes.
TEST(HugeHeapTest, PiecesAreApart) {
  std::mt19937 random(1);
  HugeHeap heap;
  struct Held {
    MemoryPiece piece;
    size_t bytes = 0;
  };
  std::vector<Held> held(40);
  for (size_t round = 0; round < 5000; ++round) {
    Held& one = held[random() % held.size()];
    for (size_t i = 0; i < one.bytes; i += std::max<size_t>(one.bytes / 5, 1)) {
      ASSERT_EQ(one.piece.get()[i], static_cast<char>(one.bytes)) << round;
    }
    one.piece = nullptr;
    one.bytes = 0;
    if (round % 3 == 0) continue;
    one.bytes = random() % (round % 50 == 0 ? 10'000'000 : 100'000);
    one.piece = TakePiece(&heap, one.bytes);
    ASSERT_EQ(reinterpret_cast<uintptr_t>(one.piece.get()) % 64, 0u);
    std::memset(one.piece.get(), static_cast<int>(one.bytes), one.bytes);
  }
}

TEST(HugeHeapTest, GivenBackInAnyOrderItIsOneAgain) {
  HugeHeap heap;
  std::mt19937 random(2);
  constexpr size_t kSize = 100'000;
  std::vector<MemoryPiece> pieces;
  pieces.reserve(70);
  for (int i = 0; i < 70; ++i) pieces.push_back(TakePiece(&heap, kSize));  // less than a block
  const char* const first = pieces[0].get();
  for (int round = 0; round < 100; ++round) {
    std::shuffle(pieces.begin(), pieces.end(), random);
    pieces.clear();
    const MemoryPiece all = TakePiece(&heap, 70 * kSize);
    ASSERT_EQ(all.get(), first) << round;
    std::memset(all.get(), round, 70 * kSize);
    pieces.push_back(nullptr);
    while (pieces.size() < 10) pieces.push_back(TakePiece(&heap, random() % kSize));
  }
}

TEST(HugeHeapTest, SaysWhenThereIsNone) {
  HugeHeap heap;
  const MemoryPiece piece = TakePiece(&heap, 1000);
  EXPECT_THROW(TakePiece(&heap, size_t{1} << 62), std::bad_alloc);
  EXPECT_THROW(TakePiece(&heap, SIZE_MAX), std::bad_alloc);
  EXPECT_THROW((void)heap.allocate(64, 128), std::bad_alloc);
  const MemoryPiece other = TakePiece(&heap, 1000);
  std::memset(piece.get(), 1, 1000);
  std::memset(other.get(), 2, 1000);
  EXPECT_EQ(piece.get()[999], 1);
}

}  // namespace
}  // namespace nibu::internal
