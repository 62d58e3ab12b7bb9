// Tests of on_step, which is called for every token as soon as it is chosen, and of CancelAll.
// Threads: the thread sanitizer runs this file.
#include <atomic>
#include <future>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nibu/nibu.h"
#include "tests/paths.h"

namespace nibu {
namespace {

using internal::CaptionsModelPath;
using ::testing::HasSubstr;

constexpr char kLine[] = "A man is riding a bicycle.";

using Named = std::vector<std::pair<std::string, std::string>>;

// Translates a line greedily and keeps the steps that are reported.
class StepsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ModelOptions options;
    options.compute_type = ComputeType::kFloat32;
    model_ = *Model::Load(CaptionsModelPath(), options);
    SpeedOptions speed;
    speed.threads = 1;
    translator_ = *Translator::Create(speed);
  }

  std::shared_ptr<const Plan> Prepare(const Named& named) {
    Options options;
    options.beam_size = 1;
    for (const auto& [name, value] : named) {
      EXPECT_EQ(SetOption(name, value, &options), absl::OkStatus());
    }
    auto plan = translator_->Prepare(model_, options);
    EXPECT_TRUE(plan.ok()) << plan.status();
    return *std::move(plan);
  }

  absl::StatusOr<Result> Translate(const std::shared_ptr<const Plan>& plan, Request request,
                                   const std::string& line = kLine) {
    std::promise<absl::StatusOr<Result>> result;
    if (request.on_step == nullptr) {
      request.on_step = [this](const Step& step) {
        steps_.push_back(step);
        return false;
      };
    }
    const auto ticket = translator_->Submit(
        line, plan, std::move(request),
        [&](uint64_t, absl::StatusOr<Result> found) { result.set_value(std::move(found)); });
    if (!ticket.ok()) return ticket.status();
    return result.get_future().get();
  }

  std::shared_ptr<const Model> model_;
  std::unique_ptr<Translator> translator_;
  std::vector<Step> steps_;
};

TEST_F(StepsTest, AreTheTokensOfTheResult) {
  const auto plan = Prepare({});
  const auto result = Translate(plan, {});
  ASSERT_TRUE(result.ok()) << result.status();
  const Hypothesis& best = result->hypotheses[0];
  ASSERT_EQ(steps_.size(), best.tokens.size() + 1);
  float log_prob = 0;
  for (size_t i = 0; i < steps_.size(); ++i) {
    const bool is_last = i == best.tokens.size();
    EXPECT_EQ(steps_[i].token, is_last ? best.end_token : best.tokens[i]);
    EXPECT_EQ(model_->TargetIds({steps_[i].token})[0], steps_[i].id);
    EXPECT_EQ(steps_[i].position, i);
    EXPECT_EQ(steps_[i].hypothesis, 0);
    EXPECT_EQ(steps_[i].is_last, is_last);
    log_prob += steps_[i].log_prob;
  }
  EXPECT_EQ(best.end_token, "</s>");
  EXPECT_NEAR(log_prob, best.log_prob, 1e-4);

  // Reporting steps does not change the translation.
  const auto untold = translator_->Translate({kLine}, plan);
  ASSERT_TRUE(untold.ok()) << untold.status();
  EXPECT_EQ((*untold)[0].hypotheses[0].tokens, best.tokens);
}

TEST_F(StepsTest, TextIsByWhatTheTranslationGrows) {
  for (const Named& named : {Named{}, Named{{"sampling_topk", "20"}, {"num_hypotheses", "3"}}}) {
    steps_.clear();
    const auto result = Translate(Prepare(named), {});
    ASSERT_TRUE(result.ok()) << result.status();
    std::map<size_t, std::string> texts;
    for (const Step& step : steps_) texts[step.hypothesis] += step.text;
    ASSERT_EQ(texts.size(), result->hypotheses.size());
    std::multiset<std::string> told;
    std::multiset<std::string> written;
    for (const auto& [hypothesis, text] : texts) told.insert(text);
    for (const Hypothesis& each : result->hypotheses) written.insert(each.text);
    EXPECT_EQ(told, written);
    EXPECT_EQ(steps_.back().text, "");  // that of the end token
  }
}

TEST_F(StepsTest, TextOfAnyTokens) {
  auto model = Model::Load(internal::TestdataPath("t5"), {});
  ASSERT_TRUE(model.ok()) << model.status();
  Options options;
  options.beam_size = 1;
  options.max_decoding_length = 40;
  options.protect = "none";
  options.sampling_topk = 0;  // of random weights, any token follows any other
  const auto plan = translator_->Prepare(*model, options);
  ASSERT_TRUE(plan.ok()) << plan.status();
  for (int seed = 0; seed < 5; ++seed) {
    steps_.clear();
    Request request;
    request.key = static_cast<uint64_t>(seed);
    const auto result = Translate(*plan, request);
    ASSERT_TRUE(result.ok()) << result.status();
    std::string told;
    for (const Step& step : steps_) told += step.text;
    EXPECT_EQ(told, result->hypotheses[0].text);
  }
}

TEST_F(StepsTest, MayNotWait) {
  const auto plan = Prepare({});
  absl::Status refused;
  Request request;
  request.on_step = [&](const Step&) {
    EXPECT_TRUE(Translator::InCallback());
    refused = translator_->Translate({kLine}, plan).status();
    return false;
  };
  ASSERT_TRUE(Translate(plan, request).ok());
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition) << refused;
  EXPECT_FALSE(Translator::InCallback());
}

