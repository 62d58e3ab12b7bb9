// Tests of the rules of Marian's and Hugging Face's searches where they differ from ours, on
// distributions that are small enough to be followed by hand.
#include <cmath>
#include <vector>

#include "gtest/gtest.h"
#include "tests/engine/search/search_case.h"

namespace nibu::internal {
namespace {

std::vector<Tokens> TokensOf(const std::vector<Hypothesis>& found) {
  std::vector<Tokens> all;
  for (const Hypothesis& h : found) all.push_back(h.tokens);
  return all;
}

SearchCase Case(SearchCompat compat) {
  SearchCase options;
  options.beam_size = options.num_hypotheses = 2;
  options.search_compat = compat;
  return options;
}

// EOS is the best first token, so Marian's beam is one hypothesis wide from then on: {1} is
// continued by {1, 1}, and {1, 2} is never seen, though it would be the best sequence of three
// tokens.
std::vector<float> Shrinking(const Tokens& prefix) {
  if (prefix.empty()) return {-0.5f, -1.0f, -2.0f};
  if (prefix == Tokens{1}) return {-3.0f, -1.0f, -1.1f};
  if (prefix == Tokens{1, 1}) return {-0.1f, -3.0f, -3.0f};
  if (prefix == Tokens{1, 2}) return {-0.001f, -7.0f, -7.0f};
  return {-0.1f, -3.0f, -3.0f};
}

TEST(SearchCompatTest, MariansBeamShrinks) {
  SearchCase options = Case(SearchCompat::kMarian);
  BeamSearch search;
  auto found = Search(&search, options, Shrinking);
  EXPECT_EQ(TokensOf(found), (std::vector<Tokens>{{}, {1, 1}}));
  EXPECT_FLOAT_EQ(found[0].score, -0.5f);
  EXPECT_FLOAT_EQ(found[1].score, -2.1f / 3);
  options.patience = 2;  // Our search goes on until 4 have finished.
  options.search_compat = SearchCompat::kNibu;
  options.num_hypotheses = 4;
  found = Search(&search, options, Shrinking);
  EXPECT_EQ(TokensOf(found)[1], Tokens({1, 1}));
  EXPECT_EQ(TokensOf(found)[2], Tokens({1, 2}));
}

TEST(SearchCompatTest, MariansScores) {
  SearchCase options = Case(SearchCompat::kMarian);
  options.length_penalty = 0.5f;
  options.word_penalty = 0.3f;
  BeamSearch search;
  const auto found = Search(&search, options, Shrinking);
  EXPECT_FLOAT_EQ(found[0].score, -0.5f - 0.3f);
  EXPECT_FLOAT_EQ(found[1].score, (-2.1f - 3 * 0.3f) / std::sqrt(3.0f));
  options.length_penalty = 2;  // Now the longer hypothesis is better.
  options.word_penalty = 0;
  EXPECT_EQ(TokensOf(Search(&search, options, Shrinking)), (std::vector<Tokens>{{1, 1}, {}}));
}

TEST(SearchCompatTest, MarianCutsWhatIsLeftOfTheBeam) {
  SearchCase options = Case(SearchCompat::kMarian);
  options.max_length = 2;
  BeamSearch search;
  const auto found = Search(&search, options, Shrinking);
  EXPECT_EQ(TokensOf(found), (std::vector<Tokens>{{}, {1, 1}}));
  EXPECT_TRUE(found[0].finished);
  EXPECT_FALSE(found[1].finished);
}

// Without penalties, the first end is the best possible result. With a reward for each token it is
// not.
TEST(SearchCompatTest, AWordPenaltyIsAPenalty) {
  SearchCase options;
  options.beam_size = 2;
  options.length_penalty = 0;
  BeamSearch search;
  const auto step = [](const Tokens& prefix) {
    return prefix.empty() ? std::vector<float>{-0.5f, -1.0f, -3.0f}
                          : std::vector<float>{-0.1f, -5.0f, -5.0f};
  };
  EXPECT_EQ(TokensOf(Search(&search, options, step)), (std::vector<Tokens>{{}}));
  EXPECT_EQ(search.length(), 1);
  options.word_penalty = -1;
  const auto found = Search(&search, options, step);
  EXPECT_EQ(TokensOf(found), (std::vector<Tokens>{{1}}));
  EXPECT_FLOAT_EQ(found[0].score, -1.1f + 2);
}

// After two steps, two hypotheses have finished, but a live one is better.
std::vector<float> Promising(const Tokens& prefix) {
  if (prefix.empty()) return {-2.0f, -0.1f, -3.0f};
  if (prefix == Tokens{1}) return {-2.0f, -0.1f, -2.5f};
  if (prefix == Tokens{1, 1}) return {-0.1f, -3.0f, -4.0f};
  return {-5.0f, -5.0f, -5.0f};
}

TEST(SearchCompatTest, HuggingFaceGoesOnWhileALiveOneIsBetter) {
  BeamSearch search;
  EXPECT_EQ(TokensOf(Search(&search, Case(SearchCompat::kNibu), Promising)),
            (std::vector<Tokens>{{1}, {}}));
  EXPECT_EQ(TokensOf(Search(&search, Case(SearchCompat::kCTranslate2), Promising)),
            (std::vector<Tokens>{{1}, {}}));
  const auto found = Search(&search, Case(SearchCompat::kHuggingFace), Promising);
  EXPECT_EQ(TokensOf(found), (std::vector<Tokens>{{1, 1}, {1}}));
  EXPECT_FLOAT_EQ(found[0].score, -0.3f / 3);
  EXPECT_FLOAT_EQ(found[1].score, -2.1f / 2);
  EXPECT_EQ(search.length(), 3);  // The best live hypothesis would now score -3.2 / 3.
}

TEST(SearchCompatTest, HuggingFaceStopsEarly) {
  SearchCase options = Case(SearchCompat::kHuggingFace);
  options.early_stopping = true;
  BeamSearch search;
  // Once two have finished, live hypotheses are not cut at the length limit either.
  for (const int max_length : {2, 3}) {
    options.max_length = max_length;
    EXPECT_EQ(TokensOf(Search(&search, options, Promising)), (std::vector<Tokens>{{1}, {}}));
    EXPECT_EQ(search.length(), 2);
  }
  options.max_length = 1;
  EXPECT_EQ(TokensOf(Search(&search, options, Promising)), (std::vector<Tokens>{{1}, {}}));
}

TEST(SearchCompatTest, HuggingFaceFinishesTheLiveOnesAtTheLimit) {
  SearchCase options = Case(SearchCompat::kHuggingFace);
  options.max_length = 2;
  BeamSearch search;
  auto found = Search(&search, options, Promising);
  EXPECT_EQ(TokensOf(found), (std::vector<Tokens>{{1, 1}, {1}}));
  EXPECT_FALSE(found[0].finished);
  EXPECT_TRUE(found[1].finished);
  // At the limit, live hypotheses are finished beside one that has ended.
  options.beam_size = 3;
  options.num_hypotheses = 3;
  options.max_length = 1;
  found = Search(&search, options, [](const Tokens&) {
    return std::vector<float>{-0.1f, -3.0f, -4.0f, -5.0f};
  });
  EXPECT_EQ(TokensOf(found), (std::vector<Tokens>{{}, {1}, {2}}));
  options.num_hypotheses = 2;
  options.beam_size = 2;
  // With a negative length penalty, the live hypotheses are finished at the limit, too.
  options.length_penalty = -1;
  found = Search(&search, options, [](const Tokens&) {
    return std::vector<float>{-9.0f, -1.0f, -4.0f, -5.0f};
  });
  EXPECT_EQ(TokensOf(found), (std::vector<Tokens>{{1}, {2}}));
}

// A live hypothesis is not better than the one that has ended, as both have the same length.
TEST(SearchCompatTest, HuggingFaceGreedyEndsAtTheFirstEnd) {
  SearchCase options = Case(SearchCompat::kHuggingFace);
  options.beam_size = options.num_hypotheses = 1;
  BeamSearch search;
  for (const float length_penalty : {-1.0f, 0.0f, 2.0f}) {
    options.length_penalty = length_penalty;
    const auto found = Search(&search, options, [](const Tokens& prefix) {
      return prefix.size() != 1 ? std::vector<float>{-1.1f, -1.0f, -9.0f}
                                : std::vector<float>{-1.0f, -1.1f, -9.0f};
    });
    EXPECT_EQ(TokensOf(found), (std::vector<Tokens>{{1}}));
  }
}

}  // namespace
}  // namespace nibu::internal
