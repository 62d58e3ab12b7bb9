// Tests of each rule about the next token, alone, against the option that it stands for.
#include <algorithm>
#include <limits>
#include <set>
#include <vector>

#include "engine/search/rules.h"
#include "gtest/gtest.h"
#include "tests/engine/testing.h"

namespace nibu::internal {
namespace {

using Tokens = std::vector<int>;

constexpr int kVocabulary = 12;

// A hypothesis whose first tokens are in the search's tree, while the others are ahead of the
// search.
class Hypothetical {
 public:
  explicit Hypothetical(Tokens tokens, size_t in_tree = 0) : tokens_(std::move(tokens)) {
    for (; length_ < in_tree; ++length_) open.node = tree_.Add({open.node, tokens_[length_], 0, 0});
  }

  // Returns the edits of a rule.
  LogitEdits Edits(const LogitsRule& rule, const SearchTask& task) {
    RowContext context(task, tree_, open, length_, absl::MakeConstSpan(tokens_).subspan(length_),
                       &scratch_);
    context.SetBranch(branch, is_expansion);
    LogitEdits edits;
    rule.Apply(context, &edits);
    return edits;
  }
  // Returns the tokens of which the rule makes the probability 0.
  std::set<int> Suppressed(const LogitsRule& rule, const SearchTask& task = {}) {
    std::vector<float> logits(kVocabulary, 1.0f);
    Edits(rule, task).Apply({0, kVocabulary}, logits.data());
    std::set<int> suppressed;
    for (int t = 0; t < kVocabulary; ++t) {
      const float logit = logits[static_cast<size_t>(t)];
      EXPECT_TRUE(logit == 1.0f || logit == -std::numeric_limits<float>::infinity());
      if (logit < 0) suppressed.insert(t);
    }
    return suppressed;
  }

  OpenHypothesis open;
  size_t branch = 0;
  bool is_expansion = false;

