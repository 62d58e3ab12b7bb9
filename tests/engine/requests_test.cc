// Tests of requests with options, priorities and deadlines of their own.
// Threads: the thread sanitizer runs this file.
#include <atomic>
#include <chrono>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "engine/translator.h"
#include "gtest/gtest.h"
#include "tests/engine/asking.h"
#include "tests/engine/reference/transformer.h"
#include "tests/engine/small_model.h"

namespace nibu::internal {
namespace {

using std::chrono::milliseconds;
using Clock = Request::Clock;

std::shared_ptr<const Model> SmallModel(int positions = 64) {
  ModelConfig config = SmallConfig();
  config.max_positions = positions;
  return reference::Transformer(config, 9).Build(ComputeType::kFloat32);
}

// Returns a request that keeps a worker busy until it is cancelled.
Request Endless() {
  Request request;
  request.source = {5, 6, 7};
  request.options.beam_size = 1;
  request.options.min_decoding_length = request.options.max_decoding_length = 1 << 20;
  return request;
}

// Collects results by their keys, in the order of their arrival.
class Inbox {
 public:
  Done done() {
    return [this](uint64_t key, Result result) {
      const std::lock_guard<std::mutex> lock(mutex_);
      keys_.push_back(key);
      results_.emplace(key, std::move(result));
      changed_.notify_all();
    };
  }
  std::vector<uint64_t> Await(size_t count) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return keys_.size() >= count; });
    return keys_;
  }
  const Result& at(uint64_t key) { return results_.at(key); }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<uint64_t> keys_;
  std::map<uint64_t, Result> results_;
};

// Returns options for one row at a time, so that the order of the results is that of the queue.
TranslatorOptions OneAtATime() {
  TranslatorOptions options;
  options.batch_size = 1;
  options.max_decoding_length = 1 << 20;
  return options;
}

std::vector<DecodingOptions> ManyOptions() {
  std::vector<DecodingOptions> many(8);
  many[0].beam_size = 1;
  many[1].beam_size = 1;
  many[1].return_scores = false;
  many[2].beam_size = 3;
  many[2].num_hypotheses = 3;
  many[3].beam_size = 7;
  many[3].length_penalty = 0;
  many[4].shortlist = SmallShortlist(50);
  many[5].frame = Frame{{3, 4}, {5, 0}, {-1, 7, 8, 9}};
  many[6].frame = Frame{{}, {0}, {2}};
  many[6].min_decoding_length = 6;
  many[7].beam_size = 2;
  many[7].patience = 2;
  many[7].num_hypotheses = 4;
  many[7].max_length_factor = 0.7f;
  for (DecodingOptions& options : many) options.max_decoding_length = 12;
  return many;
}

// Each request gets the results of its options, whatever else shares the steps, with and without a
// draft, for both kinds of decoders.
TEST(RequestsTest, OptionsOfTheirOwnInOneBatch) {
  const auto many = ManyOptions();
  for (const DecoderMemory memory : {DecoderMemory::kSelfAttention, DecoderMemory::kSsru}) {
    ModelConfig config = SmallConfig();
    config.decoder_memory = memory;
    const auto model = reference::Transformer(config, 9).Build(ComputeType::kFloat32);
    const Sources sources = RandomSources(std::max(20, Rounds(80)), 20, config.vocab_source);
    std::vector<Results> expected;
    for (const auto& options : many) expected.push_back(Translate(model, options, {}, sources));
    for (const int batch : {0, 1, 5}) {
      for (const bool with_draft : {false, true}) {
        TranslatorOptions options;
        options.threads = 2;
        options.batch_size = batch;
        if (with_draft) options.draft = model;
        const auto translator = *Translator::Create(model, options);
        Inbox inbox;
        for (size_t i = 0; i < sources.size(); ++i) {
          Request request{.source = sources[i], .options = many[i % many.size()], .key = i};
          request.priority = static_cast<int>(i % 3);
          EXPECT_TRUE(translator->Submit(request, inbox.done()).ok());
        }
        inbox.Await(sources.size());
        for (size_t i = 0; i < sources.size(); ++i) {
          EXPECT_TRUE(SameBits(Results{*inbox.at(i)}, Results{expected[i % many.size()][i]}))
              << "options " << i % many.size() << ", batch " << batch;
        }
      }
    }
  }
}

