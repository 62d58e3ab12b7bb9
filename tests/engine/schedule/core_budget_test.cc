// Tests of the core budget: how many cores are held, in which order threads get them, and how they
// are shared in slices.
// Threads: the thread sanitizer runs this file.
#include "engine/schedule/core_budget.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace nibu::internal {
namespace {

using Holder = CoreBudget::Holder;

constexpr std::chrono::nanoseconds kNoSlice{0};
constexpr std::chrono::hours kLongSlice{1};

// Starts threads that take a core one after another, each once the one before it is in line, and
// notes the order in which they get a core.
class Line {
 public:
  explicit Line(CoreBudget* budget) : budget_(budget) {}
  ~Line() { Join(); }

  void Add(int name) {
    const int before = budget_->waiting();
    threads_.emplace_back([this, name] {
      Holder holder(budget_);
      holder.Take();
      Note(name);
    });
    while (budget_->waiting() == before) std::this_thread::yield();
  }
  void Note(int name) {
    const std::lock_guard<std::mutex> lock(mutex_);
    order_.push_back(name);
  }
  void Join() {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  const std::vector<int>& order() const { return order_; }

 private:
  CoreBudget* const budget_;
  std::mutex mutex_;
  std::vector<int> order_;
  std::vector<std::thread> threads_;
};

TEST(CoreBudgetTest, CountsWhatIsHeld) {
  CoreBudget budget(2);
  EXPECT_EQ(budget.cores(), 2);
  Holder one(&budget);
  EXPECT_EQ(budget.held(), 0);
  one.Take();
  one.Take();  // It holds one already.
  EXPECT_EQ(budget.held(), 1);
  {
    Holder two(&budget);
    two.Take();
    EXPECT_EQ(budget.held(), 2);
  }
  EXPECT_EQ(budget.held(), 1);
  one.GiveBack();
  one.GiveBack();  // It holds none.
  EXPECT_EQ(budget.held(), 0);
  EXPECT_FALSE(one.Share());
}

TEST(CoreBudgetTest, WithoutABudgetThereIsAlwaysACore) {
  Holder one(nullptr);
  one.Take();
  EXPECT_FALSE(one.Share());
  EXPECT_TRUE(one.IsAlone());
  one.GiveBack();
}

TEST(CoreBudgetTest, GivesCoresInTheOrderOfArrival) {
  CoreBudget budget(1);
  Holder first(&budget);
  first.Take();
  Line line(&budget);
  for (int name = 0; name < 6; ++name) line.Add(name);
  EXPECT_EQ(budget.waiting(), 6);
  first.GiveBack();
  line.Join();
  EXPECT_EQ(line.order(), std::vector<int>({0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(budget.held(), 0);
}

// A thread that gives its core back and at once wants another one goes to the end of the line, even
// if those in front have not woken up yet.
TEST(CoreBudgetTest, NobodyOvertakes) {
  CoreBudget budget(1);
  Holder first(&budget);
  first.Take();
  Line line(&budget);
  line.Add(0);
  line.Add(1);
  first.GiveBack();
  first.Take();
  line.Note(2);
  line.Join();
  EXPECT_EQ(line.order(), std::vector<int>({0, 1, 2}));
}

TEST(CoreBudgetTest, SharesItsCoreAfterASlice) {
  CoreBudget budget(1, kNoSlice);
  Holder first(&budget);
  first.Take();
  EXPECT_FALSE(first.Share());  // Nobody waits for it.
  Line line(&budget);
  line.Add(0);
  line.Add(1);
  EXPECT_TRUE(first.Share());
  line.Note(2);
  EXPECT_FALSE(first.Share());
  line.Join();
  EXPECT_EQ(line.order(), std::vector<int>({0, 1, 2}));
}

TEST(CoreBudgetTest, KeepsItsCoreForASlice) {
  CoreBudget budget(1, kLongSlice);
  Holder first(&budget);
  first.Take();
  Line line(&budget);
  line.Add(0);
  EXPECT_FALSE(first.Share());
  line.Note(1);
  first.GiveBack();
  line.Join();
  EXPECT_EQ(line.order(), std::vector<int>({1, 0}));
}

TEST(CoreBudgetTest, KnowsWhenAWorkerIsAlone) {
  CoreBudget budget(2);
  Holder one(&budget);
  EXPECT_TRUE(one.IsAlone());
  one.Take();
  EXPECT_TRUE(one.IsAlone());
  Holder two(&budget);
  EXPECT_FALSE(two.IsAlone());
  two.Take();
  EXPECT_FALSE(one.IsAlone());
  two.GiveBack();
  EXPECT_TRUE(one.IsAlone());
  CoreBudget small(1);
  Holder first(&small);
  first.Take();
  Line line(&small);
  line.Add(0);
  EXPECT_FALSE(first.IsAlone());  // One waits for its core.
  first.GiveBack();
}

TEST(CoreBudgetTest, GivesNeverMoreThanThereAre) {
  for (const int cores : {1, 3}) {
    CoreBudget budget(cores, kNoSlice);
    std::atomic<int> running{0};
    std::atomic<int> most{0};
    const auto run = [&] {
      const int now = ++running;
      int known = most;
      while (known < now && !most.compare_exchange_weak(known, now)) {
      }
      std::this_thread::yield();
      --running;
    };
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] {
        Holder holder(&budget);
        for (int round = 0; round < 100; ++round) {
          holder.Take();
          run();
          holder.Share();
          run();
          if (round % 3 == 0) holder.GiveBack();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_LE(most, cores);
    EXPECT_EQ(budget.held(), 0);
    EXPECT_EQ(budget.waiting(), 0);
  }
}

}  // namespace
}  // namespace nibu::internal
