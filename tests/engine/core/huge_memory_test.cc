// Tests of AllocateHuge: aligned pieces that do not overlap, on one thread and on several.
// Threads: the thread sanitizer runs this file.
#include "engine/core/huge_memory.h"

#include <cstdint>
#include <cstring>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace nibu::internal {
namespace {

// Pieces of all sizes, more than fit into one block, do not overlap and outlive each other.
TEST(HugeMemoryTest, PiecesAreAlignedAndApart) {
  std::vector<std::pair<std::shared_ptr<char>, size_t>> pieces;
  const auto check = [&] {
    for (const auto& [memory, size] : pieces) {
      ASSERT_EQ(reinterpret_cast<uintptr_t>(memory.get()) % 64, 0u);
      for (const size_t at : {size_t{0}, size / 2, size - 1}) {
        ASSERT_EQ(memory.get()[at], static_cast<char>(size)) << size;
      }
    }
  };
  for (size_t i = 0; i < 60; ++i) {
    const size_t size = i == 30 ? size_t{50} << 20 : 1 + i * 40'001;
    pieces.emplace_back(AllocateHuge(size), size);
    std::memset(pieces.back().first.get(), static_cast<char>(size), size);
  }
  check();
  for (int i = 0; i < 20; ++i) pieces.erase(pieces.begin() + 2 * i);
  check();
  EXPECT_NE(AllocateHuge(0), nullptr);
}

// An allocation that fails leaves the block of other pieces as it was.
TEST(HugeMemoryTest, SurvivesAFailure) {
  constexpr size_t kSize = size_t{1} << 20;
  std::vector<std::shared_ptr<char>> pieces = {AllocateHuge(kSize)};
  EXPECT_THROW(AllocateHuge(size_t{1} << 47), std::bad_alloc);
  while (pieces.size() < 80) pieces.push_back(AllocateHuge(kSize));
  for (size_t i = 0; i < pieces.size(); ++i) {
    std::memset(pieces[i].get(), static_cast<char>(i), kSize);
  }
  for (size_t i = 0; i < pieces.size(); ++i) {
    EXPECT_EQ(pieces[i].get()[0], static_cast<char>(i));
    EXPECT_EQ(pieces[i].get()[kSize - 1], static_cast<char>(i));
  }
}

TEST(HugeMemoryTest, ThreadsGetMemoryOfTheirOwn) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < 200; ++i) {
        const std::shared_ptr<char> memory = AllocateHuge(5000);
        std::memset(memory.get(), t, 5000);
        EXPECT_EQ(memory.get()[4999], t);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace nibu::internal
