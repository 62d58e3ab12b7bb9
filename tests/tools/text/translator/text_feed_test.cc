// Tests of TextFeed: the number of units at a time, their order, and the ends of texts. Most of
// them hold units back in place of translating them; one compares the translations of random texts
// with those of Translator::Submit. Threads: the thread sanitizer runs this file.
#include "nibu/text_feed.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nibu/nibu.h"
#include "tests/engine/testing.h"
#include "tests/paths.h"

namespace nibu {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A unit that was submitted and waits for the test.
struct Held {
  std::string source;
  Request request;
  Done done;

  void Finish() const {
    Result result;
    result.hypotheses.emplace_back().text = absl::StrCat("<", source, ">");
    done(0, std::move(result));
  }
};

// A text on its way: which units have been translated, and how it ended.
class Watched {
 public:
  FeedText Fed(std::string text, std::shared_ptr<const Plan> plan) {
    FeedText fed;
    fed.text = std::move(text);
    fed.plan = std::move(plan);
    fed.on_unit = [this](const FedUnit& unit) {
      const std::lock_guard<std::mutex> lock(mutex_);
      translated_.push_back(unit.unit.source());
    };
    fed.done = [this](auto translations) { translations_.set_value(std::move(translations)); };
    return fed;
  }
  absl::StatusOr<std::vector<std::string>> Await() { return translations_.get_future().get(); }
  std::vector<std::string> translated() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return translated_;
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> translated_;
  std::promise<absl::StatusOr<std::vector<std::string>>> translations_;
};

class TextFeedTest : public testing::Test {
 protected:
  void SetUp() override {
    ModelOptions options;
    options.compute_type = ComputeType::kFloat32;
    model_ = *Model::Load(internal::CaptionsModelPath(), options);
    SpeedOptions speed;
    speed.threads = 2;
    speed.queue_size = 1 << 30;
    translator_ = *Translator::Create(speed);
    feed_ = *TextFeed::Create(translator_.get());
    plan_ = Prepare({});
  }
  std::shared_ptr<const Plan> Prepare(const Options& options) {
    return *translator_->Prepare(model_, options);
  }
  // Keeps units from now on, instead of translating them.
  void Hold() {
    feed_->SetSubmitUnit([this](const TextUnit& unit, const auto&, Request request, Done done) {
      const std::lock_guard<std::mutex> lock(mutex_);
      held_.push_back({unit.source(), std::move(request), std::move(done)});
      changed_.notify_one();
      return Ticket();
    });
  }
  // Waits for so many held units and returns all.
  std::vector<Held> TakeHeld(size_t count) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return held_.size() >= count; });
    return std::exchange(held_, {});
  }

  std::shared_ptr<const Model> model_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Held> held_;
  std::unique_ptr<Translator> translator_;
  std::unique_ptr<TextFeed> feed_;
  std::shared_ptr<const Plan> plan_;
};

std::vector<std::string> SourcesOf(const std::vector<Held>& units) {
  std::vector<std::string> sources;
  for (const Held& unit : units) sources.push_back(unit.source);
  return sources;
}

// A text of many units, alone or beside others, is cut no further than the bound, and comes out
// whole and in order however its units end.
TEST_F(TextFeedTest, AtMostSoManyUnitsExist) {
  Hold();
  constexpr size_t kLines = TextFeed::kMostUnits + 1000;
  std::string text;
  std::string expected;
  for (size_t i = 0; i < kLines; ++i) {
    absl::StrAppend(&text, i, "\n");
    absl::StrAppend(&expected, "<", i, ">\n");
  }
  Watched first;
  Watched second;
  ASSERT_TRUE(feed_->Submit(first.Fed(text, plan_)).ok());
  ASSERT_TRUE(feed_->Submit(second.Fed("a\nb\n", plan_)).ok());
  std::mt19937 random(1);
  for (size_t finished = 0; finished < kLines + 2;) {
    const size_t most = std::min(TextFeed::kMostUnits, kLines + 2 - finished);
    std::vector<Held> held = TakeHeld(std::min<size_t>(most, 500));
    EXPECT_LE(feed_->units(), TextFeed::kMostUnits);
    std::shuffle(held.begin(), held.end(), random);
    for (const Held& unit : held) unit.Finish();
    finished += held.size();
  }
  EXPECT_THAT(*first.Await(), ElementsAre(expected));
  EXPECT_THAT(*second.Await(), ElementsAre("<a>\n<b>\n"));
  EXPECT_EQ(feed_->units(), 0u);
}

