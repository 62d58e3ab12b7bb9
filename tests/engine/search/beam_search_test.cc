// Tests of the beam search: its hypotheses are those of the rules written down naively, and a wide
// beam finds the best of all sequences. Distributions are made up.
#include "engine/search/beam_search.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <vector>

#include "gtest/gtest.h"
#include "tests/engine/search/search_case.h"
#include "tests/engine/testing.h"

namespace nibu::internal {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr int kEos = 0;

// A hypothesis of the naive search, which follows the rules on plain lists of tokens.
struct Naive {
  Tokens tokens;  // EOS included
  std::vector<float> scores;
  float sum = 0;
};

std::vector<Naive> NaiveSearch(const SearchCase& options, const StepFunction& step) {
  const auto beam = static_cast<size_t>(options.beam_size);
  const long enough = std::max(1L, std::lround(static_cast<double>(options.beam_size) *
                                               static_cast<double>(options.patience)));
  std::vector<Naive> live(1);
  std::vector<Naive> finished;
  bool best_finished = false;
  for (int length = 1;; ++length) {
    struct Ranked {
      Naive hypothesis;
      size_t parent;
    };
    std::vector<Ranked> all;
    for (size_t b = 0; b < live.size(); ++b) {
      const std::vector<float> log_probs = step(live[b].tokens);
      for (size_t t = 0; t < log_probs.size(); ++t) {
        if (log_probs[t] == -kInfinity) continue;
        Naive next = live[b];
        next.tokens.push_back(static_cast<int>(t));
        next.scores.push_back(log_probs[t]);
        next.sum += log_probs[t];
        all.push_back({next, b});
      }
    }
    // No token can follow, so all hypotheses end as they are.
    if (all.empty()) {
      finished.insert(finished.end(), live.begin(), live.end());
      break;
    }
    // All are in the order of beam, then token, which a stable sort keeps for ties.
    std::stable_sort(all.begin(), all.end(), [](const Ranked& a, const Ranked& b) {
      return a.hypothesis.sum > b.hypothesis.sum;
    });
    all.resize(std::min(all.size(), 2 * beam));
    std::vector<Naive> second;
    for (size_t i = beam; i < all.size(); ++i) {
      if (all[i].hypothesis.tokens.back() != kEos) second.push_back(all[i].hypothesis);
    }
    std::vector<Naive> next;
    for (size_t i = 0; i < std::min(beam, all.size()); ++i) {
      const Naive& hypothesis = all[i].hypothesis;
      if (length < options.max_length && hypothesis.tokens.back() != kEos) {
        next.push_back(hypothesis);
        continue;
      }
      finished.push_back(hypothesis);
      best_finished = best_finished || i == 0;
      if (!second.empty()) {
        next.push_back(second.front());
        second.erase(second.begin());
      }
    }
    live = next;
    const auto count = static_cast<long>(finished.size());
    const bool stop = options.length_penalty == 0 ? best_finished && count >= options.num_hypotheses
                                                  : count >= enough;
    if (stop || live.empty() || length >= options.max_length) break;
  }
  const auto score = [&](const Naive& h) {
    if (h.tokens.empty()) return 0.0f;
    return h.sum / std::pow(static_cast<float>(h.tokens.size()), options.length_penalty);
  };
  std::stable_sort(finished.begin(), finished.end(),
                   [&](const Naive& a, const Naive& b) { return score(a) > score(b); });
  finished.resize(std::min(finished.size(), static_cast<size_t>(options.num_hypotheses)));
  return finished;
}

// Returns a random distribution for every prefix, the same each time it is asked for.
StepFunction RandomStep(uint32_t seed, int vocabulary, bool ties) {
  return [=](const Tokens& prefix) {
    uint32_t hash = seed;
    for (int token : prefix) hash = hash * 31 + static_cast<uint32_t>(token) + 7;
    Random random(hash);
    std::vector<float> logits;
    double sum = 0;
    for (int t = 0; t < vocabulary; ++t) {
      const float logit = ties ? static_cast<float>(random.Int(-1, 1)) : random.Float(3.0f);
      logits.push_back(logit);
      sum += std::exp(static_cast<double>(logit));
    }
    for (float& logit : logits) {
      logit -= static_cast<float>(std::log(sum));
      if (ties && random.Int(0, 5) == 0) logit = -kInfinity;
    }
    return logits;
  };
}

void ExpectEqual(const std::vector<Naive>& expected, const std::vector<Hypothesis>& actual,
                 const SearchCase& options) {
  ASSERT_EQ(expected.size(), actual.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    Tokens tokens = expected[i].tokens;
    const bool finished = !tokens.empty() && tokens.back() == kEos;
    if (finished) tokens.pop_back();
    EXPECT_EQ(finished, actual[i].finished);
    EXPECT_EQ(tokens, actual[i].tokens);
    EXPECT_EQ(expected[i].scores, actual[i].token_scores);
    EXPECT_EQ(expected[i].sum, actual[i].log_prob);
    float sum = 0;
    for (float score : actual[i].token_scores) sum += score;
    EXPECT_FLOAT_EQ(sum, actual[i].log_prob);
    if (expected[i].tokens.empty()) continue;
    EXPECT_FLOAT_EQ(actual[i].log_prob / std::pow(static_cast<float>(expected[i].tokens.size()),
                                                  options.length_penalty),
                    actual[i].score);
  }
}

TEST(BeamSearchTest, EqualsTheRulesWrittenDownNaively) {
  Random random(1);
  BeamSearch search;  // reused from sentence to sentence
  for (int round = 0; round < 2000; ++round) {
    SearchCase options;
    options.eos = kEos;
    options.beam_size = random.Int(1, 5);
    options.patience =
        std::vector<float>{0.3f, 1.0f, 1.0f, 2.0f}[static_cast<size_t>(random.Int(0, 3))];
    const long most = std::max(1L, std::lround(static_cast<double>(options.beam_size) *
                                               static_cast<double>(options.patience)));
    options.num_hypotheses = options.beam_size == 1 ? 1 : random.Int(1, static_cast<int>(most));
    options.length_penalty =
        std::vector<float>{0.0f, 0.6f, 1.0f}[static_cast<size_t>(random.Int(0, 2))];
    options.max_length = random.Int(1, 8);
    const StepFunction step =
        RandomStep(static_cast<uint32_t>(round), random.Int(2, 12), random.Chance());
    SCOPED_TRACE(round);
    ExpectEqual(NaiveSearch(options, step), Search(&search, options, step), options);
    if (testing::Test::HasFailure()) return;
  }
}

// Tries all sequences up to a length and keeps the best by its score.
void Enumerate(const StepFunction& step, int max_length, float length_penalty, const Tokens& prefix,
               float sum, std::pair<float, Tokens>* best) {
  const std::vector<float> log_probs = step(prefix);
  for (size_t t = 0; t < log_probs.size(); ++t) {
    Tokens next = prefix;
    next.push_back(static_cast<int>(t));
    const float total = sum + log_probs[t];
    if (static_cast<int>(t) != kEos && static_cast<int>(next.size()) < max_length) {
      Enumerate(step, max_length, length_penalty, next, total, best);
      continue;
    }
    const float score = total / std::pow(static_cast<float>(next.size()), length_penalty);
    if (score > best->first) *best = {score, next};
  }
}

TEST(BeamSearchTest, AWideBeamFindsTheBestOfAllSequences) {
  BeamSearch search;
  for (uint32_t round = 0; round < 50; ++round) {
    const StepFunction step = RandomStep(round, 4, /*ties=*/false);
    SearchCase options;
    options.eos = kEos;
    options.max_length = 4;
    options.beam_size = 256;  // more than there are sequences
    std::pair<float, Tokens> best{-kInfinity, {}};
    Enumerate(step, options.max_length, options.length_penalty, {}, 0, &best);
    if (best.second.back() == kEos) best.second.pop_back();
    const std::vector<Hypothesis> found = Search(&search, options, step);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].tokens, best.second);
    EXPECT_NEAR(found[0].score, best.first, 1e-5);
  }
}

