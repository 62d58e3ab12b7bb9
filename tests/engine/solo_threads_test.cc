#include "engine/solo_threads.h"

#include "gtest/gtest.h"

namespace nibu {
namespace {

// How many of some steps used threads, of a machine on which they take so long.
int StepsWithThreads(SoloThreads* solo, int steps, double with, double without) {
  int count = 0;
  for (int i = 0; i < steps; ++i) {
    const bool threads = solo->Next();
    count += threads ? 1 : 0;
    solo->Took(threads ? with : without);
  }
  return count;
}

TEST(SoloThreadsTest, FindsWhatIsFaster) {
  SoloThreads good;
  EXPECT_TRUE(good.pay());
  EXPECT_GE(StepsWithThreads(&good, 20, 0.6, 1.0), 17);  // a short sentence
  EXPECT_GE(StepsWithThreads(&good, 1280, 0.6, 1.0), 1200);
  EXPECT_TRUE(good.pay());
  SoloThreads bad;
  EXPECT_LE(StepsWithThreads(&bad, 20, 1.3, 1.0), 4);
  EXPECT_LE(StepsWithThreads(&bad, 1280, 1.3, 1.0), 60);
  EXPECT_FALSE(bad.pay());
}

TEST(SoloThreadsTest, FollowsChanges) {
  SoloThreads solo;
  StepsWithThreads(&solo, 200, 0.6, 1.0);
  StepsWithThreads(&solo, 400, 1.3, 1.0);  // other programs came
  EXPECT_FALSE(solo.pay());
  StepsWithThreads(&solo, 1000, 0.6, 1.0);  // and went
  EXPECT_TRUE(solo.pay());
}

TEST(SoloThreadsTest, AFirstStepDoesNotCount) {
  SoloThreads solo;
  EXPECT_TRUE(solo.Next());
  solo.Took(100);
  EXPECT_GE(StepsWithThreads(&solo, 20, 0.6, 1.0), 16);
}

}  // namespace
}  // namespace nibu
