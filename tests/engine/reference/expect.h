// Compares the engine's results with the reference's.
#ifndef NIBU_TESTS_ENGINE_REFERENCE_EXPECT_H_
#define NIBU_TESTS_ENGINE_REFERENCE_EXPECT_H_

#include <cmath>
#include <vector>

#include "gtest/gtest.h"
#include "tests/engine/reference/search.h"

namespace nibu::internal {
namespace reference {

// Returns a bound on the rounding errors of float32.
inline double RoundingErrors(const Answer& answer) { return 1e-5 * (1 + answer.largest); }
// Returns whether no two candidates lie so close to each other that rounding decides between them.
inline bool IsClear(const Answer& answer) { return answer.margin >= RoundingErrors(answer); }

inline void ExpectNear(double a, float b, double tolerance) {
  if (a == static_cast<double>(b)) return;  // Both are infinite.
  EXPECT_NEAR(a, static_cast<double>(b), tolerance * (1 + std::abs(a)));
}

inline void ExpectEqual(const Answer& answer, const Request& request,
                        const std::vector<Hypothesis>& result) {
  ASSERT_EQ(answer.hypotheses.size(), result.size());
  const double tolerance = RoundingErrors(answer);
  for (size_t n = 0; n < result.size(); ++n) {
    const Found& expected = answer.hypotheses[n];
    const Hypothesis& actual = result[n];
    ASSERT_EQ(expected.tokens, actual.tokens) << n;
    EXPECT_EQ(expected.finished, actual.finished) << n;
    EXPECT_EQ(Loops(actual.tokens), actual.repetition);
    std::vector<double> attention;
    for (const auto& row : expected.attention) {
      attention.insert(attention.end(), row.begin(), row.end());
    }
    const bool has_rows = request.options.return_attention;
    ASSERT_EQ(expected.attention.size(), has_rows ? expected.token_scores.size() : 0);
    ASSERT_EQ(attention.size(), actual.attention.size());
    for (size_t i = 0; i < attention.size(); ++i) {
      EXPECT_NEAR(attention[i], static_cast<double>(actual.attention[i]), 1e-3);
    }
    if (!request.options.return_scores || (n > 0 && answer.took_retry)) continue;
    ASSERT_EQ(expected.token_scores.size(), actual.token_scores.size());
    for (size_t t = 0; t < actual.token_scores.size(); ++t) {
      ExpectNear(expected.token_scores[t], actual.token_scores[t], tolerance);
    }
    ExpectNear(expected.log_prob, actual.log_prob, tolerance);
    ExpectNear(expected.score, actual.score, 10 * tolerance);
  }
}

}  // namespace reference
}  // namespace nibu::internal

#endif  // NIBU_TESTS_ENGINE_REFERENCE_EXPECT_H_