TEST(BeamSearchTest, GreedyTakesTheBestTokenUntilTheEnd) {
  const StepFunction step = [](const Tokens& prefix) {
    return prefix.size() < 3 ? std::vector<float>{-3.0f, -0.5f, -0.1f}
                             : std::vector<float>{-0.2f, -3.0f, -4.0f};
  };
  SearchCase options;
  options.beam_size = 1;
  BeamSearch search;
  const std::vector<Hypothesis> found = Search(&search, options, step);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].tokens, Tokens({2, 2, 2}));
  EXPECT_FLOAT_EQ(found[0].log_prob, -0.5f);
  EXPECT_FLOAT_EQ(found[0].score, -0.125f);
}

TEST(BeamSearchTest, EndsBeyondTheFirstRanksAreIgnored) {
  // EOS is the third in the first step, beyond a beam of 2, so no hypothesis ends there.
  const StepFunction step = [](const Tokens& prefix) {
    return prefix.empty() ? std::vector<float>{-1.2f, -1.0f, -1.1f}
                          : std::vector<float>{-0.1f, -3.0f, -3.0f};
  };
  SearchCase options;
  options.beam_size = 2;
  options.num_hypotheses = 2;
  BeamSearch search;
  const std::vector<Hypothesis> found = Search(&search, options, step);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].tokens, Tokens({1}));
  EXPECT_EQ(found[1].tokens, Tokens({2}));
}

