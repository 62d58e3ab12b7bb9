// Tests of sampling: the frequencies of the tokens, what samples depend on, and the ends of the
// options' ranges.
// Threads: the thread sanitizer runs this file.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/engine/asking.h"
#include "tests/engine/reference/expect.h"
#include "tests/engine/small_model.h"
#include "tests/sanitizers.h"

namespace nibu::internal {
namespace {

using Tokens = std::vector<int>;
using Probabilities = std::map<Tokens, double>;

ModelConfig EightTokens() {
  ModelConfig config = SmallConfig();
  config.vocab_target = 8;
  return config;
}

// Returns the probabilities of the tokens that may be drawn, as the options define them.
std::vector<double> Allowed(std::vector<double> log_probs, const Sampling& sampling) {
  std::vector<std::pair<double, size_t>> best;
  for (size_t t = 0; t < log_probs.size(); ++t) {
    const double p = std::exp(log_probs[t] / static_cast<double>(sampling.temperature));
    if (p > 0) best.emplace_back(p, t);
  }
  std::sort(best.rbegin(), best.rend());
  if (sampling.topk > 0) {
    best.resize(std::min(best.size(), static_cast<size_t>(sampling.topk)));
  }
  const auto sum = [&] {
    double all = 0;
    for (const auto& [p, t] : best) all += p;
    return all;
  };
  const double enough = sum() * static_cast<double>(sampling.topp);
  while (best.size() > 1 && sum() - best.back().first >= enough) best.pop_back();
  std::vector<double> allowed(log_probs.size());
  for (const auto& [p, t] : best) allowed[t] = p / sum();
  return allowed;
}

class SamplingTest : public testing::Test {
 protected:
  static Request Samples(int count) {
    Request request{.source = {5, 9, 33, 7}, .key = 3};
    request.options.beam_size = 1;
    request.options.num_hypotheses = count;
    request.options.max_decoding_length = 2;
    request.options.min_decoding_length = 2;
    request.options.sampling.topk = 0;
    return request;
  }

  std::vector<Hypothesis> Draw(const Request& request) const {
    Result result = Ask(model_, request);
    EXPECT_TRUE(result.ok()) << result.status();
    return *std::move(result);
  }

  // Returns the probabilities of the first two tokens.
  Probabilities Pairs(const Request& request) const {
    Probabilities pairs;
    Tokens source = request.source;
    source.push_back(0);
    const auto encoded = reference_.Encode(source);
    const auto next = [&](const Tokens& prefix) {
      auto log_probs = reference_.NextLogProbs(encoded, prefix);
      // An EOS here would make the output shorter than min_decoding_length.
      log_probs[0] = -INFINITY;
      return Allowed(log_probs, request.options.sampling);
    };
    const auto first = next({});
    for (int a = 0; a < 8; ++a) {
      const auto second = next({a});
      for (int b = 0; b < 8; ++b) {
        const double p = first[static_cast<size_t>(a)] * second[static_cast<size_t>(b)];
        if (p > 0) pairs[{a, b}] = p;
      }
    }
    return pairs;
  }

  // Applies Pearson's chi-square test, at five standard deviations. Cells that expect fewer than 5
  // samples are counted as one.
  static void ExpectDrawnFrom(const Probabilities& expected, const std::vector<Tokens>& samples) {
    std::map<Tokens, int> counts;
    for (const Tokens& sample : samples) {
      EXPECT_EQ(expected.count(sample), 1u) << "never to be drawn";
      ++counts[sample];
    }
    const auto all = static_cast<double>(samples.size());
    double chi_square = 0;
    int cells = 0;
    double rare = 0;
    double rare_count = 0;
    for (const auto& [tokens, p] : expected) {
      if (all * p < 5) {
        rare += all * p;
        rare_count += counts[tokens];
        continue;
      }
      chi_square += std::pow(counts[tokens] - all * p, 2) / (all * p);
      ++cells;
    }
    if (rare > 5) {
      chi_square += std::pow(rare_count - rare, 2) / rare;
      ++cells;
    } else {
      EXPECT_LT(rare_count, 20);
    }
    const double freedom = cells - 1;
    EXPECT_LT(chi_square, freedom + 5 * std::sqrt(2 * freedom) + 5) << cells << " cells";
  }

