// Tests of the job queue: the order of jobs by length and priority, its capacity, and jobs that are
// cancelled or late.
// Threads: the thread sanitizer runs this file.
#include "engine/schedule/job_queue.h"

#include <atomic>
#include <chrono>
#include <new>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "tests/engine/memory_hooks.h"

namespace nibu::internal {
namespace {

using std::chrono::nanoseconds;

constexpr size_t kAny = 1000000;

std::shared_ptr<Job> MakeJob(size_t length, int priority = 0, int beam_size = 1,
                             Job::Clock::time_point deadline = Job::Clock::time_point::max()) {
  DecodingOptions options;
  options.beam_size = beam_size;
  return std::make_shared<Job>(
      Request{.source = std::vector<int>(length, 1),
              .plan = std::make_shared<const SearchPlan>(options, SearchModel()),
              .priority = priority,
              .deadline = deadline},
      Done());
}

// A queue for `workers` whose methods take and return what the tests compare.
class TestQueue : public JobQueue {
 public:
  explicit TestQueue(int workers, size_t capacity = kAny) : JobQueue(workers, capacity) {}
  void Push(std::shared_ptr<Job> job) {
    EXPECT_TRUE(JobQueue::Push(std::move(job), nanoseconds(0)).ok());
  }
  std::vector<size_t> Take(size_t most, size_t tokens, bool wait, bool preferred = false) {
    return Take({most, tokens, kAny}, wait, preferred);
  }
  std::vector<size_t> Take(Room room, bool wait, bool preferred = false) {
    std::vector<size_t> lengths;
    for (JobList jobs = JobQueue::Take(room, wait, preferred); !jobs.empty();) {
      lengths.push_back(jobs.TakeFront()->source.size());
    }
    return lengths;
  }
};

TEST(JobQueueTest, TheLongestOfAWindowComesFirst) {
  TestQueue queue(1);
  for (size_t length : {3, 7, 5, 7}) queue.Push(MakeJob(length));
  EXPECT_EQ(queue.Take(3, kAny, true), std::vector<size_t>({7, 7, 5}));
  EXPECT_EQ(queue.Take(3, kAny, true), std::vector<size_t>({3}));
  EXPECT_TRUE(queue.Take(3, kAny, false).empty());
}

TEST(JobQueueTest, WindowsComeInOrder) {
  TestQueue queue(1);
  for (int i = 0; i < 300; ++i) queue.Push(MakeJob(1));
  queue.Push(MakeJob(50));  // It is long, but belongs to a later window.
  EXPECT_EQ(queue.Take(256, kAny, true), std::vector<size_t>(256, 1));
  EXPECT_EQ(queue.Take(1, kAny, true), std::vector<size_t>({50}));
}

TEST(JobQueueTest, KeepsToTheTokensButNeverStarves) {
  TestQueue queue(1);
  for (size_t length : {9, 5, 4, 2}) queue.Push(MakeJob(length));
  EXPECT_TRUE(queue.Take(4, 8, false).empty());
  EXPECT_EQ(queue.Take(4, 8, true), std::vector<size_t>({9}));
  EXPECT_EQ(queue.Take(4, 10, true), std::vector<size_t>({5, 4}));
}

// Long sentences leave room for short ones, however many there are; short ones may fill all of it.
TEST(JobQueueTest, ShortSentencesFindRoomBesideLongOnes) {
  const auto room = [](size_t tokens) { return TestQueue::Room{100, tokens, kAny, 80}; };
  TestQueue queue(1);
  for (int i = 0; i < 9; ++i) queue.Push(MakeJob(100));
  EXPECT_EQ(queue.Take(room(180), false), std::vector<size_t>({100}));
  EXPECT_TRUE(queue.Take(room(179), false).empty());
  queue.Push(MakeJob(11, /*priority=*/1));
  queue.Push(MakeJob(10, /*priority=*/2));
  EXPECT_EQ(queue.Take(room(90), false), std::vector<size_t>({10}));  // 11 is long, and has no room
  EXPECT_EQ(queue.Take(room(91), false), std::vector<size_t>({11}));
  for (int i = 0; i < 9; ++i) queue.Push(MakeJob(10, /*priority=*/1));
  EXPECT_EQ(queue.Take(room(80), false), std::vector<size_t>(8, 10));
}

// Long sentences are taken a few at a time, and short ones with them.
TEST(JobQueueTest, LongSentencesAreTakenAFewAtATime) {
  const TestQueue::Room room = {100, 1000, kAny, 80};
  TestQueue queue(1);
  for (int i = 0; i < 3; ++i) queue.Push(MakeJob(15));
  for (int i = 0; i < 2; ++i) queue.Push(MakeJob(30));
  for (int i = 0; i < 4; ++i) queue.Push(MakeJob(5));
  EXPECT_EQ(queue.Take(room, false), std::vector<size_t>({30, 30}));
  EXPECT_EQ(queue.Take(room, false), std::vector<size_t>({15, 15, 15}));
  EXPECT_EQ(queue.Take(room, false), std::vector<size_t>({5, 5, 5, 5}));
  queue.Push(MakeJob(200));
  EXPECT_EQ(queue.Take(room, false), std::vector<size_t>({200}));
}

TEST(JobQueueTest, FewJobsAreSharedOut) {
  TestQueue queue(3);
  for (int i = 0; i < 6; ++i) queue.Push(MakeJob(1));
  EXPECT_EQ(queue.Take(32, kAny, true).size(), 2u);
  EXPECT_EQ(queue.Take(32, kAny, true).size(), 2u);
  EXPECT_EQ(queue.Take(32, kAny, true).size(), 1u);
  EXPECT_EQ(queue.Take(32, kAny, true).size(), 1u);
}

// The test is one of two workers.
TEST(JobQueueTest, AWorkerIsAloneWhileTheOtherWaits) {
  TestQueue queue(2);
  EXPECT_FALSE(queue.Alone());
  std::thread other([&] { EXPECT_EQ(queue.Take(1, kAny, true).size(), 1u); });
  while (!queue.Alone()) std::this_thread::yield();
  queue.Push(MakeJob(1));
  EXPECT_FALSE(queue.Alone());  // The job waits, or the other worker has it.
  other.join();
}

TEST(JobQueueTest, ASingleJobIsLeftToThePreferredWorker) {
  TestQueue queue(2);
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
    queue.Push(MakeJob(1));
    queue.AwaitIdle();
    EXPECT_EQ(preferred_got, i);
  }
  queue.Close();
  preferred.join();
  other.join();
}

TEST(JobQueueTest, WaitsForAJobOrTheEnd) {
  TestQueue queue(1);
  std::vector<size_t> taken;
  std::thread worker([&] {
    for (std::vector<size_t> jobs; !(jobs = queue.Take(1, kAny, true)).empty();) {
      taken.push_back(jobs[0]);
    }
  });
  queue.Push(MakeJob(4));
  queue.Push(MakeJob(2));
  queue.Close();
  worker.join();
  EXPECT_EQ(taken.size(), 2u);
}

TEST(JobQueueTest, HigherPrioritiesOvertake) {
  TestQueue queue(1);
  queue.Push(MakeJob(9));
  queue.Push(MakeJob(2, /*priority=*/-1));
  queue.Push(MakeJob(3, /*priority=*/5));
  queue.Push(MakeJob(4, /*priority=*/5));
  EXPECT_EQ(queue.Take(4, kAny, true), std::vector<size_t>({4, 3, 9, 2}));
}

TEST(JobQueueTest, KeepsToTheRowsButNeverStarves) {
  TestQueue queue(1);
  queue.Push(MakeJob(9, 0, 6));
  queue.Push(MakeJob(8, 0, 2));
  queue.Push(MakeJob(7, 0, 2));
  EXPECT_TRUE(queue.Take({8, kAny, 4}, false).empty());
  EXPECT_EQ(queue.Take({8, kAny, 4}, true), std::vector<size_t>({9}));
  EXPECT_EQ(queue.Take({8, kAny, 4}, false), std::vector<size_t>({8, 7}));
}

TEST(JobQueueTest, SaysWhenItIsFull) {
  JobQueue queue(1, 2);
  const auto push = [&](nanoseconds patience) { return queue.Push(MakeJob(1), patience); };
  EXPECT_TRUE(push(nanoseconds(0)).ok());
  EXPECT_TRUE(push(nanoseconds(0)).ok());
  EXPECT_EQ(push(nanoseconds(0)).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(push(std::chrono::milliseconds(2)).code(), absl::StatusCode::kResourceExhausted);
  // A delivered result makes room. A job that is only taken from the queue does not.
  queue.Finish(queue.Take({1, kAny, kAny}, true).TakeFront());
  EXPECT_FALSE(push(nanoseconds(0)).ok());
  std::thread waiting([&] { EXPECT_TRUE(push(nanoseconds::max()).ok()); });
  queue.TakeFinished();
  queue.Delivered();
  waiting.join();
  queue.Close();
  EXPECT_EQ(push(nanoseconds::max()).code(), absl::StatusCode::kFailedPrecondition);
}

// Two threads wait for room, and the one that is woken runs out of memory. The other takes the
// room.
TEST(JobQueueTest, RoomIsNotLostWithMemory) {
  JobQueue queue(1, 1);
  EXPECT_TRUE(queue.Push(MakeJob(1), nanoseconds(0)).ok());
  std::atomic<int> pushed = 0;
  std::atomic<int> failed = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&, job = MakeJob(1)] {
      try {
        pushed += queue.Push(job, nanoseconds::max()).ok() ? 1 : 0;
      } catch (const std::bad_alloc&) {
        ++failed;
      }
    });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // By then, both wait.
  FailAllocation(1);
  queue.Delivered();
  const auto late = Job::Clock::now() + std::chrono::seconds(10);
  while (pushed + failed < 2 && Job::Clock::now() < late) std::this_thread::yield();
  StopFailing();
  EXPECT_EQ(failed, 1);
  EXPECT_EQ(pushed, 1);
  queue.Close();
  for (std::thread& thread : threads) thread.join();
}