// When the feed is full, the text with the lowest tag gets the next place, and the priorities of
// units go down with their tags.
TEST_F(TextFeedTest, UnitsComeInTheOrderOfTheirTags) {
  Hold();
  std::string text;
  for (size_t i = 0; i < TextFeed::kMostUnits + 8; ++i) absl::StrAppend(&text, "long ", i, "\n");
  Watched large;
  ASSERT_TRUE(feed_->Submit(large.Fed(text, plan_)).ok());
  const std::vector<Held> first = TakeHeld(TextFeed::kMostUnits);
  ASSERT_EQ(first.size(), TextFeed::kMostUnits);
  Watched late;
  Watched early;
  FeedText fed = late.Fed("late", plan_);
  fed.tag = 2560;
  ASSERT_TRUE(feed_->Submit(std::move(fed)).ok());
  ASSERT_TRUE(feed_->Submit(early.Fed(std::string(5000, 'x'), plan_)).ok());
  for (size_t i = 0; i < 3; ++i) first[i].Finish();
  const std::vector<Held> next = TakeHeld(3);
  EXPECT_EQ(next[0].source[0], 'x');
  EXPECT_EQ(next[1].source, "late");
  EXPECT_EQ(next[2].source, absl::StrCat("long ", TextFeed::kMostUnits));
  // Four units of the least cost, 256, have one priority: they are in one span of 1,024.
  EXPECT_EQ(first[0].request.priority, 0);
  EXPECT_EQ(first[3].request.priority, -1);
  EXPECT_EQ(first[7].request.priority, -2);
  EXPECT_EQ(next[0].request.first_priority, 0);
  EXPECT_EQ(next[0].request.priority, -(5000 / 1024));
  EXPECT_EQ(next[1].request.priority, -((2560 + 256) / 1024));
}

TEST_F(TextFeedTest, TheCostIsMultipliedByTheShare) {
  Hold();
  Watched text;
  FeedText fed = text.Fed("a\nb\n", plan_);
  fed.share = 8;
  ASSERT_TRUE(feed_->Submit(std::move(fed)).ok());
  const std::vector<Held> held = TakeHeld(2);
  EXPECT_EQ(held[0].request.priority, -2);
  EXPECT_EQ(held[1].request.priority, -4);
  EXPECT_EQ(TextFeed::CostOf("a\nb"), 512);
  EXPECT_EQ(TextFeed::CostOf(std::string(5000, 'x')), 5000);
}

TEST_F(TextFeedTest, KnownAndBlankUnitsAreNotSubmitted) {
  Hold();
  Watched text;
  FeedText fed = text.Fed("a\r\n \n\nb", plan_);
  fed.find = [](const TextUnit& unit) {
    return unit.source() == "a" ? std::make_shared<const std::vector<std::string>>(1, "A")
                                : nullptr;
  };
  ASSERT_TRUE(feed_->Submit(std::move(fed)).ok());
  const std::vector<Held> held = TakeHeld(1);
  EXPECT_THAT(SourcesOf(held), ElementsAre("b"));
  held[0].Finish();
  EXPECT_THAT(*text.Await(), ElementsAre("A\r\n \n\n<b>"));
  EXPECT_THAT(text.translated(), ElementsAre("b"));
}

// While one unit is slow, those behind it come and go, known or not.
TEST_F(TextFeedTest, ASlowUnitHoldsNothingUp) {
  Hold();
  Watched slow;
  ASSERT_TRUE(
      feed_->Submit(slow.Fed("slow\n" + std::string(3 * TextFeed::kMostUnits, '\n') + "a", plan_))
          .ok());
  const std::vector<Held> held = TakeHeld(2);
  EXPECT_THAT(SourcesOf(held), ElementsAre("slow", "a"));
  EXPECT_EQ(feed_->units(), 2u);
  held[1].Finish();
  held[0].Finish();
  EXPECT_THAT(*slow.Await(),
              ElementsAre("<slow>\n" + std::string(3 * TextFeed::kMostUnits, '\n') + "<a>"));
}

