// Tests of Repeats, by which equal lines are translated once while one of them is remembered.
// Threads: the thread sanitizer runs this file.
#include <atomic>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/cli/translate_lines.h"

namespace nibu::internal {
namespace {

using ::testing::ElementsAre;

nibu::Result Text(const std::string& text) {
  nibu::Result result;
  result.hypotheses.resize(1);
  result.hypotheses[0].text = text;
  return result;
}

class RepeatsTest : public testing::Test {
 protected:
  std::function<void(uint64_t, Repeats::Result)> Add(const std::string& key, uint64_t index) {
    return repeats_.Add(key, index, [this](uint64_t line, const Repeats::Result& result) {
      told_.push_back(absl::StrCat(
          line, ": ", result.ok() ? result->hypotheses[0].text : result.status().message()));
    });
  }

  Repeats repeats_;
  std::vector<std::string> told_;
};

TEST_F(RepeatsTest, EqualLinesAreTranslatedOnce) {
  const auto a = Add("a", 0);
  const auto b = Add("b", 1);
  ASSERT_NE(a, nullptr);
  ASSERT_NE(b, nullptr);
  EXPECT_EQ(Add("a", 2), nullptr);
  EXPECT_THAT(told_, ElementsAre());
  a(0, Text("A"));
  EXPECT_THAT(told_, ElementsAre("0: A", "2: A"));
  EXPECT_EQ(Add("a", 3), nullptr);  // The line is still remembered.
  b(1, absl::InternalError("failed"));
  EXPECT_EQ(Add("b", 4), nullptr);
  EXPECT_THAT(told_, ElementsAre("0: A", "2: A", "3: A", "1: failed", "4: failed"));
}

TEST_F(RepeatsTest, LetsGoOfWhatIsWritten) {
  Add("a", 0)(0, Text("A"));
  EXPECT_EQ(Add("a", 1), nullptr);
  repeats_.Forget(1);
  EXPECT_EQ(Add("a", 2), nullptr);  // Line 1 keeps it.
  repeats_.Forget(3);
  EXPECT_NE(Add("a", 3), nullptr);
  repeats_.Forget(3);
  EXPECT_EQ(Add("a", 4), nullptr);
}

// Results come from several threads, while lines are added and forgotten.
TEST(RepeatsOfThreads, EachLineGetsItsResultOnce) {
  constexpr uint64_t kLines = 20000;
  constexpr uint64_t kWindow = 100;
  Repeats repeats;
  std::mutex mutex;
  std::vector<std::pair<std::string, std::function<void(uint64_t, Repeats::Result)>>> jobs;
  std::vector<std::atomic<int>> told(kLines);
  std::atomic<uint64_t> written{0};
  std::atomic<bool> over{false};
  std::atomic<uint64_t> translated{0};
  std::vector<std::thread> workers;
  for (unsigned seed = 0; seed < 3; ++seed) {
    workers.emplace_back([&, seed] {
      std::mt19937 random(seed);
      while (!over) {
        std::unique_lock<std::mutex> lock(mutex);
        if (jobs.empty()) {
          lock.unlock();
          std::this_thread::yield();
          continue;
        }
        std::swap(jobs[random() % jobs.size()], jobs.back());
        auto [text, done] = std::move(jobs.back());
        jobs.pop_back();
        lock.unlock();
        ++translated;
        done(0, Text("t" + text));
      }
    });
  }
  std::thread writer([&] {
    for (uint64_t i = 0; i < kLines; ++i) {
      while (told[i] == 0) std::this_thread::yield();
      repeats.Forget(i + 1);
      written = i + 1;
    }
  });
  std::mt19937 random(7);
  for (uint64_t i = 0; i < kLines; ++i) {
    while (i >= written + kWindow) std::this_thread::yield();
    const std::string text = absl::StrCat(random() % 20);
    auto done = repeats.Add(text, i, [&, text](uint64_t line, const Repeats::Result& result) {
      EXPECT_EQ(result->hypotheses[0].text, "t" + text);
      ++told[line];
    });
    if (done == nullptr) continue;
    const std::lock_guard<std::mutex> lock(mutex);
    jobs.emplace_back(text, std::move(done));
  }
  writer.join();
  over = true;
  for (std::thread& worker : workers) worker.join();
  for (const auto& count : told) EXPECT_EQ(count, 1);
  EXPECT_LT(translated, kLines);
}

}  // namespace
}  // namespace nibu::internal