TEST(BeamSearchTest, CutsAtTheLongestLength) {
  const StepFunction step = [](const Tokens&) { return std::vector<float>{-9.0f, -0.1f, -3.0f}; };
  SearchCase options;
  options.beam_size = 2;
  options.num_hypotheses = 2;
  options.max_length = 3;
  BeamSearch search;
  const std::vector<Hypothesis> found = Search(&search, options, step);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].tokens, Tokens({1, 1, 1}));
  EXPECT_EQ(found[0].token_scores.size(), 3u);
  EXPECT_NEAR(found[0].score, -0.1f, 1e-6);
}

TEST(BeamSearchTest, KnowsWhatWasCut) {
  // EOS is the best token behind two tokens. It fits within a length of 3, not of 2.
  const StepFunction step = [](const Tokens& prefix) {
    return prefix.size() < 2 ? std::vector<float>{-9.0f, -0.1f, -3.0f}
                             : std::vector<float>{-0.1f, -4.0f, -9.0f};
  };
  for (const int beam : {1, 3}) {
    SearchCase options;
    options.beam_size = beam;
    BeamSearch search;
    for (const int length : {2, 3, 4}) {
      options.max_length = length;
      const Hypothesis best = Search(&search, options, step).at(0);
      EXPECT_EQ(best.tokens, Tokens({1, 1}));
      EXPECT_EQ(best.finished, length > 2) << "beam " << beam << ", length " << length;
    }
  }
}

TEST(BeamSearchTest, NothingThatCanFollowEndsTheSentence) {
  const StepFunction step = [](const Tokens& prefix) {
    return prefix.size() < 2 ? std::vector<float>{-kInfinity, -1.0f, -2.0f}
                             : std::vector<float>{-kInfinity, -kInfinity, -kInfinity};
  };
  SearchCase options;
  options.beam_size = 2;
  BeamSearch search;
  const std::vector<Hypothesis> found = Search(&search, options, step);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].tokens, Tokens({1, 1}));
  EXPECT_FALSE(found[0].finished);
  search.Reset(options.task());
  const std::vector<absl::Span<const Candidate>> none(1);
  search.Advance(none);
  EXPECT_TRUE(search.done());
  ASSERT_EQ(search.Finish().size(), 1u);
  EXPECT_TRUE(search.Finish()[0].tokens.empty());
}

}  // namespace
}  // namespace nibu::internal
