#include "engine/job_queue.h"

#include <atomic>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace nibu {
namespace {

Job MakeJob(size_t length) { return {std::vector<int>(length, 1), nullptr}; }

std::vector<size_t> Lengths(const std::vector<Job>& jobs) {
  std::vector<size_t> lengths;
  for (const Job& job : jobs) lengths.push_back(job.source.size());
  return lengths;
}

constexpr size_t kAny = 1000000;

TEST(JobQueueTest, TheLongestOfAWindowComesFirst) {
  JobQueue queue(1);
  for (size_t length : {3, 7, 5, 7}) queue.Push(MakeJob(length));
  EXPECT_EQ(Lengths(queue.Take(3, kAny, true)), std::vector<size_t>({7, 7, 5}));
  EXPECT_EQ(Lengths(queue.Take(3, kAny, true)), std::vector<size_t>({3}));
  EXPECT_TRUE(queue.Take(3, kAny, false).empty());
}

TEST(JobQueueTest, WindowsComeInOrder) {
  JobQueue queue(1);
  for (int i = 0; i < 300; ++i) queue.Push(MakeJob(1));
  queue.Push(MakeJob(50));  // long, but of a later window
  const std::vector<Job> first = queue.Take(256, kAny, true);
  for (const Job& job : first) EXPECT_EQ(job.source.size(), 1u);
  EXPECT_EQ(Lengths(queue.Take(1, kAny, true)), std::vector<size_t>({50}));
}

TEST(JobQueueTest, KeepsToTheTokensButNeverStarves) {
  JobQueue queue(1);
  for (size_t length : {9, 5, 4, 2}) queue.Push(MakeJob(length));
  EXPECT_TRUE(queue.Take(4, 8, false).empty());
  EXPECT_EQ(Lengths(queue.Take(4, 8, true)), std::vector<size_t>({9}));
  EXPECT_EQ(Lengths(queue.Take(4, 10, true)), std::vector<size_t>({5, 4}));
}

TEST(JobQueueTest, FewJobsAreSharedOut) {
  JobQueue queue(3);
  for (int i = 0; i < 6; ++i) queue.Push(MakeJob(1));
  EXPECT_EQ(queue.Take(32, kAny, true).size(), 2u);
  EXPECT_EQ(queue.Take(32, kAny, true).size(), 2u);
  EXPECT_EQ(queue.Take(32, kAny, true).size(), 1u);
  EXPECT_EQ(queue.Take(32, kAny, true).size(), 1u);
}

TEST(JobQueueTest, ASingleJobIsLeftToThePreferredWorker) {
  JobQueue queue(2);
  std::atomic<int> preferred_got{0};
  std::thread preferred([&] {
    while (!queue.Take(1, kAny, true, /*preferred=*/true).empty()) ++preferred_got;
  });
  std::thread other([&] {
    while (!queue.Take(1, kAny, true).empty()) {
    }
  });
  for (int i = 1; i <= 50; ++i) {
    queue.AwaitIdle();
    EXPECT_FALSE(queue.Alone());
    queue.Push(MakeJob(1));
    queue.AwaitIdle();
    EXPECT_EQ(preferred_got, i);
  }
  queue.Close();
  preferred.join();
  other.join();
}

TEST(JobQueueTest, WaitsForAJobOrTheEnd) {
  JobQueue queue(1);
  std::vector<size_t> taken;
  std::thread worker([&] {
    for (std::vector<Job> jobs; !(jobs = queue.Take(1, kAny, true)).empty();) {
      taken.push_back(jobs[0].source.size());
    }
  });
  queue.Push(MakeJob(4));
  queue.Push(MakeJob(2));
  queue.Close();
  worker.join();
  EXPECT_EQ(taken.size(), 2u);
}

}  // namespace
}  // namespace nibu
