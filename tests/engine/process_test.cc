// Tests of a translator and its process: forks, the end of the process, callbacks that throw,
// threads that cannot be created, and the CPU time that threads use.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <thread>

#include "absl/strings/match.h"
#include "engine/schedule/core_budget.h"
#include "engine/translator.h"
#include "gtest/gtest.h"
#include "tests/engine/reference/transformer.h"
#include "tests/engine/small_model.h"
#include "tests/sanitizers.h"

namespace nibu::internal {
namespace {

std::shared_ptr<const Model> ProcessModel(ComputeType type = ComputeType::kFloat32) {
  return reference::Transformer(SmallConfig(), 9).Build(type);
}

std::unique_ptr<Translator> SmallTranslator(std::shared_ptr<CoreBudget> cores = nullptr) {
  TranslatorOptions options;
  options.threads = 2;
  options.cores = std::move(cores);
  return *Translator::Create(ProcessModel(), options);
}

// Uses the translator and the core budget of the parent process, which a child must not do. Returns
// 0 if everything is refused as promised.
int UseInChild(std::unique_ptr<Translator> translator, std::shared_ptr<CoreBudget> cores) {
  const auto ticket = translator->Submit({.source = {5, 6}}, [](uint64_t, Result) {});
  if (!absl::IsFailedPrecondition(ticket.status())) return 1;
  if (!absl::StrContains(ticket.status().message(), "after fork()")) return 2;
  if (!absl::IsFailedPrecondition(translator->Translate({{5, 6}}, {}).status())) return 3;
  translator->Cancel({});
  translator = nullptr;
  TranslatorOptions options;
  options.cores = std::move(cores);
  const auto created = Translator::Create(ProcessModel(), options);
  if (!absl::IsFailedPrecondition(created.status())) return 4;
  if (!absl::StrContains(created.status().message(), "after fork()")) return 5;
  return 0;
}

TEST(ProcessTest, AForkedChildIsRefused) {
  auto cores = std::make_shared<CoreBudget>(1);
  auto translator = SmallTranslator(cores);
  const auto before = translator->Translate({{5, 6, 7}}, {});
  ASSERT_TRUE(before.ok());
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);  // It ends a child that hangs.
    _exit(UseInChild(std::move(translator), std::move(cores)));
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  // The parent's translator still works.
  const auto after = translator->Translate({{5, 6, 7}}, {});
  ASSERT_TRUE(after.ok());
  EXPECT_TRUE(SameBits(*before, *after));
}

std::atomic<int> answers = 0;
constexpr int kRequests = 500;
// Ends the process while two static translators have requests. `before_statics` runs before static
// objects are destroyed. `cores`: the budget that both share; null: none.
[[noreturn]] void EndWithStaticTranslators(const std::shared_ptr<CoreBudget>& cores,
                                           void (*before_statics)()) {
  alarm(60);
  static std::unique_ptr<Translator> translators[2];
  for (auto& translator : translators) translator = SmallTranslator(cores);
  for (uint64_t i = 0; i < kRequests; ++i) {
    const auto ticket = translators[i % 2]->Submit({.source = {5, 6, 7}, .key = i},
                                                   [](uint64_t, const Result&) { ++answers; });
    if (!ticket.ok()) _exit(1);
  }
  if (before_statics != nullptr) (void)std::atexit(before_statics);
  std::exit(0);
}

TEST(ProcessTest, EndsBeforeStaticObjects) {
  if (kThreadSanitizer) GTEST_SKIP() << "nothing for the thread sanitizer: a process of its own";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const auto& cores : {std::shared_ptr<CoreBudget>(), std::make_shared<CoreBudget>(1)}) {
    EXPECT_EXIT(EndWithStaticTranslators(cores, [] { _exit(answers == kRequests ? 3 : 2); }),
                testing::ExitedWithCode(3), "");
    EXPECT_EXIT(EndWithStaticTranslators(cores, nullptr), testing::ExitedWithCode(0), "");
  }
}

TEST(ProcessTest, CallbacksMayThrow) {
  auto translator = SmallTranslator();
  for (uint64_t i = 0; i < 20; ++i) {
    ASSERT_TRUE(translator
                    ->Submit({.source = {5, 6, 7}, .key = i},
                             [](uint64_t, const Result&) { throw std::runtime_error("caller"); })
                    .ok());
  }
  EXPECT_TRUE(translator->Translate({{5, 6, 7}}, {}).ok());
}

