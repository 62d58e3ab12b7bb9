// Tests of rows of logits that come block by block: the best tokens, edits, requested tokens and
// the log-sum-exp, against the plain definitions, on every instruction set.
#include "engine/search/search_row.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <vector>

#include "gtest/gtest.h"
#include "tests/engine/testing.h"

namespace nibu::internal {
namespace {

constexpr float kInfiniteLogit = std::numeric_limits<float>::infinity();

// Hands a row over in blocks of random widths.
void HandOver(Random* random, std::vector<float> logits, SearchRow* row) {
  const int n = static_cast<int>(logits.size());
  for (int first = 0; first < n;) {
    const int width = std::min(n - first, random->Int(1, 130));
    row->Edit({first, width}, logits.data() + first);
    row->Take({first, width}, logits.data() + first);
    first += width;
  }
}

TEST(SearchRowTest, EqualsTheDefinitions) {
  ForEachHighwayTarget([] {
    Random random(7);
    for (int round = 0; round < 300; ++round) {
      const int n = random.Int(1, 400);
      const int k = random.Chance() ? random.Int(1, 20) : random.Int(60, 500);
      // There are few values, so that there are ties, and some tokens that cannot be chosen.
      std::vector<float> logits(static_cast<size_t>(n));
      for (float& logit : logits) {
        logit = random.Int(0, 9) == 0 ? -kInfiniteLogit : static_cast<float>(random.Int(-20, 20));
      }
      const bool on_log_probs = random.Chance();
      const bool normalize = random.Chance() || on_log_probs;
      SearchRow row;
      LogitEdits& edits = row.edits();
      edits.SetOnLogProbs(on_log_probs);
      std::vector<double> expected(logits.begin(), logits.end());
      const auto sum_of_exp = [&expected] {
        double sum = 0;
        for (const double logit : expected) sum += std::exp(logit);
        return sum;
      };
      if (const double sum = sum_of_exp(); on_log_probs && sum > 0) {
        for (double& logit : expected) logit -= std::log(sum);
      }
      for (const double penalty : {1.5, 0.5, 3.0}) {
        std::vector<int> repeated;
        for (int i = random.Int(0, 5); i > 0; --i) repeated.push_back(random.Int(0, n - 1));
        edits.Penalize(repeated, static_cast<float>(penalty));
        for (const int token : std::set<int>(repeated.begin(), repeated.end())) {
          double& logit = expected[static_cast<size_t>(token)];
          logit = logit < 0 ? logit * penalty : logit / penalty;
        }
      }
      std::vector<int> list;  // It must outlive the row.
      for (int i = random.Int(0, 5); i > 0; --i) {
        const int token = random.Int(-1, n + 1);
        if (random.Chance()) {
          list.push_back(token);
        } else {
          edits.Suppress(token);
        }
        if (token >= 0 && token < n) expected[static_cast<size_t>(token)] = -kInfiniteLogit;
      }
      edits.Suppress(list);
      std::set<int> requested;
      const int favoured = random.Int(0, 3) == 0 ? random.Int(0, n - 1) : -1;
      const float beta = 0.25f;
      if (favoured >= 0) {
        edits.Favour(favoured, beta);
        requested.insert(favoured);
      } else {
        for (int i = random.Int(0, 3); i > 0; --i) requested.insert(random.Int(0, n - 1));
        for (const int token : requested) edits.Request(token);
      }
      row.Start(k, normalize);
      HandOver(&random, logits, &row);

      const double sum = on_log_probs ? 1 : sum_of_exp();
      std::vector<std::pair<double, int>> best;
      for (int t = 0; t < n; ++t) {
        if (expected[static_cast<size_t>(t)] > -static_cast<double>(kInfiniteLogit)) {
          best.emplace_back(-expected[static_cast<size_t>(t)], t);
        }
      }
      std::sort(best.begin(), best.end());
      best.resize(std::min(best.size(), static_cast<size_t>(k)));
      std::set<int> tokens = requested;
      for (const auto& [logit, token] : best) tokens.insert(token);
      std::map<int, double> log_probs;
      for (const int token : tokens) {
        double p = expected[static_cast<size_t>(token)];
        if (normalize || favoured >= 0) p -= sum > 0 ? std::log(sum) : 0;
        if (favoured >= 0) {
          p += std::log1p(-static_cast<double>(beta));
          if (token == favoured && std::isfinite(p)) {
            p = std::log(std::exp(p) + static_cast<double>(beta));
          }
        }
        log_probs[token] = p;
      }
      const absl::Span<const Candidate> actual = row.Finish();
      ASSERT_EQ(actual.size(), tokens.size());
      for (size_t i = 0; i < actual.size(); ++i) {
        ASSERT_EQ(tokens.erase(actual[i].token), 1u);
        const double log_prob = log_probs[actual[i].token];
        if (std::isfinite(log_prob)) {
          EXPECT_NEAR(actual[i].log_prob, log_prob, 1e-4);
        } else {
          EXPECT_EQ(actual[i].log_prob, -kInfiniteLogit);
        }
        if (i > 0) {
          EXPECT_TRUE(IsBetterCandidate(actual[i - 1], actual[i]));
        }
      }
      EXPECT_EQ(row.requested().size(), requested.size());
    }
  });
}

// The edits of one row do not apply to the next one.
TEST(SearchRowTest, IsUsedAgain) {
  Random random(8);
  SearchRow row;
  row.edits().Suppress(1);
  row.edits().Favour(0, 0.5f);
  row.Start(1, false);
  HandOver(&random, {0, 9, 5}, &row);
  EXPECT_EQ(row.Finish().size(), 2u);
  row.edits().Clear();
  row.Start(1, false);
  HandOver(&random, {0, 9, 5}, &row);
  const absl::Span<const Candidate> best = row.Finish();
  ASSERT_EQ(best.size(), 1u);
  EXPECT_EQ(best[0].token, 1);
  EXPECT_EQ(best[0].log_prob, 9);  // It is a logit, as nothing asks for probabilities.
}

// An ensemble sets the log-sum-exp itself.
TEST(SearchRowTest, TakesALogSum) {
  SearchRow row;
  row.Start(2, true);
  const float logits[] = {1, 3};
  row.Take({0, 2}, logits);
  row.SetLogSum(10);
  const absl::Span<const Candidate> best = row.Finish();
  ASSERT_EQ(best.size(), 2u);
  EXPECT_EQ(best[0].log_prob, -7);
  EXPECT_EQ(best[1].log_prob, -9);
}

TEST(LogitTokensTest, FindsTokens) {
  const LogitTokens block(10, 3);
  EXPECT_EQ(block.Find(9), -1);
  EXPECT_EQ(block.Find(12), 2);
  EXPECT_EQ(block.Find(13), -1);
  const std::vector<int> list = {2, 5, 9};
  const LogitTokens listed(list);
  EXPECT_EQ(listed.Find(5), 1);
  EXPECT_EQ(listed.Find(6), -1);
  EXPECT_EQ(listed.Find(10), -1);
  EXPECT_EQ(listed[2], 9);
}

}  // namespace
}  // namespace nibu::internal
