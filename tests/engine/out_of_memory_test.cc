// Tests of a translator that runs out of memory: from Submit to the callback, the n-th allocation
// fails, for every n. The request gets an error or its result, and others are not affected.
// Threads: the thread sanitizer runs this file.
#include <atomic>
#include <string>
#include <thread>

#include "engine/schedule/core_budget.h"
#include "engine/translator.h"
#include "gtest/gtest.h"
#include "tests/engine/memory_hooks.h"
#include "tests/engine/reference/transformer.h"
#include "tests/engine/small_model.h"

namespace nibu::internal {
namespace {

// Submits a sentence and waits for its result. It allocates nothing of its own in between.
class Sender {
 public:
  explicit Sender(const std::shared_ptr<const Model>& model, const TranslatorOptions& options)
      : translator_(*Translator::Create(model, options)) {}

  Result Send(const std::vector<int>& source, const DecodingOptions& options, int64_t failing = 0,
              int64_t count = 1) {
    Request request{.source = source, .options = options};
    result_ = Result();
    ended_ = false;
    if (failing > 0) FailAllocation(failing, count);
    const absl::StatusOr<Ticket> ticket =
        translator_->Submit(std::move(request), [this](uint64_t, Result result) {
          result_ = std::move(result);
          ended_ = true;
        });
    while (ticket.ok() && !ended_) std::this_thread::yield();
    has_failed_ = StopFailing();
    return ticket.ok() ? std::move(result_) : Result(ticket.status());
  }
  bool has_failed() const { return has_failed_; }

 private:
  Result result_;
  std::atomic<bool> ended_ = false;
  bool has_failed_ = false;
  std::unique_ptr<Translator> translator_;
};

struct Case {
  std::string name;
  ComputeType type = ComputeType::kFloat32;
  bool draft = false;
  bool ssru = false;
  bool cores = false;
  DecodingOptions options;
};

std::vector<Case> Cases() {
  std::vector<Case> cases(5);
  cases[0].name = "beam";
  cases[0].options.beam_size = 3;
  cases[0].options.num_hypotheses = 2;
  cases[1].name = "shortlist, int8";
  cases[1].type = ComputeType::kInt8;
  cases[1].options.shortlist = SmallShortlist(50);
  cases[2].name = "draft, frame";
  cases[2].draft = true;
  cases[2].options.frame = Frame{{3, 4}, {5, 0}, {9, 7, 8}};
  cases[2].options.beam_size = 1;
  cases[3].name = "SSRU, int8";
  cases[3].type = ComputeType::kInt8;
  cases[3].ssru = true;
  for (Case& each : cases) each.options.max_decoding_length = 6;
  cases[4].name = "retry, core budget";
  cases[4].cores = true;
  cases[4].options.beam_size = 1;
  cases[4].options.on_repetition = OnRepetition::kRetry;
  cases[4].options.min_decoding_length = cases[4].options.max_decoding_length = 40;
  return cases;
}

void ExpectOneOf(const Result& result, const Result& expected) {
  if (result.ok()) {
    EXPECT_TRUE(SameBits(Results{*result}, Results{*expected}));
  } else {
    EXPECT_EQ(result.status().code(), absl::StatusCode::kResourceExhausted) << result.status();
  }
}

class OutOfMemoryTest : public testing::TestWithParam<size_t> {
 protected:
  OutOfMemoryTest() : case_(Cases()[GetParam()]) {
    ModelConfig config = SmallConfig();
    if (case_.ssru) config.decoder_memory = DecoderMemory::kSsru;
    model_ = reference::Transformer(config, 7).Build(case_.type);
    if (case_.draft) options_.draft = model_;
    if (case_.cores) options_.cores = std::make_shared<CoreBudget>(1);
  }
  Result Send(Sender* sender, int64_t failing = 0, int64_t count = 1) {
    return sender->Send(source_, case_.options, failing, count);
  }