TEST(JobQueueTest, EndsWaitingJobsThatAreCancelledOrLate) {
  TestQueue queue(1);
  const auto late = MakeJob(1, 0, 1, Job::Clock::now() + std::chrono::milliseconds(5));
  const auto later = MakeJob(2, 0, 1, Job::Clock::now() + std::chrono::hours(1));
  const auto cancelled = MakeJob(3);
  const auto taken = MakeJob(4);
  for (const auto& job : {late, later, cancelled, taken}) queue.Push(job);
  JobList with_worker = queue.JobQueue::Take({1, kAny, kAny}, true);
  queue.Cancel(cancelled);
  queue.Cancel(taken);
  EXPECT_EQ(queue.TakeFinished(), cancelled);
  EXPECT_EQ(cancelled->result.status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(queue.TakeFinished(), late);
  EXPECT_EQ(late->result.status().code(), absl::StatusCode::kDeadlineExceeded);
  // The worker that has the job is told to end it.
  EXPECT_EQ(with_worker.front().MustEnd(Job::Clock::now()).code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(queue.Take(9, kAny, false), std::vector<size_t>({2}));
  queue.CloseFinished();
  EXPECT_EQ(queue.TakeFinished(), nullptr);
}

}  // namespace
}  // namespace nibu::internal
