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

// Pieces of sizes that come and go do not overlap, and all of what they were is there for the next.
TEST(HugeHeapTest, PiecesAreApart) {
  std::mt19937 random(1);
  HugeHeap heap;
  struct Held {
    HugeHeap::Piece piece;
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
    one.piece = heap.Take(one.bytes);
    ASSERT_EQ(reinterpret_cast<uintptr_t>(one.piece.get()) % 64, 0u);
    std::memset(one.piece.get(), static_cast<int>(one.bytes), one.bytes);
  }
}

TEST(HugeHeapTest, GivenBackInAnyOrderItIsOneAgain) {
  HugeHeap heap;
  std::mt19937 random(2);
  constexpr size_t kSize = 100'000;
  std::vector<HugeHeap::Piece> pieces;
  pieces.reserve(70);
  for (int i = 0; i < 70; ++i) pieces.push_back(heap.Take(kSize));  // less than a block
  const char* const first = pieces[0].get();
  for (int round = 0; round < 100; ++round) {
    std::shuffle(pieces.begin(), pieces.end(), random);
    pieces.clear();
    const HugeHeap::Piece all = heap.Take(70 * kSize);
    ASSERT_EQ(all.get(), first) << round;
    std::memset(all.get(), round, 70 * kSize);
    pieces.push_back(nullptr);
    while (pieces.size() < 10) pieces.push_back(heap.Take(random() % kSize));
  }
}

// Addresses that went back to the system are whoever's gets them next: a sanitizer says if not.
TEST(HugeHeapTest, ForbidsNothingAfterItsEnd) {
  for (int round = 0; round < 10; ++round) {
    {
      HugeHeap heap;
      const HugeHeap::Piece piece = heap.Take(1000);
    }
    constexpr size_t kSize = size_t{8} << 20;
    std::memset(MapHuge(kSize).get(), round, kSize);
  }
}

TEST(HugeHeapTest, SaysWhenThereIsNone) {
  HugeHeap heap;
  const HugeHeap::Piece piece = heap.Take(1000);
  EXPECT_THROW(heap.Take(size_t{1} << 62), std::bad_alloc);
  EXPECT_THROW(heap.Take(SIZE_MAX), std::bad_alloc);
  const HugeHeap::Piece other = heap.Take(1000);
  std::memset(piece.get(), 1, 1000);
  std::memset(other.get(), 2, 1000);
  EXPECT_EQ(piece.get()[999], 1);
}

}  // namespace
}  // namespace nibu::internal
