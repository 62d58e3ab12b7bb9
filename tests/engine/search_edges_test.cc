// Tests of the ends of every option's range, against the reference search.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/engine/asking.h"
#include "tests/engine/reference/expect.h"
#include "tests/engine/small_model.h"

namespace nibu::internal {
namespace {

using Tokens = std::vector<int>;

constexpr int kVocabulary = 12;

class SearchEdgesTest : public testing::Test {
 protected:
  static ModelConfig Config() {
    ModelConfig config = SmallConfig();
    config.vocab_target = kVocabulary;
    return config;
  }
  static Request AnyRequest() {
    Request request{.source = {5, 9, 33, 7}, .key = 3};
    request.options.max_decoding_length = 8;
    return request;
  }
  static Tokens AllTokens() {
    Tokens all(kVocabulary);
    std::iota(all.begin(), all.end(), 0);
    return all;
  }

  // Translates, expects the reference's result, and returns it.
  std::vector<Hypothesis> Expect(const Request& request) {
    const Result result = Ask(model_, request);
    EXPECT_TRUE(result.ok()) << result.status();
    if (!result.ok()) return {};
    const reference::Answer answer = reference::Search(reference_, request);
    EXPECT_TRUE(reference::IsClear(answer)) << answer.margin;
    reference::ExpectEqual(answer, request, *result);
    return *result;
  }
  Hypothesis ExpectOne(const Request& request) {
    const std::vector<Hypothesis> all = Expect(request);
    EXPECT_EQ(all.size(), 1u);
    return all.empty() ? Hypothesis() : all[0];
  }
  std::string Refusal(const Request& request) {
    const Result result = Ask(model_, request);
    EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(result.status().message());
  }

