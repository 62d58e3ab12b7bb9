// A translator and its process: forks, the end of the process, callbacks that throw.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <stdexcept>

#include "absl/strings/match.h"
#include "engine/translator.h"
#include "gtest/gtest.h"
#include "tests/engine/reference/transformer.h"
#include "tests/engine/small_model.h"
#include "tests/sanitizers.h"

namespace nibu::internal {
namespace {

std::unique_ptr<Translator> SmallTranslator() {
  const auto model = reference::Transformer(SmallConfig(), 9).Build(ComputeType::kFloat32);
  TranslatorOptions options;
  options.threads = 2;
  return *Translator::Create(model, options);
}

// Uses its parent's translator as a child must not. Returns 0 if all is as promised.
int UseInChild(std::unique_ptr<Translator> translator) {
  const auto ticket = translator->Submit({.source = {5, 6}}, [](uint64_t, Result) {});
  if (!absl::IsFailedPrecondition(ticket.status())) return 1;
  if (!absl::StrContains(ticket.status().message(), "after fork()")) return 2;
  if (!absl::IsFailedPrecondition(translator->Translate({{5, 6}}, {}).status())) return 3;
  translator->Cancel({});
  translator = nullptr;
  return 0;
}

TEST(ProcessTest, AForkedChildIsRefused) {
  auto translator = SmallTranslator();
  const auto before = translator->Translate({{5, 6, 7}}, {});
  ASSERT_TRUE(before.ok());
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);  // ends a child that hangs
    _exit(UseInChild(std::move(translator)));
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  // The parent's translator goes on.
  const auto after = translator->Translate({{5, 6, 7}}, {});
  ASSERT_TRUE(after.ok());
  EXPECT_TRUE(SameBits(*before, *after));
}

// Ends the process while a static translator has requests. `before_statics` runs before static
// objects are destroyed.
std::atomic<int> answers = 0;
constexpr int kRequests = 500;
[[noreturn]] void EndWithAStaticTranslator(void (*before_statics)()) {
  alarm(60);
  static std::unique_ptr<Translator> translator;
  translator = SmallTranslator();
  for (uint64_t i = 0; i < kRequests; ++i) {
    const auto ticket = translator->Submit({.source = {5, 6, 7}, .key = i},
                                           [](uint64_t, const Result&) { ++answers; });
    if (!ticket.ok()) _exit(1);
  }
  if (before_statics != nullptr) (void)std::atexit(before_statics);
  std::exit(0);
}

TEST(ProcessTest, EndsBeforeStaticObjects) {
  if (kThreadSanitizer) GTEST_SKIP() << "nothing for the thread sanitizer: a process of its own";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(EndWithAStaticTranslator([] { _exit(answers == kRequests ? 3 : 2); }),
              testing::ExitedWithCode(3), "");
  EXPECT_EXIT(EndWithAStaticTranslator(nullptr), testing::ExitedWithCode(0), "");
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

}  // namespace
}  // namespace nibu::internal