 private:
  const Tokens tokens_;
  TokenTree tree_;
  size_t length_ = 0;
  Tokens scratch_;
};

Tokens RandomTokens(Random* random) {
  Tokens tokens;
  for (int i = random->Int(0, 12); i > 0; --i) tokens.push_back(random->Int(0, 3));
  return tokens;
}

TEST(RulesTest, SuppressTokens) {
  const SuppressTokens rule({3, 7});
  EXPECT_EQ(Hypothetical({}).Suppressed(rule), std::set<int>({3, 7}));
  EXPECT_EQ(Hypothetical({1, 2, 3}).Suppressed(rule), std::set<int>({3, 7}));
}

TEST(RulesTest, SuppressTokensAtTheBegin) {
  const SearchPlan plan(DecodingOptions{}, SearchModel{});
  const SuppressTokens rule({3, 7}, /*at_begin=*/true);
  EXPECT_EQ(Hypothetical({}).Suppressed(rule, {.plan = &plan}), std::set<int>({3, 7}));
  EXPECT_TRUE(Hypothetical({1}).Suppressed(rule, {.plan = &plan}).empty());
  // The begin is behind a forced prefix.
  const Tokens prefix = {1, 2};
  const SearchTask task = {.plan = &plan, .prefix = prefix};
  EXPECT_TRUE(Hypothetical({1}).Suppressed(rule, task).empty());
  EXPECT_EQ(Hypothetical({1, 2}).Suppressed(rule, task), std::set<int>({3, 7}));
  EXPECT_TRUE(Hypothetical({1, 2, 4}).Suppressed(rule, task).empty());
  // It stays there when a pass scores what a search has found.
  const Tokens target = {1, 2, 4};
  const SearchTask scored = {.plan = &plan, .target = &target, .forced_in_target = 2};
  EXPECT_TRUE(Hypothetical({}).Suppressed(rule, scored).empty());
  EXPECT_EQ(Hypothetical({1, 2}).Suppressed(rule, scored), std::set<int>({3, 7}));
}

TEST(RulesTest, MinLength) {
  const MinLength rule(2, {0, 5});
  EXPECT_EQ(Hypothetical({}).Suppressed(rule), std::set<int>({0, 5}));
  EXPECT_EQ(Hypothetical({1}).Suppressed(rule), std::set<int>({0, 5}));
  EXPECT_TRUE(Hypothetical({1, 1}).Suppressed(rule).empty());
  // A target may end at its last token only.
  const Tokens target = {1, 5};
  const Tokens cut = {1, 1};
  EXPECT_EQ(Hypothetical({}).Suppressed(rule, {.target = &target}), std::set<int>({0, 5}));
  EXPECT_TRUE(Hypothetical({1}).Suppressed(rule, {.target = &target}).empty());
  EXPECT_EQ(Hypothetical({1}).Suppressed(rule, {.target = &cut}), std::set<int>({0, 5}));
}

TEST(RulesTest, RepetitionPenalty) {
  const RepetitionPenalty rule(2.0f);
  std::vector<float> logits = {4, -4, 4, -4, 4};
  Hypothetical({1, 2, 1}, 2).Edits(rule, {}).Apply({0, 5}, logits.data());
  EXPECT_EQ(logits, std::vector<float>({4, -8, 2, -4, 4}));
  // Tokens that always count are penalized once, too.
  logits = {4, -4, 4, -4, 4};
  const RepetitionPenalty with_start(2.0f, {2, -1, 3, 3});
  Hypothetical({1, 2, 1}, 2).Edits(with_start, {}).Apply({0, 5}, logits.data());
  EXPECT_EQ(logits, std::vector<float>({4, -8, 2, -8, 4}));
}

TEST(RulesTest, NoRepeatNgram) {
  Random random(1);
  for (int round = 0; round < 500; ++round) {
    const Tokens tokens = RandomTokens(&random);
    const int n = random.Int(0, 4);
    std::set<int> expected;
    for (int next = 0; next < kVocabulary && n > 0; ++next) {
      Tokens longer = tokens;
      longer.push_back(next);
      const long size = static_cast<long>(longer.size());
      for (long first = 0; first + n < size; ++first) {
        if (std::equal(longer.end() - n, longer.end(), longer.begin() + first)) {
          expected.insert(next);
        }
      }
    }
    Hypothetical hypothesis(tokens,
                            static_cast<size_t>(random.Int(0, static_cast<int>(tokens.size()))));
    EXPECT_EQ(hypothesis.Suppressed(NoRepeatNgram(), {.no_repeat_ngram_size = n}), expected);
  }
}

TEST(RulesTest, SuppressSequences) {
  const SuppressSequences rule({{9}, {1, 2}, {1, 1, 3}});
  EXPECT_EQ(Hypothetical({}).Suppressed(rule), std::set<int>({9}));
  EXPECT_EQ(Hypothetical({1}).Suppressed(rule), std::set<int>({2, 9}));
  EXPECT_EQ(Hypothetical({1, 1}, 1).Suppressed(rule), std::set<int>({2, 3, 9}));
  EXPECT_EQ(Hypothetical({1, 1, 4}).Suppressed(rule), std::set<int>({9}));
}

TEST(RulesTest, PrefixBias) {
  const PrefixBias rule(0.5f);
  const Tokens prefix = {4, 6};
  Hypothetical follows({4});
  follows.open.follows_prefix = true;
  const LogitEdits edits = follows.Edits(rule, {.prefix = prefix});
  EXPECT_EQ(edits.requested(), Tokens({6}));
  EXPECT_EQ(edits.beta(), 0.5f);
  const LogitEdits none = Hypothetical({5}).Edits(rule, {.prefix = prefix});
  EXPECT_TRUE(none.requested().empty());
  EXPECT_EQ(none.beta(), 0);
}

TEST(RulesTest, ConstraintTokens) {
  const std::vector<Constraint> constraints = {{{1, 2}, {3}}, {{4, 5}}};
  const SearchTask task{.constraints = constraints};
  EXPECT_EQ(Hypothetical({}).Edits(ConstraintTokens(), task).requested(), Tokens({1, 3, 4}));
  EXPECT_EQ(Hypothetical({1}).Edits(ConstraintTokens(), task).requested(), Tokens({1, 2, 3, 4}));
  Hypothetical met({1, 2});
  met.open.met = 1;
  EXPECT_EQ(met.Edits(ConstraintTokens(), task).requested(), Tokens({4}));
  EXPECT_TRUE(Hypothetical({}).Edits(ConstraintTokens(), {}).requested().empty());
}

TEST(RulesTest, AlternativesDoNotBeginWithAnEndToken) {
  const Alternatives rule({0});
  Hypothetical hypothesis({1});
  EXPECT_TRUE(hypothesis.Suppressed(rule).empty());
  hypothesis.is_expansion = true;
  EXPECT_EQ(hypothesis.Suppressed(rule), std::set<int>({0}));
}

TEST(RulesTest, SamplesAskForNoiseOfTheirBranch) {
  const Sampling sampling{.topk = 0, .seed = 7};
  const Samples rule(sampling, 3);
  const SearchTask task{.key = 5};
  Hypothetical hypothesis({1, 2});
  hypothesis.branch = 1;
  LogitEdits edits = hypothesis.Edits(rule, task);
  ASSERT_NE(edits.sampling(), nullptr);
  ASSERT_EQ(edits.noises().size(), 1u);
  EXPECT_EQ(edits.noises()[0].seed(), Noise(7, 5, 1, 2).seed());
  hypothesis.is_expansion = true;
  edits = hypothesis.Edits(rule, task);
  ASSERT_EQ(edits.noises().size(), 3u);
  EXPECT_EQ(edits.noises()[2].seed(), Noise(7, 5, 2, 2).seed());
  const Tokens target = {1, 2, 3};
  EXPECT_EQ(hypothesis.Edits(rule, {.target = &target}).sampling(), nullptr);
}

TEST(RulesTest, ScoreTarget) {
  const Tokens target = {8, 9};
  const SearchTask task{.target = &target};
  EXPECT_EQ(Hypothetical({}).Edits(ScoreTarget(), task).requested(), Tokens({8}));
  EXPECT_EQ(Hypothetical({8}).Edits(ScoreTarget(), task).requested(), Tokens({9}));
  EXPECT_TRUE(Hypothetical({}).Edits(ScoreTarget(), {}).requested().empty());
}

// A plan has the rules that its options ask for.
TEST(SearchPlanTest, AppliesItsRules) {
  DecodingOptions options;
  options.min_decoding_length = 1;
  options.disable_unk = true;
  options.suppress_sequences = {{4}};
  const SearchPlan plan(options, {.eos = 0, .unk = 1, .suppressed = {2}});
  const SearchTask task{.plan = &plan};
  const TokenTree tree;
  const OpenHypothesis open;
  Tokens scratch;
  LogitEdits edits;
  const auto suppressed = [&](const Tokens& ahead) {
    plan.FindEdits(RowContext(task, tree, open, 0, ahead, &scratch), &edits);
    std::vector<float> logits(6, 0.0f);
    edits.Apply({0, 6}, logits.data());
    Tokens found;
    for (int t = 0; t < 6; ++t) {
      if (logits[static_cast<size_t>(t)] < 0) found.push_back(t);
    }
    return found;
  };
  EXPECT_EQ(suppressed({}), Tokens({0, 1, 2, 4}));
  EXPECT_EQ(suppressed({5}), Tokens({1, 2, 4}));
}

TEST(SearchPlanTest, CutsLongTranslations) {
  DecodingOptions options;
  options.max_decoding_length = 50;
  options.max_length_factor = 1.5f;
  options.min_decoding_length = 4;
  const SearchPlan plan(options, {.positions = 40});
  EXPECT_EQ(plan.MaxLength(10), 15);
  EXPECT_EQ(plan.MaxLength(1), 4);
  EXPECT_EQ(plan.MaxLength(1000), 40);
}

}  // namespace
}  // namespace nibu::internal
