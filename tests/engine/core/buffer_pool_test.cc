#include "engine/core/buffer_pool.h"

#include <cstdint>
#include <cstring>
#include <random>
#include <set>
#include <vector>

#include "gtest/gtest.h"

namespace nibu {
namespace {

using Buffer = std::shared_ptr<AlignedBuffer<char>>;

// Those that are held do not overlap, whatever was let go before.
TEST(BufferPoolTest, HandsOutWhatNobodyHolds) {
  std::mt19937 random(1);
  BufferPool pool;
  std::vector<Buffer> held(6);
  std::set<const void*> seen;
  for (int round = 0; round < 500; ++round) {
    const size_t i = random() % held.size();
    held[i] = nullptr;
    if (round % 3 == 0) continue;
    const size_t bytes = random() % 5000;
    held[i] = pool.Take(bytes);
    ASSERT_GE(held[i]->size(), bytes);
    ASSERT_EQ(reinterpret_cast<uintptr_t>(held[i]->data()) % 64, 0u);
    std::memset(held[i]->data(), static_cast<int>(i), held[i]->size());
    seen.insert(held[i].get());
    for (size_t j = 0; j < held.size(); ++j) {
      for (size_t k = 0; held[j] != nullptr && k < held[j]->size(); ++k) {
        ASSERT_EQ((*held[j])[k], static_cast<char>(j)) << round;
      }
    }
  }
  EXPECT_LE(seen.size(), held.size());
}

TEST(BufferPoolTest, OutlivedByItsBuffers) {
  Buffer buffer;
  {
    BufferPool pool;
    buffer = pool.Take(100);
  }
  std::memset(buffer->data(), 1, 100);
}

}  // namespace
}  // namespace nibu
