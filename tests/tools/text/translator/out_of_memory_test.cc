// Tests of a lack of memory from Submit of a whole text to its Done, and from TextFeed::Submit to
// its `done`: the n-th allocation fails, for every n.
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "nibu/nibu.h"
#include "tests/engine/memory_hooks.h"
#include "tests/paths.h"

namespace nibu::internal {
namespace {

class TextOutOfMemoryTest : public testing::Test {
 protected:
  TextOutOfMemoryTest() {
    SpeedOptions speed;
    speed.threads = 1;
    translator = *nibu::Translator::Create(speed);
    ModelOptions loading;
    loading.compute_type = nibu::ComputeType::kFloat32;
    Options options;
    options.beam_size = 1;
    // Text is tokenized, as SentencePiece does not survive a lack of memory.
    options.tokenized = true;
    plan = *translator->Prepare(*nibu::Model::Load(CaptionsModelPath(), loading), options);
  }

  std::unique_ptr<nibu::Translator> translator;
  std::shared_ptr<const nibu::Plan> plan;
  const std::string text = "▁A ▁dog .\n\n▁A ▁cat .\n";
};

TEST_F(TextOutOfMemoryTest, DoneIsCalledOnceOrNever) {
  const auto expected = translator->Translate({text}, plan);
  ASSERT_TRUE(expected.ok()) << expected.status();
  int failed = 0;  // the number of texts whose Done got an error
  bool has_failed = true;
  for (int64_t n = 1; has_failed; ++n) {
    SCOPED_TRACE(testing::Message() << "allocation " << n);
    std::atomic<int> calls = 0;
    absl::StatusOr<nibu::Result> translation;
    nibu::Done done = [&](uint64_t, absl::StatusOr<nibu::Result> result) {
      translation = std::move(result);
      ++calls;
    };
    FailAllocation(n);
    const auto ticket = translator->Submit(text, plan, {}, std::move(done));
    while (ticket.ok() && calls == 0) std::this_thread::yield();
    has_failed = StopFailing();
    EXPECT_EQ(calls, ticket.ok() ? 1 : 0);
    if (!ticket.ok()) {
      EXPECT_TRUE(absl::IsResourceExhausted(ticket.status())) << ticket.status();
    } else if (!translation.ok()) {
      EXPECT_TRUE(absl::IsResourceExhausted(translation.status())) << translation.status();
      ++failed;
    } else {
      EXPECT_EQ(translation->hypotheses[0].text, (*expected)[0].hypotheses[0].text);
    }
  }
  EXPECT_GT(failed, 10);
}

TEST_F(TextOutOfMemoryTest, AFedTextEndsOnceOrNever) {
  const auto feed = *TextFeed::Create(translator.get());
  const auto expected = translator->Translate({text}, plan);
  ASSERT_TRUE(expected.ok()) << expected.status();
  int failed = 0;  // the number of texts that ended with an error
  bool has_failed = true;
  for (int64_t n = 1; has_failed; ++n) {
    SCOPED_TRACE(testing::Message() << "allocation " << n);
    std::atomic<int> calls = 0;
    absl::StatusOr<std::vector<std::string>> translations;
    FeedText fed;
    fed.text = text;
    fed.plan = plan;
    fed.done = [&](absl::StatusOr<std::vector<std::string>> result) {
      translations = std::move(result);
      ++calls;
    };
    FailAllocation(n);
    const auto submitted = feed->Submit(std::move(fed));
    while (submitted.ok() && calls == 0) std::this_thread::yield();
    has_failed = StopFailing();
    EXPECT_EQ(calls, submitted.ok() ? 1 : 0);
    if (!submitted.ok()) {
      EXPECT_TRUE(absl::IsResourceExhausted(submitted.status())) << submitted.status();
    } else if (!translations.ok()) {
      EXPECT_TRUE(absl::IsResourceExhausted(translations.status())) << translations.status();
      ++failed;
    } else {
      EXPECT_EQ((*translations)[0], (*expected)[0].hypotheses[0].text);
    }
  }
  EXPECT_GT(failed, 10);
  EXPECT_EQ(feed->units(), 0u);
}

}  // namespace
}  // namespace nibu::internal