  const reference::Transformer reference_{Config(), 31};
  const std::shared_ptr<const Model> model_ = reference_.Build(ComputeType::kFloat32);
};

TEST_F(SearchEdgesTest, WhatMakesNoSenseIsRefusedByName) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<std::pair<std::string, std::function<void(Request&)>>> cases = {
      {"beam_size", [](Request& r) { r.options.beam_size = 0; }},
      {"beam_size", [](Request& r) { r.options.beam_size = 1025; }},
      {"patience", [](Request& r) { r.options.patience = 0; }},
      {"patience", [](Request& r) { r.options.patience = kNan; }},
      {"num_hypotheses", [](Request& r) { r.options.num_hypotheses = 0; }},
      {"num_hypotheses", [](Request& r) { r.options.num_hypotheses = 5; }},
      {"length_penalty", [](Request& r) { r.options.length_penalty = kNan; }},
      {"word_penalty", [](Request& r) { r.options.word_penalty = kInfinity; }},
      {"coverage_penalty", [](Request& r) { r.options.coverage_penalty = -kInfinity; }},
      {"min_decoding_length", [](Request& r) { r.options.min_decoding_length = -1; }},
      {"min_decoding_length", [](Request& r) { r.options.min_decoding_length = 9; }},
      {"max_decoding_length", [](Request& r) { r.options.max_decoding_length = 0; }},
      {"max_length_factor", [](Request& r) { r.options.max_length_factor = -1; }},
      {"max_length_factor", [](Request& r) { r.options.max_length_factor = kNan; }},
      {"end_tokens",
       [](Request& r) {
         r.options.end_tokens = {1, kVocabulary};
       }},
      {"end_tokens", [](Request& r) { r.options.end_tokens = {-1}; }},
      {"repetition_penalty", [](Request& r) { r.options.repetition_penalty = 0; }},
      {"repetition_penalty", [](Request& r) { r.options.repetition_penalty = kNan; }},
      {"no_repeat_ngram_size", [](Request& r) { r.options.no_repeat_ngram_size = -1; }},
      {"suppress_sequences", [](Request& r) { r.options.suppress_sequences = {{}}; }},
      {"suppress_sequences",
       [](Request& r) {
         r.options.suppress_sequences = {{1}, {99}};
       }},
      {"prefix_bias_beta", [](Request& r) { r.options.prefix_bias_beta = 1; }},
      {"prefix_bias_beta", [](Request& r) { r.options.prefix_bias_beta = kNan; }},
      {"prefix_bias_beta",
       [](Request& r) {
         r.options.prefix_bias_beta = 0.5f;
         r.options.coverage_penalty = 1;
       }},
      {"prefix_bias_beta",
       [](Request& r) {
         r.options.prefix_bias_beta = 0.5f;
         r.options.return_alternatives = true;
       }},
      {"return_alternatives",
       [](Request& r) {
         r.options.return_alternatives = true;
         r.options.coverage_penalty = 1;
       }},
      {"min_alternative_expansion_prob",
       [](Request& r) { r.options.min_alternative_expansion_prob = 1.5f; }},
      {"min_alternative_expansion_prob",
       [](Request& r) { r.options.min_alternative_expansion_prob = kNan; }},
      {"sampling_topk", [](Request& r) { r.options.sampling.topk = -1; }},
      {"sampling_topk", [](Request& r) { r.options.sampling.topk = 0; }},  // not with a beam
      {"sampling_topp", [](Request& r) { r.options.sampling.topp = 0; }},
      {"sampling_topp", [](Request& r) { r.options.sampling.topp = 1.1f; }},
      {"sampling_temperature", [](Request& r) { r.options.sampling.temperature = 0; }},
      {"sampling_temperature", [](Request& r) { r.options.sampling.temperature = kInfinity; }},
      {"patience",
       [](Request& r) {
         r.options.patience = 2;
         r.options.search_compat = SearchCompat::kMarian;
       }},
      {"alignment_layer", [](Request& r) { r.options.alignment_layer = 2; }},
      {"alignment_layer", [](Request& r) { r.options.alignment_layer = -3; }},
      {"alignment_heads", [](Request& r) { r.options.alignment_heads = 5; }},
      {"alignment_heads", [](Request& r) { r.options.alignment_heads = -1; }},
      {"target_prefix", [](Request& r) { r.target_prefix = {kVocabulary}; }},
      {"target", [](Request& r) { r.target = Tokens(); }},
      {"target", [](Request& r) { r.target = Tokens(65, 1); }},  // There are 64 positions.
      {"target", [](Request& r) { r.target = Tokens{-1}; }},
      {"source", [](Request& r) { r.source = {}; }},
      {"source", [](Request& r) { r.source = {50}; }},
  };
  for (const auto& [name, change] : cases) {
    Request request = AnyRequest();
    change(request);
    const std::string refusal = Refusal(request);
    EXPECT_EQ(refusal.substr(0, name.size()), name) << refusal;
  }
}

TEST_F(SearchEdgesTest, PrefixesOfAnyLength) {
  for (const int beam : {1, 4}) {
    for (const int longest : {1, 3, 8}) {
      Request request = AnyRequest();
      request.options.beam_size = beam;
      request.options.max_decoding_length = longest;
      const Hypothesis without = ExpectOne(request);
      for (size_t length = 1; length < 12; ++length) {
        request.target_prefix = Tokens(length, 4);
        request.target_prefix.back() = length % 3 == 0 ? 0 : 1;  // EOS or <unk>
        request.options.disable_unk = true;
        const Hypothesis with = ExpectOne(request);
        const size_t kept = std::min(length, static_cast<size_t>(longest));
        ASSERT_GE(with.tokens.size(), kept);
        ASSERT_LE(with.tokens.size(), static_cast<size_t>(longest));
        for (size_t i = 0; i < kept; ++i) {
          EXPECT_EQ(with.tokens[i], request.target_prefix[i]);
          EXPECT_EQ(with.token_scores[i], 0);
        }
        if (kept == static_cast<size_t>(longest)) {
          EXPECT_FALSE(with.finished);
          EXPECT_EQ(with.log_prob, 0);
        }
        request.options.disable_unk = false;
      }
      request.target_prefix.clear();  // An empty prefix counts as none.
      EXPECT_TRUE(SameBits(Ask(model_, request), Result({without})));
    }
  }
}

TEST_F(SearchEdgesTest, BiasedPrefixes) {
  Request request = AnyRequest();
  const Hypothesis without = ExpectOne(request);
  request.options.prefix_bias_beta = 0.5f;
  EXPECT_TRUE(SameBits(Ask(model_, request), Result({without})));  // There is no prefix yet.
  request.target_prefix = {7, 7, 3, 2, 8, 1, 4, 5, 6, 7, 8, 9};    // longer than the output may be
  request.options.prefix_bias_beta = 0.999f;
  const Hypothesis strong = ExpectOne(request);
  EXPECT_EQ(strong.tokens,
            Tokens(request.target_prefix.begin(), request.target_prefix.begin() + 8));
  request.options.prefix_bias_beta = 1e-6f;
  EXPECT_EQ(ExpectOne(request).tokens, without.tokens);
  // A token that is never generated is not made probable either.
  request.options.prefix_bias_beta = 0.999f;
  request.options.disable_unk = true;
  request.options.suppress_sequences = {{7, 3}};
  const Tokens tokens = ExpectOne(request).tokens;
  EXPECT_EQ(std::count(tokens.begin(), tokens.end(), 1), 0);
  const Tokens sequence = {7, 3};
  EXPECT_EQ(std::search(tokens.begin(), tokens.end(), sequence.begin(), sequence.end()),
            tokens.end());
}

TEST_F(SearchEdgesTest, MoreAlternativesThanTokens) {
  for (const int beam : {1, 3}) {
    for (const Tokens& prefix :
         {Tokens{}, Tokens{5, 1}, Tokens(7, 2), Tokens(8, 2), Tokens(9, 2)}) {
      Request request = AnyRequest();
      request.options.beam_size = beam;
      request.options.return_alternatives = true;
      request.options.num_hypotheses = 100;
      request.target_prefix = prefix;
      const auto found = Expect(request);
      if (prefix.size() >= 8) {
        EXPECT_EQ(found.size(), 1u);  // There is no room for another token.
        continue;
      }
      EXPECT_EQ(found.size(), kVocabulary - 1u);
      for (size_t n = 1; n < found.size(); ++n) {
        EXPECT_NE(found[n].tokens[prefix.size()], found[n - 1].tokens[prefix.size()]);
        EXPECT_LE(found[n].token_scores[prefix.size()], found[n - 1].token_scores[prefix.size()]);
      }
      request.options.min_alternative_expansion_prob = 1;  // The first alternative is always kept.
      EXPECT_EQ(Expect(request).size(), 1u);
      request.options.return_alternatives = false;
      EXPECT_EQ(Refusal(request).substr(0, 14), "num_hypotheses");
    }
  }
}

TEST_F(SearchEdgesTest, BeamsWiderThanTheVocabulary) {
  for (const int compat : {0, 1, 2, 3}) {
    Request request = AnyRequest();
    request.options.search_compat = static_cast<SearchCompat>(compat);
    request.source = {8, 20, 41};
    request.options.beam_size = request.options.num_hypotheses = 30;
    request.options.max_decoding_length = 2;
    Expect(request);
    request.options.max_decoding_length = 1;
    const auto found = Expect(request);
    EXPECT_EQ(found.size(), kVocabulary - 1u);  // EOS cannot be the first token.
  }
}

TEST_F(SearchEdgesTest, EndTokens) {
  for (const int beam : {1, 4}) {
    Request request = AnyRequest();
    request.options.beam_size = beam;
    // All tokens are end tokens, which must not come first, so that nothing can be generated.
    request.options.end_tokens = AllTokens();
    Hypothesis found = ExpectOne(request);
    EXPECT_TRUE(found.tokens.empty());
    EXPECT_FALSE(found.finished);
    EXPECT_EQ(found.score, 0);
    request.options.min_decoding_length = 0;
    found = ExpectOne(request);
    EXPECT_TRUE(found.tokens.empty());
    EXPECT_TRUE(found.finished);
    EXPECT_EQ(found.token_scores.size(), 1u);
    request.target_prefix = {5, 0, 5};  // Within a prefix, they end nothing.
    found = ExpectOne(request);
    EXPECT_EQ(found.tokens, request.target_prefix);
    EXPECT_EQ(found.token_scores.size(), 4u);
    request.options.end_tokens = {3, 3, 3, 0, 3};  // This is the same as the next list.
    const Result same = Ask(model_, request);
    request.options.end_tokens = {0, 3};
    EXPECT_TRUE(SameBits(same, Ask(model_, request)));
    request.options.end_tokens = {7};  // EOS is a token like any other.
    ExpectOne(request);
  }
}

TEST_F(SearchEdgesTest, WithoutAnyToken) {
  for (const int beam : {1, 4}) {
    for (const Tokens& prefix : {Tokens{}, Tokens{6, 2}}) {
      Request request = AnyRequest();
      request.options.beam_size = beam;
      request.target_prefix = prefix;
      for (const int token : AllTokens()) request.options.suppress_sequences.push_back({token});
      Hypothesis found = ExpectOne(request);
      EXPECT_EQ(found.tokens, prefix);
      EXPECT_FALSE(found.finished);
      EXPECT_EQ(found.log_prob, 0);
      request.options.return_alternatives = true;
      EXPECT_EQ(ExpectOne(request).tokens, prefix);
      request.options.return_alternatives = false;
      request.options.suppress_sequences.pop_back();
      EXPECT_EQ(ExpectOne(request).tokens.size(), 8u);
      request.options.suppress_sequences.resize(2);
      request.options.no_repeat_ngram_size = 1;  // Each token comes once, until none is left.
      request.options.max_decoding_length = 20;
      request.options.end_tokens = {0};
      found = ExpectOne(request);
      EXPECT_EQ(found.tokens.size(), 10u);
    }
  }
}

TEST_F(SearchEdgesTest, NgramsAndPenaltiesOfAnySize) {
  for (const int beam : {1, 4}) {
    Request request = AnyRequest();
    request.options.beam_size = beam;
    request.options.min_decoding_length = request.options.max_decoding_length;
    const Hypothesis plain = ExpectOne(request);
    EXPECT_EQ(plain.tokens.size(), 8u);
    for (const int n : {8, 9, 1000, std::numeric_limits<int>::max()}) {
      request.options.no_repeat_ngram_size = n;
      EXPECT_EQ(ExpectOne(request).tokens, plain.tokens);
    }
    for (const int n : {1, 2, 3}) {
      request.options.no_repeat_ngram_size = n;
      ExpectOne(request);
    }
    request.options.no_repeat_ngram_size = 0;
    for (const float penalty : {0.01f, 0.5f, 2.0f, 100.0f}) {
      request.options.repetition_penalty = penalty;
      ExpectOne(request);
    }
    request.options.repetition_penalty = 1;
    for (const float penalty : {-3.0f, 0.0f, 3.0f}) {
      request.options.length_penalty = penalty;
      request.options.word_penalty = penalty;
      request.options.coverage_penalty = penalty;
      request.options.min_decoding_length = 0;
      ExpectOne(request);
    }
  }
}

TEST_F(SearchEdgesTest, LengthsFromOneOn) {
  for (const int beam : {1, 4}) {
    for (const int length : {1, 2, beam == 1 ? 64 : 16}) {  // There are 64 positions.
      Request request = AnyRequest();
      request.options.beam_size = beam;
      request.options.max_decoding_length = request.options.min_decoding_length = length;
      Hypothesis found = ExpectOne(request);
      EXPECT_EQ(found.token_scores.size(), static_cast<size_t>(length));
      EXPECT_FALSE(found.finished);
      request.options.max_length_factor = 1e-9f;
      EXPECT_EQ(ExpectOne(request).token_scores.size(), static_cast<size_t>(length));
      request.options.min_decoding_length = 0;  // at least one token
      found = ExpectOne(request);
      EXPECT_LE(found.token_scores.size(), 1u);
      request.options.min_decoding_length = length - 1;
      request.options.max_length_factor = 1e30f;
      ExpectOne(request);
    }
  }
}

TEST_F(SearchEdgesTest, ScoresOfAResultAreTheSearchs) {
  for (const int beam : {1, 4}) {
    Request request = AnyRequest();
    request.options.beam_size = request.options.num_hypotheses = beam;
    request.options.min_decoding_length = 4;
    request.options.max_decoding_length = 6;
    request.options.repetition_penalty = 1.5f;
    request.options.no_repeat_ngram_size = 2;
    request.options.coverage_penalty = 0.3f;
    request.options.word_penalty = 0.1f;
    request.options.return_attention = true;
    for (const Hypothesis& found : Expect(request)) {
      Request scored = request;
      scored.target = found.tokens;
      if (found.finished) scored.target->push_back(0);
      const Hypothesis again = ExpectOne(scored);
      EXPECT_EQ(again.tokens, found.tokens);
      EXPECT_EQ(again.finished, found.finished);
      EXPECT_EQ(again.token_scores, found.token_scores);
      EXPECT_EQ(again.score, found.score);
      EXPECT_EQ(again.attention, found.attention);
    }
    // EOS alone can be scored, though it cannot be generated as the first token.
    request.target = {0};
    EXPECT_TRUE(std::isfinite(ExpectOne(request).score));
    request.options.return_alternatives = true;
    request.options.coverage_penalty = 0;
    EXPECT_TRUE(std::isfinite(ExpectOne(request).score));
    request.target = {1, 0, 0, 0};  // EOS stands within the target, too.
    ExpectOne(request);
    // It is longer than max_decoding_length, and {2, 2} comes twice.
    request.target = Tokens(64, 2);
    EXPECT_TRUE(std::isinf(ExpectOne(request).score));
  }
}

}  // namespace
}  // namespace nibu::internal
