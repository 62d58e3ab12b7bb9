// Tests of several translators that share the cores of one budget.
// Threads: the thread sanitizer runs this file.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/schedule/core_budget.h"
#include "engine/translator.h"
#include "gtest/gtest.h"
#include "tests/engine/reference/transformer.h"
#include "tests/engine/small_model.h"

namespace nibu::internal {
namespace {

using std::chrono::milliseconds;

// The slice is so short that workers pass their cores on at almost every step.
constexpr std::chrono::microseconds kShortSlice{50};

std::shared_ptr<const Model> SharingModel(uint32_t seed, ComputeType type = ComputeType::kFloat32,
                                          int positions = 64) {
  ModelConfig config = SmallConfig();
  config.max_positions = positions;
  return reference::Transformer(config, seed).Build(type);
}

std::unique_ptr<Translator> Share(const std::shared_ptr<const Model>& model,
                                  const std::shared_ptr<CoreBudget>& cores, int threads = 2,
                                  int batch_size = 0) {
  TranslatorOptions options;
  options.threads = threads;
  options.batch_size = batch_size;
  options.cores = cores;
  options.max_decoding_length = 1 << 20;
  return *Translator::Create(model, options);
}

// Returns a request that ends when it is cancelled or late, or at the model's last position.
Request EndlessRequest() {
  Request request;
  request.source = {5, 6, 7};
  request.options.beam_size = 1;
  request.options.min_decoding_length = request.options.max_decoding_length = 1 << 20;
  return request;
}
std::shared_ptr<const Model> EndlessModel() {
  return SharingModel(9, ComputeType::kFloat32, /*positions=*/1 << 14);
}

DecodingOptions WithBeam(int beam_size) {
  DecodingOptions options;
  options.beam_size = beam_size;
  options.max_decoding_length = 20;
  return options;
}

// Keeps the keys and results of requests in the order in which they end. It must outlive their
// translators.
class Log {
 public:
  Done done() {
    return [this](uint64_t key, Result result) {
      const std::lock_guard<std::mutex> lock(mutex_);
      keys_.push_back(key);
      results_.push_back(std::move(result));
      changed_.notify_all();
    };
  }
  void Await(size_t count) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return keys_.size() >= count; });
  }
  size_t count() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return keys_.size();
  }
  // Returns the place of a request in this order, counted from 0, and its result.
  size_t PlaceOf(uint64_t key) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return static_cast<size_t>(std::find(keys_.begin(), keys_.end(), key) - keys_.begin());
  }
  Result ResultOf(uint64_t key) { return results_.at(PlaceOf(key)); }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<uint64_t> keys_;
  std::vector<Result> results_;
};

TEST(SharedCoresTest, BudgetsNeedACore) {
  for (const int cores : {0, -1}) {
    TranslatorOptions options;
    options.cores = std::make_shared<CoreBudget>(cores);
    const auto status = Translator::Create(SharingModel(9), options).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(status.message().find("cores must be at least 1"), 0u) << status;
  }
}

