// Tests of a lack of memory from SubmitText to its TextDone: the n-th allocation fails, for every
// n.
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "gtest/gtest.h"
#include "nibu/nibu.h"
#include "tests/engine/memory_hooks.h"
#include "tests/paths.h"

namespace nibu::internal {
namespace {

TEST(TextOutOfMemoryTest, DoneIsCalledOnceOrNever) {
  SpeedOptions speed;
  speed.threads = 1;
  const auto translator = *nibu::Translator::Create(speed);
  ModelOptions loading;
  loading.compute_type = nibu::ComputeType::kFloat32;
  Options options;
  options.beam_size = 1;
  // Text is tokenized, as SentencePiece does not survive a lack of memory.
  options.tokenized = true;
  const auto plan = *translator->Prepare(*nibu::Model::Load(CaptionsModelPath(), loading), options);
  const std::string text = "▁A ▁dog .\n\n▁A ▁cat .\n";
  const auto expected = translator->TranslateText(text, plan);
  ASSERT_TRUE(expected.ok()) << expected.status();
  int failed = 0;  // the number of texts whose TextDone got an error
  bool has_failed = true;
  for (int64_t n = 1; has_failed; ++n) {
    SCOPED_TRACE(testing::Message() << "allocation " << n);
    std::atomic<int> calls = 0;
    absl::StatusOr<Translation> translation;
    TextDone done = [&](uint64_t, absl::StatusOr<Translation> result) {
      translation = std::move(result);
      ++calls;
    };
    FailAllocation(n);
    const auto ticket = translator->SubmitText(text, plan, {}, std::move(done));
    while (ticket.ok() && calls == 0) std::this_thread::yield();
    has_failed = StopFailing();
    EXPECT_EQ(calls, ticket.ok() ? 1 : 0);
    if (!ticket.ok()) {
      EXPECT_TRUE(absl::IsResourceExhausted(ticket.status())) << ticket.status();
    } else if (!translation.ok()) {
      EXPECT_TRUE(absl::IsResourceExhausted(translation.status())) << translation.status();
      ++failed;
    } else {
      EXPECT_EQ(translation->text, expected->text);
    }
  }
  EXPECT_GT(failed, 10);
}

}  // namespace
}  // namespace nibu::internal