// Creates a translator and translates with it while the process may map only so many more bytes.
// Returns 0: both succeed; 1: the translator is refused for lack of threads; 2: for lack of memory;
// 3: the translation is refused.
int CreateWithin(rlim_t bytes, const std::shared_ptr<const Model>& model) {
  rlim_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t most = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + bytes;
  const rlimit limit = {most, most};
  if (setrlimit(RLIMIT_AS, &limit) != 0) return 4;
  TranslatorOptions options;
  options.threads = 16;
  const auto translator = Translator::Create(model, options);
  if (!translator.ok()) {
    if (!absl::IsResourceExhausted(translator.status())) return 5;
    return absl::StrContains(translator.status().message(), "cannot start 16 threads") ? 1 : 2;
  }
  const auto results = (*translator)->Translate({{5, 6, 7}}, {});
  return results.ok() ? 0 : absl::IsResourceExhausted(results.status()) ? 3 : 6;
}

// Nothing hangs or aborts, whichever thread finds no room for its stack, one of the translator or
// one of OpenMP.
TEST(ProcessTest, ThreadsThatCannotBeCreatedAreAStatus) {
  if (kSanitized) GTEST_SKIP() << "nothing for sanitizers, which map more than a limit allows";
  const auto model = ProcessModel(ComputeType::kInt8);
  int without_threads = 0;
  for (rlim_t bytes = 0;; bytes += 1 << 20) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);
      _exit(CreateWithin(bytes, model));
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status) << ", " << bytes << " bytes";
    const int outcome = WEXITSTATUS(status);
    ASSERT_LE(outcome, 3) << bytes << " bytes";
    if (outcome == 0) break;
    without_threads += outcome == 1 ? 1 : 0;
  }
  EXPECT_GT(without_threads, 16);
}

double CpuSeconds() {
  timespec time;
  EXPECT_EQ(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time), 0);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Threads without work sleep. Those of GNU OpenMP, which a single sentence of an int8 model uses,
// first wait actively for 300,000 iterations after a matmul. That took about 1 to 7 ms on the
// machine where it was measured, for each thread except the worker's own, and none with
// OMP_WAIT_POLICY=passive.
TEST(ProcessTest, IdleThreadsUseNoCpu) {
  TranslatorOptions options;
  options.threads = 4;
  const auto model = ProcessModel(ComputeType::kInt8);
  for (const auto& cores : {std::shared_ptr<CoreBudget>(), std::make_shared<CoreBudget>(4)}) {
    options.cores = cores;
    const auto translator = *Translator::Create(model, options);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // By then, all workers wait.
    // A single sentence ends with the first step that tries threads (see SoloThreads).
    DecodingOptions three_steps;
    three_steps.beam_size = 1;
    three_steps.min_decoding_length = three_steps.max_decoding_length = 3;
    for (const bool single : {true, false}) {
      EXPECT_TRUE(single ? translator->Translate({{5, 6, 7}}, three_steps).ok()
                         : translator->Translate(RandomSources(50, 20, 50), {}).ok());
      const double before = CpuSeconds();
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      EXPECT_LT(CpuSeconds() - before, 0.05);
    }
  }
}

// With one core for four workers the process uses no more CPU time than one thread could.
TEST(ProcessTest, WorkersUseNoMoreThanTheirCores) {
  const auto cores = std::make_shared<CoreBudget>(1);
  const auto one = SmallTranslator(cores);
  const auto two = SmallTranslator(cores);
  const Sources sources = RandomSources(Rounds(600), 20, 50);
  const double before = CpuSeconds();
  const auto start = std::chrono::steady_clock::now();
  std::thread beside([&] { EXPECT_TRUE(two->Translate(sources, {}).ok()); });
  EXPECT_TRUE(one->Translate(sources, {}).ok());
  beside.join();
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  // The threads that submit and deliver use a little CPU time, too.
  EXPECT_LT(CpuSeconds() - before, 1.5 * wall.count() + 0.05);
}

}  // namespace
}  // namespace nibu::internal