// A text ends with the error of the first unit that failed, whichever failed before it in time.
TEST_F(TextFeedTest, AnErrorIsThatOfTheFirstUnitThatFailed) {
  Hold();
  Watched text;
  ASSERT_TRUE(feed_->Submit(text.Fed("a\nb\nc\nd\n", plan_)).ok());
  const std::vector<Held> held = TakeHeld(4);
  held[2].done(0, absl::InternalError("third"));
  held[3].Finish();
  held[0].Finish();
  held[1].done(0, absl::InternalError("second"));
  EXPECT_EQ(text.Await().status().message(), "second");
  EXPECT_THAT(text.translated(), ElementsAre("a"));
  EXPECT_EQ(feed_->units(), 0u);
}

TEST_F(TextFeedTest, WhatAFunctionThrowsEndsItsTextAlone) {
  Hold();
  Watched bad;
  Watched worse;
  Watched good;
  FeedText fed = bad.Fed("a\n", plan_);
  fed.on_unit = [](const FedUnit&) { throw std::bad_alloc(); };
  ASSERT_TRUE(feed_->Submit(std::move(fed)).ok());
  fed = worse.Fed("a\n", plan_);
  fed.find = [](const TextUnit&) -> std::shared_ptr<const std::vector<std::string>> { throw 3; };
  ASSERT_TRUE(feed_->Submit(std::move(fed)).ok());
  ASSERT_TRUE(feed_->Submit(good.Fed("b\n", plan_)).ok());
  for (const Held& unit : TakeHeld(2)) unit.Finish();
  EXPECT_TRUE(absl::IsResourceExhausted(bad.Await().status()));
  EXPECT_TRUE(absl::IsInternal(worse.Await().status()));
  EXPECT_TRUE(good.Await().ok());
}

// A text that is cancelled is not heard of again, and leaves its room to others.
TEST_F(TextFeedTest, CancelledTextsLeaveTheirRoom) {
  Hold();
  std::string text;
  for (size_t i = 0; i < 2 * TextFeed::kMostUnits; ++i) absl::StrAppend(&text, i, "\n");
  Watched cancelled;
  const auto large = feed_->Submit(cancelled.Fed(text, plan_));
  ASSERT_TRUE(large.ok());
  const std::vector<Held> held = TakeHeld(TextFeed::kMostUnits);
  Watched other;
  ASSERT_TRUE(feed_->Submit(other.Fed("a\n", plan_)).ok());
  feed_->Cancel(*large);
  feed_->Cancel(*large);
  held[0].Finish();
  TakeHeld(1)[0].Finish();
  EXPECT_TRUE(other.Await().ok());
  EXPECT_THAT(cancelled.translated(), IsEmpty());
  EXPECT_EQ(feed_->units(), 0u);
}

TEST_F(TextFeedTest, TextsEndInTime) {
  Watched text;
  FeedText fed = text.Fed("a\n", plan_);
  fed.deadline = std::chrono::steady_clock::now();
  ASSERT_TRUE(feed_->Submit(std::move(fed)).ok());
  EXPECT_TRUE(absl::IsDeadlineExceeded(text.Await().status()));
}

TEST_F(TextFeedTest, NeedsAPlanAndAShare) {
  FeedText fed;
  EXPECT_TRUE(absl::IsInvalidArgument(feed_->Submit(fed).status()));
  fed.plan = plan_;
  fed.share = 0;
  EXPECT_TRUE(absl::IsInvalidArgument(feed_->Submit(fed).status()));
}

// The feed ends with texts under way: held, cut and not cut.
TEST_F(TextFeedTest, EndsWithTextsUnderWay) {
  Hold();
  Watched first;
  Watched second;
  ASSERT_TRUE(feed_->Submit(first.Fed("a\nb\n", plan_)).ok());
  const std::vector<Held> held = TakeHeld(2);
  ASSERT_TRUE(feed_->Submit(second.Fed("c\n", plan_)).ok());
  feed_ = nullptr;
  for (const Held& unit : held) unit.Finish();
  EXPECT_THAT(first.translated(), IsEmpty());
}

