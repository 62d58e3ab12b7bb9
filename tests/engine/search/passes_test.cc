// Tests of Passes: when a sentence is decoded again, and with which hypotheses it ends.
#include "engine/search/passes.h"

#include <vector>

#include "gtest/gtest.h"

namespace nibu::internal {
namespace {

using Tokens = std::vector<int>;

class PassesTest : public testing::Test {
 protected:
  static DecodingOptions Retrying() {
    DecodingOptions options;
    options.on_repetition = OnRepetition::kRetry;
    options.length_penalty = 0;
    return options;
  }
  static Hypothesis Found(Tokens tokens, float log_prob) {
    Hypothesis h;
    h.token_scores.assign(tokens.size() + 1, log_prob / static_cast<float>(tokens.size() + 1));
    h.tokens = std::move(tokens);
    h.log_prob = h.score = log_prob;
    h.end_token = 0;
    return h;
  }
  static Hypothesis Loop(float log_prob) {
    Hypothesis h = Found(Tokens(20, 7), log_prob);
    h.repetition = true;
    return h;
  }

  const SearchPlan plan_{Retrying(), {}};
};

TEST_F(PassesTest, OnePassIsEnough) {
  Passes passes({.plan = &plan_});
  EXPECT_FALSE(passes.NeedsAnotherPass({Found({1, 2}, -1), Found({3}, -2)}));
  EXPECT_EQ(passes.TakeResult().size(), 2u);
}

TEST_F(PassesTest, ALoopIsDecodedAgainAndTheResultsCompared) {
  for (const float rescored : {-0.5f, -0.05f}) {
    Passes passes({.plan = &plan_});
    EXPECT_EQ(passes.task().no_repeat_ngram_size, 0);
    ASSERT_TRUE(passes.NeedsAnotherPass({Loop(-1), Found({3}, -4)}));
    EXPECT_EQ(passes.task().no_repeat_ngram_size, 3);
    EXPECT_EQ(passes.task().target, nullptr);
    ASSERT_TRUE(passes.NeedsAnotherPass({Found({1, 2}, -9)}));
    EXPECT_EQ(passes.task().no_repeat_ngram_size, 0);
    ASSERT_NE(passes.task().target, nullptr);
    EXPECT_EQ(*passes.task().target, Tokens({1, 2, 0}));  // with its end token
    Hypothesis scored;
    scored.token_scores = {rescored, rescored, rescored};
    ASSERT_FALSE(passes.NeedsAnotherPass({scored}));
    const std::vector<Hypothesis> result = passes.TakeResult();
    ASSERT_EQ(result.size(), 2u);
    if (rescored < -1.0f / 3) {
      EXPECT_EQ(result[0].tokens, Tokens(20, 7));
    } else {
      EXPECT_EQ(result[0].tokens, Tokens({1, 2}));
      EXPECT_FLOAT_EQ(result[0].score, 3 * rescored);
    }
    EXPECT_EQ(result[1].tokens, Tokens({3}));
  }
}

TEST_F(PassesTest, WithoutAnotherTranslationTheFirstStays) {
  Passes passes({.plan = &plan_});
  ASSERT_TRUE(passes.NeedsAnotherPass({Loop(-1)}));
  ASSERT_FALSE(passes.NeedsAnotherPass({}));
  EXPECT_EQ(passes.TakeResult()[0].tokens, Tokens(20, 7));
}

TEST_F(PassesTest, APrefixHasTheScoresOfASearch) {
  const Tokens prefix = {1, 9};
  Passes passes({.plan = &plan_, .prefix = prefix});
  ASSERT_TRUE(passes.NeedsAnotherPass({Loop(-100)}));
  EXPECT_EQ(passes.task().prefix.size(), 2u);
  ASSERT_TRUE(passes.NeedsAnotherPass({Found({1, 9, 2}, -9)}));
  EXPECT_TRUE(passes.task().prefix.empty());  // The target includes it.
  Hypothesis scored;
  scored.token_scores = {-1, -2, -3, -4};
  ASSERT_FALSE(passes.NeedsAnotherPass({scored}));
  EXPECT_EQ(passes.TakeResult()[0].token_scores, std::vector<float>({0, 0, -3, -4}));
}

TEST_F(PassesTest, MissedConstraintsAreDropped) {
  const std::vector<Constraint> constraints = {{{1}}, {{2}}, {{3}}};
  Passes passes({.plan = &plan_, .constraints = constraints});
  Hypothesis missing = Found({1, 3}, -1);
  missing.met = 0b101;
  ASSERT_TRUE(passes.NeedsAnotherPass({missing}));
  ASSERT_EQ(passes.task().constraints.size(), 2u);
  EXPECT_EQ(passes.task().constraints[1], constraints[2]);
  missing.met = 0b10;
  ASSERT_TRUE(passes.NeedsAnotherPass({missing}));
  ASSERT_EQ(passes.task().constraints.size(), 1u);
  EXPECT_EQ(passes.task().constraints[0], constraints[2]);
  missing.met = 0b1;
  ASSERT_FALSE(passes.NeedsAnotherPass({missing}));
  EXPECT_EQ(passes.TakeResult()[0].tokens, Tokens({1, 3}));
}

// A target to be scored is scored once, even if it repeats itself.
TEST_F(PassesTest, ATargetIsScoredOnce) {
  const Tokens target(20, 7);
  Passes passes({.plan = &plan_, .target = &target});
  EXPECT_FALSE(passes.NeedsAnotherPass({Loop(-1)}));
}

}  // namespace
}  // namespace nibu::internal