  const Case case_;
  const std::vector<int> source_ = {5, 9, 13, 22, 4};
  TranslatorOptions options_;
  std::shared_ptr<const Model> model_;
};

INSTANTIATE_TEST_SUITE_P(Cases, OutOfMemoryTest, testing::Range(size_t{0}, Cases().size()));

// Each n has a translator of its own, so that all first allocations fail once, those of the
// primitives included.
TEST_P(OutOfMemoryTest, OfTheFirstRequest) {
  Sender sound(model_, options_);
  const Result expected = Send(&sound);
  ASSERT_TRUE(expected.ok()) << expected.status();
  int refused = 0;
  for (int64_t n = 1;; n += OneIn()) {
    SCOPED_TRACE(testing::Message() << case_.name << ", allocation " << n);
    Sender sender(model_, options_);
    const Result result = Send(&sender, n);
    const bool has_failed = sender.has_failed();
    ExpectOneOf(result, expected);
    refused += result.ok() ? 0 : 1;
    EXPECT_TRUE(SameBits(Results{*Send(&sender)}, Results{*expected}));
    if (!has_failed) break;
  }
  EXPECT_GT(refused, 10);
}

// A warm translator survives a failure of every allocation, and then a lack of memory that lasts.
TEST_P(OutOfMemoryTest, OfALaterRequest) {
  Sender sender(model_, options_);
  const Result expected = Send(&sender);
  for (int64_t n = 1;; ++n) {
    SCOPED_TRACE(testing::Message() << case_.name << ", allocation " << n);
    const Result result = Send(&sender, n);
    const bool has_failed = sender.has_failed();
    ExpectOneOf(result, expected);
    EXPECT_TRUE(SameBits(Results{*Send(&sender)}, Results{*expected}));
    if (!has_failed) break;
  }
  for (int64_t n = 1; n < 20; ++n) {
    const Result result = Send(&sender, n, /*count=*/1000000);
    EXPECT_FALSE(result.ok());
    ExpectOneOf(result, expected);
    EXPECT_TRUE(SameBits(Results{*Send(&sender)}, Results{*expected}));
  }
}

// Expects that at most one of several sentences fails that share their steps, and that the others
// get the results that they get alone.
void ExpectOthersAsTheyAre(const std::shared_ptr<const Model>& model,
                           const TranslatorOptions& options, const DecodingOptions& decoding,
                           const Sources& sources, int64_t most, int64_t stride) {
  auto translator = *Translator::Create(model, options);
  const auto expected = *translator->Translate(sources, decoding);
  std::vector<Result> results(sources.size());
  for (int64_t n = 1; n < most; n += stride) {
    std::atomic<size_t> missing = sources.size();
    const std::function<void(uint64_t, Result)> done = [&](uint64_t key, Result result) {
      results[key] = std::move(result);
      --missing;
    };
    FailAllocation(n);
    for (size_t i = 0; i < sources.size(); ++i) {
      absl::StatusOr<Ticket> ticket;
      try {
        ticket = translator->Submit({.source = sources[i], .options = decoding, .key = i}, done);
      } catch (const std::bad_alloc&) {  // The copy of the request failed.
        ticket = absl::ResourceExhaustedError("");
      }
      if (!ticket.ok()) done(i, ticket.status());
    }
    while (missing > 0) std::this_thread::yield();
    const bool has_failed = StopFailing();
    int failed = 0;
    for (size_t i = 0; i < sources.size(); ++i) {
      failed += results[i].ok() ? 0 : 1;
      ExpectOneOf(results[i], expected[i]);
    }
    EXPECT_LE(failed, 1) << n;
    if (!has_failed) break;
  }
}

TEST_P(OutOfMemoryTest, LeavesOtherRequestsAsTheyAre) {
  ExpectOthersAsTheyAre(model_, options_, case_.options, RandomSources(8, 12, 50), 400, 7);
}

// Two sentences that loop until they are retried. Every allocation fails once.
TEST_P(OutOfMemoryTest, LeavesAnotherRetryAsItIs) {
  ExpectOthersAsTheyAre(model_, options_, case_.options, {{47, 8, 17}, {47, 8, 17}}, 100000,
                        OneIn());
}

}  // namespace
}  // namespace nibu::internal
