// Tests of SoloThreads, which measures whether threads make the steps of a single sentence faster.
// Threads: the thread sanitizer runs this file.
#include "engine/schedule/solo_threads.h"

#include "gtest/gtest.h"

namespace nibu::internal {
namespace {

struct Outcome {
  int with_threads = 0;  // the number of steps with threads
  double seconds = 0;
};

// Simulates steps on a machine on which they take `with` or `without` threads so many seconds.
Outcome Steps(SoloThreads* solo, int steps, double with, double without) {
  Outcome outcome;
  for (int i = 0; i < steps; ++i) {
    const bool threads = solo->Next();
    const double seconds = threads ? with : without;
    outcome.with_threads += threads ? 1 : 0;
    outcome.seconds += seconds;
    solo->Took(seconds);
  }
  return outcome;
}

TEST(SoloThreadsTest, FindsWhatIsFaster) {
  SoloThreads good;
  EXPECT_FALSE(good.pay());
  EXPECT_GE(Steps(&good, 20, 0.6, 1.0).with_threads, 17);  // as many as a short sentence has
  EXPECT_TRUE(good.pay());
  EXPECT_GE(Steps(&good, 1280, 0.6, 1.0).with_threads, 1200);
  SoloThreads bad;
  EXPECT_LE(Steps(&bad, 20, 1.3, 1.0).with_threads, 4);
  EXPECT_LE(Steps(&bad, 1280, 1.3, 1.0).with_threads, 20);
  EXPECT_FALSE(bad.pay());
}

// Threads that are descheduled make others wait for them, which is hopelessly slow.
TEST(SoloThreadsTest, TriesWhatIsHopelessSeldom) {
  SoloThreads solo;
  EXPECT_EQ(Steps(&solo, 20, 100, 1).with_threads, 1);
  EXPECT_LT(Steps(&solo, 20000, 100, 1).seconds, 1.1 * 20000);
}

TEST(SoloThreadsTest, FollowsChanges) {
  SoloThreads solo;
  Steps(&solo, 200, 0.6, 1.0);
  EXPECT_TRUE(solo.pay());
  EXPECT_LE(Steps(&solo, 100, 100, 1.0).with_threads, 3);  // Other programs take the cores.
  EXPECT_FALSE(solo.pay());
  Steps(&solo, 1000, 0.6, 1.0);  // They have ended.
  EXPECT_TRUE(solo.pay());
}

TEST(SoloThreadsTest, AFirstStepDoesNotCount) {
  SoloThreads solo;
  EXPECT_FALSE(solo.Next());
  solo.Took(100);
  EXPECT_FALSE(solo.Next());
  solo.Took(1.0);
  EXPECT_TRUE(solo.Next());
  solo.Took(10);
  EXPECT_GE(Steps(&solo, 20, 0.6, 1.0).with_threads, 20);
}

}  // namespace
}  // namespace nibu::internal