  const reference::Transformer reference_{EightTokens(), 4};
  const std::shared_ptr<const Model> model_ = reference_.Build(ComputeType::kFloat32);
};

TEST_F(SamplingTest, TokensComeAsOftenAsTheyShould) {
  NIBU_NOTHING_FOR_THREAD_SANITIZER();
  for (const int topk : {0, 3, 8}) {
    for (const float topp : {1.0f, 0.8f}) {
      for (const float temperature : {0.5f, 1.0f, 4.0f}) {
        SCOPED_TRACE(testing::Message() << topk << ", " << topp << ", " << temperature);
        std::vector<Request> requests;
        for (uint64_t i = 0; i < 6; ++i) {
          requests.push_back(Samples(1000));
          requests.back().key = i;
          requests.back().options.sampling = {topk, topp, temperature, 77};
        }
        std::vector<Tokens> samples;
        for (const Result& result : AskAll(model_, {}, requests)) {
          ASSERT_TRUE(result.ok()) << result.status();
          EXPECT_EQ(result->size(), 1000u);
          for (const Hypothesis& h : *result) samples.push_back(h.tokens);
        }
        ExpectDrawnFrom(Pairs(requests[0]), samples);
      }
    }
  }
}

// Requests with consecutive keys or seeds draw independent samples.
TEST_F(SamplingTest, KeysAndSeedsAreIndependent) {
  for (const bool of_keys : {false, true}) {
    std::vector<Request> requests;
    for (uint64_t i = 0; i < 1500; ++i) {
      requests.push_back(Samples(1));
      (of_keys ? requests.back().key : requests.back().options.sampling.seed) = i;
    }
    std::vector<Tokens> samples;
    for (const Result& result : AskAll(model_, {}, requests)) {
      samples.push_back(result->at(0).tokens);
    }
    ExpectDrawnFrom(Pairs(requests[0]), samples);
    // The probabilities of the first tokens of one request and the next.
    Probabilities next;
    Probabilities first;
    for (const auto& [tokens, p] : Pairs(requests[0])) first[{tokens[0]}] += p;
    for (const auto& [a, p] : first) {
      for (const auto& [b, q] : first) next[{a[0], b[0]}] = p * q;
    }
    std::vector<Tokens> both;
    for (size_t i = 0; i < samples.size(); i += 2) {
      both.push_back({samples[i][0], samples[i + 1][0]});
    }
    ExpectDrawnFrom(next, both);
  }
}

TEST_F(SamplingTest, DependsOnSeedKeyAndNumber) {
  Request request = Samples(5);
  request.options.min_decoding_length = request.options.max_decoding_length = 12;
  const Result result = Ask(model_, request);
  EXPECT_TRUE(SameBits(result, Ask(model_, request)));
  std::set<Tokens> all;
  for (const Hypothesis& h : *result) all.insert(h.tokens);
  EXPECT_EQ(all.size(), 5u);
  ++request.key;
  for (const Hypothesis& h : Draw(request)) all.insert(h.tokens);
  --request.key;
  ++request.options.sampling.seed;
  for (const Hypothesis& h : Draw(request)) all.insert(h.tokens);
  EXPECT_EQ(all.size(), 15u);
  // With fewer samples, each is the same as before, since it depends on its own number alone.
  --request.options.sampling.seed;
  request.options.num_hypotheses = 4;
  std::set<Tokens> before;
  for (const Hypothesis& h : *result) before.insert(h.tokens);
  for (const Hypothesis& h : Draw(request)) EXPECT_EQ(before.count(h.tokens), 1u);
}

TEST_F(SamplingTest, AsGoodAsGreedy) {
  Request greedy = Samples(1);
  greedy.options.max_decoding_length = 12;
  greedy.options.sampling = {};
  const Hypothesis best = Draw(greedy)[0];
  for (const float tiny : {1e-3f, 1e-6f, 1e-20f, 1e-37f, 1e-39f, 1e-45f}) {
    for (const int topk : {0, 3, 1000}) {
      for (const float topp : {1.0f, 0.9f}) {
        Request request = greedy;
        request.options.sampling = {topk, topp, tiny, 5};
        EXPECT_EQ(Draw(request)[0].tokens, best.tokens) << tiny << ", " << topk;
        request.options.sampling = {topk, tiny, topp, 5};
        const Hypothesis found = Draw(request)[0];
        EXPECT_EQ(found.tokens, best.tokens) << "topp " << tiny;
        EXPECT_EQ(found.token_scores.size(), best.token_scores.size());
        for (size_t t = 0; t < best.token_scores.size(); ++t) {
          EXPECT_NEAR(found.token_scores[t], best.token_scores[t], 1e-5);
        }
      }
    }
  }
}

TEST_F(SamplingTest, HighTemperaturesMakeAllTokensAlike) {
  Probabilities alike;
  for (int a = 1; a < 8; ++a) {
    for (int b = 1; b < 8; ++b) alike[{a, b}] = 1.0 / 49;
  }
  for (const float temperature : {1e4f, 1e6f}) {
    Request request = Samples(1000);
    request.options.sampling.temperature = temperature;
    std::vector<Tokens> samples;
    for (const Hypothesis& h : Draw(request)) samples.push_back(h.tokens);
    ExpectDrawnFrom(alike, samples);
  }
}

TEST_F(SamplingTest, EqualsTheReferencesSamples) {
  int clear = 0;
  for (const int topk : {0, 2, 7, 8, 9, 1 << 30}) {
    for (const float topp : {1.0f, 0.9f, 0.3f}) {
      for (const float temperature : {0.01f, 0.7f, 100.0f, 1e6f}) {
        Request request = Samples(12);
        request.options.sampling = {topk, topp, temperature, 123456789012345u};
        request.options.max_decoding_length = 9;
        request.options.min_decoding_length = 0;
        request.target_prefix = {3, 1};
        const reference::Answer answer = reference::Search(reference_, request);
        if (!reference::IsClear(answer)) continue;
        ++clear;
        reference::ExpectEqual(answer, request, Draw(request));
      }
    }
  }
  EXPECT_GT(clear, 60);  // out of 72 cases
}

}  // namespace
}  // namespace nibu::internal
