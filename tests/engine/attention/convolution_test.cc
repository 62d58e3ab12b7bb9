// Tests that self-attention can be a convolution (Cordonnier, Loukas and Jaggi 2020), by a worked
// example.
//
// A head that looks at the position `shift` away from its own, whatever stands there, is a tap of a
// convolution's kernel. As many heads as the kernel has taps, each followed by its part of the
// output projection, are the whole convolution. With queries and keys of zero, the score of a query
// at p and a key at p + delta is a relative encoding alone, the quadratic
//   -alpha |delta - shift|^2 = -alpha (|delta|^2 - 2 delta . shift) + constant,
// whose softmax is 1 at the shift and 0 elsewhere as alpha grows. The sequence has positions of
// zeros around its edges, as convolutions do.
#include <cmath>
#include <vector>

#include "engine/attention/attention.h"
#include "gtest/gtest.h"
#include "tests/engine/testing.h"

namespace nibu::internal {
namespace {

// A grid of height x width positions, row by row. With a height of 1 it is a sequence.
struct Grid {
  int height;
  int width;
  int padding_y;
  int padding_x;
  int positions() const { return height * width; }
  bool is_inner(int p) const {
    const int y = p / width;
    const int x = p % width;
    return y >= padding_y && y < height - padding_y && x >= padding_x && x < width - padding_x;
  }
};

struct Shift {
  int y;
  int x;
};

// Returns the largest difference between the results of attention and of the convolution.
double Difference(const Grid& grid, float alpha, uint32_t seed) {
  constexpr int kIn = 5;
  constexpr int kOut = 3;
  Random random(seed);
  const int n = grid.positions();
  std::vector<float> values(static_cast<size_t>(n * kIn));
  for (int p = 0; p < n; ++p) {
    for (int c = 0; c < kIn; ++c) {
      values[static_cast<size_t>(p * kIn + c)] = grid.is_inner(p) ? random.Float() : 0;
    }
  }
  std::vector<Shift> taps;
  for (int y = -grid.padding_y; y <= grid.padding_y; ++y) {
    for (int x = -grid.padding_x; x <= grid.padding_x; ++x) taps.push_back({y, x});
  }
  const auto heads = static_cast<int>(taps.size());
  const auto kernel = random.Floats(static_cast<size_t>(heads * kIn * kOut));  // [tap][in][out]

  // The relative encoding, [head][query][key].
  std::vector<float> scores;
  for (const Shift& tap : taps) {
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        const int dy = j / grid.width - i / grid.width;
        const int dx = j % grid.width - i % grid.width;
        scores.push_back(-alpha *
                         static_cast<float>(dy * dy + dx * dx - 2 * (dy * tap.y + dx * tap.x)));
      }
    }
  }
  // The values of each head are all inputs.
  const int inner = heads * kIn;
  std::vector<float> rows(static_cast<size_t>(n * inner));
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto at = static_cast<int>(i);
    rows[i] = values[static_cast<size_t>(at / inner * kIn + at % kIn)];
  }
  const std::vector<float> zeros(rows.size());
  std::vector<float> context(rows.size());
  Arena arena;
  const auto stride = static_cast<size_t>(inner);
  const auto matrix = static_cast<size_t>(n) * static_cast<size_t>(n);
  Attention({{heads, kIn}, {scores.data(), matrix, n}}, &arena)
      .Run({zeros.data(), stride, n}, KeyValueRows{zeros.data(), rows.data(), stride, n},
           {context.data(), stride});

  double worst = 0;
  for (int p = 0; p < n; ++p) {
    if (!grid.is_inner(p)) continue;
    for (int out = 0; out < kOut; ++out) {
      double attention = 0;
      double convolution = 0;
      for (int h = 0; h < heads; ++h) {
        const Shift& tap = taps[static_cast<size_t>(h)];
        const int from = p + tap.y * grid.width + tap.x;
        for (int c = 0; c < kIn; ++c) {
          const auto weight =
              static_cast<double>(kernel[static_cast<size_t>((h * kIn + c) * kOut + out)]);
          attention +=
              weight * static_cast<double>(context[static_cast<size_t>(p * inner + h * kIn + c)]);
          convolution += weight * static_cast<double>(values[static_cast<size_t>(from * kIn + c)]);
        }
      }
      worst = std::max(worst, std::abs(attention - convolution));
    }
  }
  return worst;
}

void ExpectAConvolution(const Grid& grid) {
  double last = HUGE_VAL;
  for (const float alpha : {1.0f, 2.0f, 4.0f, 8.0f}) {
    const double difference = Difference(grid, alpha, 1);
    EXPECT_LT(difference, last) << "alpha " << alpha;
    last = difference;
  }
  for (uint32_t seed = 2; seed < 6; ++seed) EXPECT_LT(Difference(grid, 20.0f, seed), 1e-4);
}

TEST(ConvolutionTest, OfASequence) { ExpectAConvolution({1, 40, 0, 2}); }

TEST(ConvolutionTest, OfAGrid) { ExpectAConvolution({9, 11, 1, 1}); }

}  // namespace
}  // namespace nibu::internal
