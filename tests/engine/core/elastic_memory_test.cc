#include "engine/core/elastic_memory.h"

#include <cstdint>
#include <cstring>
#include <new>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace nibu {
namespace {

// All of every size can be written to, whatever the sizes before it, and pieces do not overlap.
TEST(ElasticMemoryTest, HasRoomForWhatWasAskedFor) {
  std::mt19937 random(1);
  ElasticMemory pieces[4];
  size_t sizes[4] = {};
  for (int round = 0; round < 400; ++round) {
    const size_t i = random() % 4;
    sizes[i] = round % 7 == 0 ? 0 : 1 + random() % 300'000;
    pieces[i].Resize(sizes[i]);
    ASSERT_EQ(pieces[i].data() == nullptr, sizes[i] == 0);
    ASSERT_EQ(reinterpret_cast<uintptr_t>(pieces[i].data()) % 64, 0u);
    if (sizes[i] > 0) std::memset(pieces[i].data(), static_cast<int>(i), sizes[i]);
    for (size_t j = 0; j < 4; ++j) {
      const std::vector<char> expected(sizes[j], static_cast<char>(j));
      ASSERT_TRUE(sizes[j] == 0 || std::memcmp(pieces[j].data(), expected.data(), sizes[j]) == 0)
          << round;
    }
  }
}

TEST(ElasticMemoryTest, SaysWhenThereIsNone) {
  ElasticMemory memory;
  memory.Resize(1000);
  EXPECT_THROW(memory.Resize(size_t{1} << 62), std::bad_alloc);
  EXPECT_EQ(memory.data(), nullptr);
  memory.Resize(1000);
  memory.data()[999] = 1;
}

}  // namespace
}  // namespace nibu