TEST(RequestsTest, TheUrgentOneOvertakesTheQueue) {
  const auto translator = *Translator::Create(SmallModel(1 << 14), OneAtATime());
  Inbox inbox;
  const Ticket first = *translator->Submit(Endless(), inbox.done());
  for (uint64_t key = 1; key <= 5; ++key) {
    Request request{.source = {4}, .priority = key == 5 ? 1 : 0, .key = key};
    EXPECT_TRUE(translator->Submit(request, inbox.done()).ok());
  }
  std::this_thread::sleep_for(milliseconds(5));  // By then, the first request is under way.
  translator->Cancel(first);
  EXPECT_EQ(inbox.Await(6), std::vector<uint64_t>({0, 5, 1, 2, 3, 4}));
}

TEST(RequestsTest, TheLateOneEndsAndFreesItsRows) {
  const auto translator = *Translator::Create(SmallModel(1 << 14), OneAtATime());
  Inbox inbox;
  Request late = Endless();
  late.deadline = Clock::now() + milliseconds(20);
  EXPECT_TRUE(translator->Submit(late, inbox.done()).ok());
  // This request waits for the row of the first one.
  EXPECT_TRUE(translator->Submit({.source = {4, 5}, .key = 1}, inbox.done()).ok());
  // These two are too late, one before it begins, one while it waits.
  EXPECT_TRUE(
      translator->Submit({.source = {4}, .deadline = Clock::now(), .key = 2}, inbox.done()).ok());
  Request waiting{.source = {4}, .key = 3};
  waiting.deadline = Clock::now() + milliseconds(5);
  EXPECT_TRUE(translator->Submit(waiting, inbox.done()).ok());
  inbox.Await(4);
  EXPECT_TRUE(inbox.at(1).ok());
  for (const uint64_t key : {0, 2, 3}) {
    EXPECT_EQ(inbox.at(key).status().code(), absl::StatusCode::kDeadlineExceeded) << key;
  }
}

TEST(RequestsTest, CanBeCancelled) {
  const auto translator = *Translator::Create(SmallModel(1 << 14), OneAtATime());
  Inbox inbox;
  Request endless = Endless();
  const Ticket running = *translator->Submit(endless, inbox.done());
  endless.key = 1;
  const Ticket waiting = *translator->Submit(endless, inbox.done());
  std::this_thread::sleep_for(milliseconds(5));
  translator->Cancel(waiting);
  EXPECT_EQ(inbox.Await(1), std::vector<uint64_t>({1}));
  translator->Cancel(running);
  inbox.Await(2);
  for (const uint64_t key : {0, 1}) {
    EXPECT_EQ(inbox.at(key).status().code(), absl::StatusCode::kCancelled);
  }
  translator->Cancel(running);  // It has ended already.
  EXPECT_TRUE(translator->Translate({{5, 6}}, {}).ok());
}

TEST(RequestsTest, TheQueueSaysWhenItIsFull) {
  TranslatorOptions options = OneAtATime();
  options.queue_size = 2;
  const auto translator = *Translator::Create(SmallModel(1 << 14), options);
  Inbox inbox;
  const Ticket first = *translator->Submit(Endless(), inbox.done());
  const Ticket second = *translator->Submit(Endless(), inbox.done());
  const auto refused = translator->Submit({.source = {5}, .key = 2}, inbox.done());
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(refused.status().message().find("it has room for 2 sentences"), std::string::npos);
  translator->Cancel(second);
  EXPECT_TRUE(
      translator->Submit({.source = {5}, .key = 2}, inbox.done(), std::chrono::seconds(60)).ok());
  translator->Cancel(first);
  inbox.Await(3);
  EXPECT_TRUE(inbox.at(2).ok());
}