// The translations are those of Translator::Submit, over random lines and blocks of a page.
TEST_F(TextFeedTest, TranslatesAsSubmitDoes) {
  const std::vector<std::string> pieces = {
      "A dog runs.", "Two men. A cat.", "",           "  ", "<b>A</b> boy",
      "<p>",         "</p><!-- x -->",  "http://x.de"};
  Options page;
  page.text = TextKind::kDocument;
  page.markup = Markup::kHtml;
  std::mt19937 random(7);
  for (const Options& options : {Options(), page}) {
    const auto plan = Prepare(options);
    for (int round = 0; round < internal::Rounds(8); ++round) {
      std::vector<std::string> lines(random() % 12);
      for (std::string& line : lines) line = pieces[random() % pieces.size()];
      const std::string text = absl::StrCat(absl::StrJoin(lines, "\n"), "\n");
      const auto expected = translator_->Translate({text}, plan);
      ASSERT_TRUE(expected.ok()) << expected.status();
      Watched watched;
      ASSERT_TRUE(feed_->Submit(watched.Fed(text, plan)).ok());
      const auto translations = watched.Await();
      ASSERT_TRUE(translations.ok()) << translations.status();
      EXPECT_THAT(*translations, ElementsAre((*expected)[0].hypotheses[0].text)) << text;
    }
  }
}

// A line of very many sentences is cut, and so are blocks: the sentences that wait for the decoder
// are bounded, and the translation is that of the whole.
TEST_F(TextFeedTest, FewSentencesOfALongLineWait) {
  Options line;
  line.beam_size = 1;
  line.max_decoding_length = 2;
  Options page = line;
  page.text = TextKind::kDocument;
  page.markup = Markup::kHtml;
  const int count = internal::Rounds(8'000);
  for (const Options& options : {line, page}) {
    std::string text = options.text == TextKind::kDocument ? "<p>" : "";
    for (int i = 0; i < count; ++i) absl::StrAppend(&text, i % 7 == 0 ? "<b>I!</b> " : "I! ");
    text += '\n';
    const auto plan = Prepare(options);
    Watched watched;
    FeedText fed = watched.Fed(text, plan);
    std::atomic<size_t> most = 0;
    fed.on_unit = [&](const FedUnit&) {
      most = std::max<size_t>(most, translator_->activity().waiting);
    };
    ASSERT_TRUE(feed_->Submit(std::move(fed)).ok());
    const auto translations = watched.Await();
    ASSERT_TRUE(translations.ok()) << translations.status();
    EXPECT_LE(most, TextFeed::kMostSentences + 1024);
    // Compared without printing: it is long.
    EXPECT_TRUE((*translations)[0] ==
                translator_->Translate({text}, plan)->at(0).hypotheses[0].text);
  }
}

// The sentences of a long line wait among those of others, from the first priority of the line to
// its last one.
TEST_F(TextFeedTest, SentencesOfALongLineWaitAmongOthers) {
  SpeedOptions speed;
  speed.threads = 1;
  speed.batch_size = 1;
  const auto translator = *Translator::Create(speed);
  Options greedy;
  greedy.beam_size = 1;
  const auto plan = *translator->Prepare(model_, greedy);
  std::mutex mutex;
  std::vector<std::string> order;  // the sentences in the order in which they are decoded
  std::promise<void> begun;
  std::promise<void> go_on;
  std::vector<std::promise<void>> ends(3);
  const auto submit = [&](const std::string& line, size_t number, int64_t first, int64_t last) {
    Request request;
    request.first_priority = first;
    request.priority = last;
    request.on_step = [&, number](const Step& step) {
      if (number == 0) {
        begun.set_value();
        go_on.get_future().wait();
        return true;
      }
      const std::lock_guard<std::mutex> lock(mutex);
      if (step.position == 0) order.push_back(absl::StrCat(number, ".", step.sentence));
      return false;
    };
    EXPECT_TRUE(translator
                    ->Submit(
                        line, plan, request,
                        [&, number](uint64_t, const auto&) { ends[number].set_value(); }, kForever)
                    .ok());
  };
  submit("A dog.", 0, 0, 0);
  begun.get_future().wait();
  submit("A dog runs. A cat sits. A boy eats.", 1, 0, -90);
  submit("Two men.", 2, -40, -40);
  go_on.set_value();
  for (std::promise<void>& end : ends) end.get_future().wait();
  EXPECT_THAT(order, ElementsAre("1.0", "2.0", "1.1", "1.2"));
}

}  // namespace
}  // namespace nibu