TEST_F(StepsTest, BeginWithThePrefixAndEndAtTheLimit) {
  const auto prefix = model_->TokenizeTarget("Ein Kind");
  ASSERT_TRUE(prefix.ok()) << prefix.status();
  Request request;
  request.target_prefix = "Ein Kind";
  const auto result = Translate(Prepare({{"max_decoding_length", "5"}}), request);
  ASSERT_TRUE(result.ok()) << result.status();
  const Hypothesis& best = result->hypotheses[0];
  ASSERT_EQ(steps_.size(), 5);
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(steps_[i].token, best.tokens[i]);
    EXPECT_EQ(steps_[i].is_last, i == 4);
    if (i < prefix->size()) {
      EXPECT_EQ(steps_[i].token, (*prefix)[i]);
      EXPECT_EQ(steps_[i].log_prob, 0);
    }
  }
  EXPECT_EQ(best.end_token, "");
  EXPECT_FALSE(best.finished);

  // A prefix that reaches the limit leaves nothing to choose.
  steps_.clear();
  ASSERT_TRUE(Translate(Prepare({{"max_decoding_length", "1"}}), request).ok());
  ASSERT_EQ(steps_.size(), 1);
  EXPECT_TRUE(steps_[0].is_last);
}

TEST_F(StepsTest, TellOfEachSampleAndEachSentence) {
  const auto samples =
      Translate(Prepare({{"sampling_topk", "5"}, {"num_hypotheses", "3"}, {"seed", "4"}}), {});
  ASSERT_TRUE(samples.ok()) << samples.status();
  std::map<size_t, std::vector<std::string>> told;
  for (const Step& step : steps_) {
    EXPECT_EQ(step.position, told[step.hypothesis].size());
    told[step.hypothesis].push_back(step.token);
  }
  ASSERT_EQ(told.size(), 3);
  std::vector<std::vector<std::string>> found;
  for (const Hypothesis& hypothesis : samples->hypotheses) {
    found.push_back(hypothesis.tokens);
    if (hypothesis.finished) found.back().push_back(hypothesis.end_token);
  }
  EXPECT_THAT(found, ::testing::UnorderedElementsAre(told[0], told[1], told[2]));

  steps_.clear();
  const auto line = Translate(Prepare({}), {}, "Two dogs. A man is riding a bicycle.");
  ASSERT_TRUE(line.ok()) << line.status();
  std::map<size_t, size_t> ends;
  for (const Step& step : steps_) ends[step.sentence] += step.is_last ? 1 : 0;
  EXPECT_EQ(ends, (std::map<size_t, size_t>{{0, 1}, {1, 1}}));
}

TEST_F(StepsTest, EndWhereTheCallerSaysSo) {
  const auto plan = Prepare({});
  Request request;
  request.on_step = [this](const Step& step) {
    steps_.push_back(step);
    return step.position == 2;
  };
  const auto stopped = Translate(plan, request);
  ASSERT_TRUE(stopped.ok()) << stopped.status();
  EXPECT_EQ(steps_.size(), 3);
  ASSERT_EQ(stopped->hypotheses.size(), 1);
  ASSERT_EQ(stopped->hypotheses[0].tokens.size(), 3);
  EXPECT_EQ(stopped->hypotheses[0].tokens[2], steps_[2].token);
  EXPECT_FALSE(stopped->hypotheses[0].finished);

  steps_.clear();
  // The search ends within the prefix, which stays whole.
  request.target_prefix = "Ein Kind";
  request.on_step = [this](const Step& step) -> bool {
    steps_.push_back(step);
    throw std::runtime_error("no more");
  };
  const auto thrown = Translate(plan, request);
  ASSERT_TRUE(thrown.ok()) << thrown.status();
  EXPECT_EQ(steps_.size(), 1);
  EXPECT_EQ(thrown->hypotheses[0].text, "Ein Kind");
}

TEST_F(StepsTest, AreRefusedWhereThereAreNone) {
  for (const Named& named : {Named{{"beam_size", "2"}}, Named{{"patience", "2"}},
                             Named{{"return_alternatives", "true"}, {"num_hypotheses", "2"}},
                             Named{{"on_repetition", "retry"}}}) {
    const auto result = Translate(Prepare(named), {});
    EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument) << named[0].first;
    EXPECT_THAT(std::string(result.status().message()), HasSubstr("on_step"));
  }
  Request request;
  request.target = "Ein Mann.";
  EXPECT_FALSE(Translate(Prepare({}), request).ok());
  request.target.reset();
  request.on_step = [](const Step&) { return false; };
  const auto refuse = [](uint64_t, absl::StatusOr<Result>) { ADD_FAILURE(); };
  EXPECT_FALSE(translator_->Submit("Two dogs.\n", Prepare({}), request, refuse).ok());
  EXPECT_TRUE(steps_.empty());
}

TEST_F(StepsTest, CancelAllEndsAllRequests) {
  const auto plan = Prepare({});
  constexpr int kLines = 500;
  std::atomic<int> cancelled{0};
  std::atomic<int> done{0};
  std::promise<void> all;
  for (int i = 0; i < kLines; ++i) {
    const auto ticket = translator_->Submit(
        kLine, plan, {},
        [&](uint64_t, const absl::StatusOr<Result>& result) {
          cancelled += absl::IsCancelled(result.status()) ? 1 : 0;
          if (++done == kLines) all.set_value();
        },
        kForever);
    ASSERT_TRUE(ticket.ok()) << ticket.status();
  }
  translator_->CancelAll();
  all.get_future().wait();
  EXPECT_GT(cancelled, 0);
  // A request that is submitted later is translated.
  EXPECT_TRUE(translator_->Translate({kLine}, plan).ok());
}

}  // namespace
}  // namespace nibu