TEST(RequestsTest, AreCheckedAtTheDoor) {
  const auto translator = *Translator::Create(SmallModel(), {});
  const auto refused = [&](Request request) {
    const auto ticket = translator->Submit(std::move(request), [](uint64_t, const Result&) {
      ADD_FAILURE() << "a refused request was answered";
    });
    EXPECT_EQ(ticket.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(ticket.status().message());
  };
  EXPECT_EQ(refused({}), "source has 0 tokens, expected 1 to 63");
  EXPECT_EQ(refused({.source = std::vector<int>(64, 5)}), "source has 64 tokens, expected 1 to 63");
  EXPECT_EQ(refused({.source = {5, 50}}), "source has the token 50, expected 0 to 49");
  EXPECT_EQ(refused({.source = {-1}}), "source has the token -1, expected 0 to 49");
  Request request{.source = {5}};
  request.options.num_hypotheses = 9;
  EXPECT_EQ(refused(request).find("num_hypotheses"), 0u);
  request.options = {};
  request.options.frame = Frame{{}, {}, {99}};
  EXPECT_EQ(refused(request), "frame.decoder_start has 99, expected -1 to 49");
  EXPECT_EQ(refused({.source = {5}, .max_length = -1}).find("max_length"), 0u);
}

// A plan fits only its own translator, since it has the ids and positions of that translator's
// models.
TEST(RequestsTest, APlanIsOfOneTranslator) {
  const auto model = SmallModel();
  const auto translator = *Translator::Create(model, {});
  const auto other = *Translator::Create(model, {});
  const auto plan = *translator->Plan({});
  const auto done = [](uint64_t, const Result& result) { EXPECT_TRUE(result.ok()); };
  EXPECT_TRUE(translator->Submit({.source = {5}, .plan = plan}, done).ok());
  const absl::Status status = other->Submit({.source = {5}, .plan = plan}, done).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message().find("plan is another translator's"), 0u) << status;
}

// A length limit of 0 is a limit. Without a value there is no limit.
TEST(RequestsTest, TheLengthMayBeLimitedToNothing) {
  const auto lengths = [](const Request& request) {
    std::vector<size_t> all;
    const Result result = Ask(SmallModel(), request);
    for (const Hypothesis& h : *result) all.push_back(h.tokens.size());
    return all;
  };
  Request request{.source = {5, 9, 33, 7}};
  for (const int beam : {1, 4}) {
    request.options.beam_size = beam;
    request.max_length = 0;
    EXPECT_EQ(lengths(request), std::vector<size_t>({0}));
    request.target_prefix = {4, 6};
    EXPECT_EQ(lengths(request), std::vector<size_t>({0}));
    request.max_length = 2;
    EXPECT_EQ(lengths(request), std::vector<size_t>({2}));
    request.target_prefix.clear();
    request.max_length = std::nullopt;
    request.options.min_decoding_length = 5;
    EXPECT_GE(lengths(request).at(0), 5u);
    request.options.min_decoding_length = 1;
  }
}

// Each result brings the next request, on the thread that delivers it, as in a server.
TEST(RequestsTest, CallbacksMaySubmit) {
  const auto translator = *Translator::Create(SmallModel(), {});
  std::promise<size_t> last;
  const std::thread::id here = std::this_thread::get_id();
  std::function<void(uint64_t, Result)> next = [&](uint64_t key, const Result& result) {
    EXPECT_TRUE(result.ok());
    EXPECT_NE(std::this_thread::get_id(), here);
    if (key == 20) return last.set_value(key);
    EXPECT_TRUE(translator->Submit({.source = {5, 6}, .key = key + 1}, next).ok());
  };
  EXPECT_TRUE(translator->Submit({.source = {5}, .key = 1}, next).ok());
  EXPECT_EQ(last.get_future().get(), 20u);
}

TEST(RequestsTest, WhatCallbacksThrowIsDropped) {
  const auto translator = *Translator::Create(SmallModel(), {});
  EXPECT_TRUE(translator->Submit({.source = {5}}, [](uint64_t, const Result&) { throw 1; }).ok());
  EXPECT_TRUE(translator->Translate({{5, 6}}, {}).ok());
}

}  // namespace
}  // namespace nibu::internal
