// Tests how a limit is divided among clients.
#include "tools/serve/share.h"

#include <algorithm>
#include <map>
#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace nibu::internal {
namespace {

// Takes 1 after the other for a client, and returns how often that was possible.
size_t TakeAll(const std::string& client, ClientShares* shares) {
  size_t count = 0;
  while (shares->Take(client, 1)) ++count;
  return count;
}

TEST(ClientSharesTest, EachClientLeavesAsMuchFreeAsItHolds) {
  ClientShares shares(1024);
  EXPECT_EQ(TakeAll("a", &shares), 512u);
  EXPECT_EQ(TakeAll("b", &shares), 256u);
  EXPECT_EQ(TakeAll("c", &shares), 128u);
  EXPECT_EQ(shares.held(), 896u);
  EXPECT_EQ(shares.HeldBy("b"), 256u);
  // A proxy stands for many clients.
  EXPECT_EQ(TakeAll("", &shares), 128u);
  EXPECT_FALSE(shares.Take("d", 1));
  shares.Release("", 128);
  shares.Release("a", 512);
  EXPECT_EQ(shares.HeldBy("a"), 0u);
  EXPECT_EQ(shares.free(), 640u);
  EXPECT_FALSE(shares.Take("d", 321));
  EXPECT_TRUE(shares.Take("d", 320));
}

TEST(ClientSharesTest, NobodyIsLeftWithoutAShareWhileThereIsRoom) {
  ClientShares shares(3);
  EXPECT_EQ(TakeAll("a", &shares), 1u);
  EXPECT_EQ(TakeAll("b", &shares), 1u);
  EXPECT_EQ(TakeAll("c", &shares), 1u);
  EXPECT_EQ(TakeAll("d", &shares), 0u);
  shares.SetLimit(2);
  EXPECT_EQ(shares.free(), 0u);
  shares.Release("a", 1);
  shares.Release("b", 1);
  EXPECT_TRUE(shares.Take("d", 1));
}

// Whatever clients take and give back, the sums are right and the limit holds.
TEST(ClientSharesTest, CountsWhatIsHeld) {
  constexpr size_t kLimit = 1000;
  ClientShares shares(kLimit);
  std::map<std::string, size_t> expected;
  std::mt19937 random(1);
  for (int i = 0; i < 10'000; ++i) {
    const std::string client = i % 7 == 0 ? "" : absl::StrCat("client", random() % 5);
    size_t& own = expected[client];
    const size_t amount = random() % 300;
    if (random() % 2 == 0) {
      const size_t back = std::min(amount, own);
      shares.Release(client, back);
      own -= back;
    } else if (shares.Take(client, amount)) {
      own += amount;
      EXPECT_TRUE(client.empty() || own <= std::max<size_t>(shares.free(), 1));
    }
    size_t sum = 0;
    for (const auto& [name, held] : expected) {
      EXPECT_EQ(shares.HeldBy(name), held);
      sum += held;
    }
    ASSERT_EQ(shares.held(), sum);
    ASSERT_LE(sum, kLimit);
  }
}

}  // namespace
}  // namespace nibu::internal