// Two translators have two workers each, and one of them has threads for single sentences.
TEST(SharedCoresTest, ResultsAreThoseWithoutABudget) {
  const auto large = SharingModel(9);
  const auto small = SharingModel(10, ComputeType::kInt8);
  const Sources sources = RandomSources(Rounds(150), 20, SmallConfig().vocab_source);
  const Results expected_large = Translate(large, WithBeam(4), {}, sources);
  const Results expected_small = Translate(small, WithBeam(1), {}, sources);
  for (const int cores : {1, 2}) {
    const auto budget = std::make_shared<CoreBudget>(cores, kShortSlice);
    const auto one = Share(large, budget);
    const auto two = Share(small, budget);
    std::atomic<int> unfinished{3};
    const auto translate = [&](Translator* translator, int beam, const Results& expected) {
      const auto results = translator->Translate(sources, WithBeam(beam));
      EXPECT_TRUE(results.ok() && SameBits(*results, expected)) << cores << " cores";
      --unfinished;
    };
    std::thread first([&] { translate(one.get(), 4, expected_large); });
    std::thread second([&] { translate(two.get(), 1, expected_small); });
    std::thread single([&] {  // It translates one sentence at a time.
      for (size_t i = 0; i < 10; ++i) {
        const auto result = two->Translate({sources[i]}, WithBeam(1));
        EXPECT_TRUE(result.ok() && SameBits(*result, {expected_small[i]}));
      }
      --unfinished;
    });
    int most = 0;
    while (unfinished > 0) {
      most = std::max(most, budget->held());
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
    for (std::thread* thread : {&first, &second, &single}) thread->join();
    EXPECT_LE(most, cores);
    EXPECT_GE(most, 1);
    // Workers that wait for requests hold no core. They begin to wait once the last result is on
    // its way.
    while (budget->held() + budget->waiting() > 0) std::this_thread::yield();
  }
}

TEST(SharedCoresTest, AFloodOfOneDoesNotStarveTheOther) {
  constexpr uint64_t kSingle = 1 << 20;
  Log log;
  const auto budget = std::make_shared<CoreBudget>(2, kShortSlice);
  const auto busy = Share(SharingModel(9), budget);
  const auto other = Share(SharingModel(10), budget);
  const auto flood = static_cast<uint64_t>(std::max(300, Rounds(2000)));
  DecodingOptions options = WithBeam(4);
  for (uint64_t key = 0; key < flood; ++key) {
    // Lengths differ, as sentences that end together leave their worker idle, and without its core,
    // for a moment.
    options.min_decoding_length = options.max_decoding_length = 20 + static_cast<int>(key % 40);
    ASSERT_TRUE(
        busy->Submit({.source = {5, 6, 7}, .options = options, .key = key}, log.done()).ok());
  }
  while (budget->held() < 2) std::this_thread::yield();  // Both cores are taken then.
  ASSERT_TRUE(
      other->Submit({.source = {5}, .options = WithBeam(1), .key = kSingle}, log.done()).ok());
  log.Await(flood + 1);
  EXPECT_LT(log.PlaceOf(kSingle), flood * 3 / 4);
  for (uint64_t key = 0; key < flood; ++key) EXPECT_TRUE(log.ResultOf(key).ok());
}

// The same holds where the busy translator's requests have no end, with the default slice.
TEST(SharedCoresTest, EndlessRequestsOfOneDoNotStopTheOther) {
  Log endless;
  const auto budget = std::make_shared<CoreBudget>(2);
  const auto busy = Share(EndlessModel(), budget, /*threads=*/3, /*batch_size=*/1);
  const auto other = Share(SharingModel(10), budget);
  std::vector<Ticket> tickets;
  for (int i = 0; i < 3; ++i) tickets.push_back(*busy->Submit(EndlessRequest(), endless.done()));
  // By then, the third one waits for a core.
  while (budget->waiting() < 1) std::this_thread::yield();
  EXPECT_TRUE(other->Translate({{5, 6}, {7}}, WithBeam(2)).ok());
  EXPECT_EQ(endless.count(), 0u);
  for (const Ticket& ticket : tickets) busy->Cancel(ticket);
  endless.Await(tickets.size());
  EXPECT_EQ(endless.ResultOf(0).status().code(), absl::StatusCode::kCancelled);
}

TEST(SharedCoresTest, RequestsEndWhileTheirWorkerWaitsForACore) {
  Log endless;
  Log log;
  const auto budget = std::make_shared<CoreBudget>(1);
  const auto busy = Share(EndlessModel(), budget, /*threads=*/1);
  const auto other = Share(EndlessModel(), budget, /*threads=*/1);
  const Ticket first = *busy->Submit(EndlessRequest(), endless.done());
  while (budget->held() < 1) std::this_thread::yield();
  Request late = EndlessRequest();
  late.deadline = Request::Clock::now() + milliseconds(30);
  ASSERT_TRUE(other->Submit(late, log.done()).ok());
  log.Await(1);
  EXPECT_EQ(log.ResultOf(0).status().code(), absl::StatusCode::kDeadlineExceeded);
  Request cancelled = EndlessRequest();
  cancelled.key = 1;
  const Ticket ticket = *other->Submit(cancelled, log.done());
  std::this_thread::sleep_for(milliseconds(5));
  other->Cancel(ticket);
  log.Await(2);
  EXPECT_EQ(log.ResultOf(1).status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(endless.count(), 0u);
  busy->Cancel(first);
}

TEST(SharedCoresTest, TranslatorsComeAndGoWhileOthersTranslate) {
  Log endless;
  const auto budget = std::make_shared<CoreBudget>(1, kShortSlice);
  const auto model = SharingModel(10, ComputeType::kInt8);
  const Sources sources = RandomSources(5, 10, SmallConfig().vocab_source);
  const Results expected = Translate(model, WithBeam(2), {}, sources);
  const auto busy = Share(EndlessModel(), budget);
  std::vector<Ticket> tickets;
  for (int i = 0; i < 4; ++i) tickets.push_back(*busy->Submit(EndlessRequest(), endless.done()));
  const auto come_and_go = [&] {
    for (int i = 0; i < Rounds(10); ++i) {
      const auto translator = Share(model, budget);
      const auto results = translator->Translate(sources, WithBeam(2));
      EXPECT_TRUE(results.ok() && SameBits(*results, expected));
    }
  };
  std::thread beside(come_and_go);
  come_and_go();
  beside.join();
  EXPECT_EQ(endless.count(), 0u);
  for (const Ticket& ticket : tickets) busy->Cancel(ticket);
}

// Destructors finish all requests, also of translators that wait for each other's cores.
TEST(SharedCoresTest, DestructorsFinishWhatWasSubmitted) {
  const auto model = SharingModel(9);
  constexpr size_t kLateRequests = 200;
  for (int round = 0; round < Rounds(5); ++round) {
    auto budget = std::make_shared<CoreBudget>(1, kShortSlice);
    Log log;
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&log, translator = Share(model, budget)]() mutable {
        for (uint64_t key = 0; key < kLateRequests; ++key) {
          EXPECT_TRUE(
              translator
                  ->Submit({.source = {5, 6, 7}, .options = WithBeam(2), .key = key}, log.done())
                  .ok());
        }
        translator = nullptr;
      });
    }
    budget = nullptr;  // The translators keep the budget.
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(log.count(), 3 * kLateRequests);
  }
}

}  // namespace
}  // namespace nibu::internal
