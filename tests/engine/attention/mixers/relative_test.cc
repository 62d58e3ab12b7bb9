// Tests of the biases by the distance within a window or a grid, and of the convolution that
// factorized attention may have: Attention::Run against plain code that is written from the
// definitions.
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/attention/attention.h"
#include "gtest/gtest.h"
#include "tests/engine/attention/spec.h"
#include "tests/engine/testing.h"

namespace nibu::internal {
namespace {

// Queries, keys and values of a sentence, [q | k | v] in a row.
struct RelativeSentence {
  explicit RelativeSentence(Random* random)
      : positions(random->Int(1, 70)),
        shape{random->Int(1, 3), random->Int(1, 20)},
        inner(shape.heads * shape.head_dim),
        rows(random->Floats(static_cast<size_t>(positions * 3 * inner), 1.5f)) {}

  // Returns element c of part 0 (query), 1 (key) or 2 (value) of a position.
  double at(int position, int part, int c) const {
    return static_cast<double>(rows[static_cast<size_t>((position * 3 + part) * inner + c)]);
  }
  // Returns the engine's result, [positions, I].
  std::vector<float> Run(const MixerSpec& mixer, const MechanismWeights& weights) const {
    std::vector<float> out(static_cast<size_t>(positions * inner));
    const auto stride = 3 * static_cast<size_t>(inner);
    Arena arena;
    Attention({shape, {}, mixer, weights}, &arena)
        .Run({rows.data(), stride, positions},
             KeyValueRows{rows.data() + inner, rows.data() + 2 * inner, stride, positions},
             {out.data(), static_cast<size_t>(inner)});
    return out;
  }
  void Expect(const std::vector<float>& out, int position, int c, double expected) const {
    ASSERT_NEAR(out[static_cast<size_t>(position * inner + c)], expected, 2e-5)
        << position << " of " << positions << ", column " << c;
  }

  int positions;
  AttentionShape shape;
  int inner;
  std::vector<float> rows;
};

// The number of a window, and the index of a position in it. A window of the grid has every step-th
// position.
struct Place {
  int window;
  int index;
};
Place PlaceIn(const std::string& mechanism, int width, int layer, int n, int i) {
  if (mechanism == "shifted") {
    const int shift = layer % 2 == 1 && width < n ? width - width / 2 : 0;
    return {(i + shift) / width, (i + shift) % width};
  }
  if (layer % 2 == 0) return {i / width, i % width};
  const int step = (n + width - 1) / width;
  return {i % step, i / step};
}

TEST(RelativeTest, BiasesOfWindowsGoByTheDistance) {
  ForEachHighwayTarget([] {
    Random random(1);
    for (int round = 0; round < Rounds(40); ++round) {
      const RelativeSentence sentence(&random);
      const std::string mechanism = random.Chance() ? "shifted" : "block_grid";
      const int width = random.Int(2, 80);
      const int layer = random.Int(0, 3);
      const std::string text =
          absl::StrCat(mechanism, ":", width, ",bias=1", random.Chance() ? ",dense=1" : "");
      SCOPED_TRACE(absl::StrCat(text, " layer ", layer));
      const int heads = sentence.shape.heads;
      const int places = 2 * width - 1;
      const auto table = random.Floats(static_cast<size_t>(heads * places), 2.0f);
      MechanismWeights weights;
      weights.relative = table.data();
      const std::vector<float> out = sentence.Run(Spec(text, layer), weights);
      const int d = sentence.shape.head_dim;
      const int n = sentence.positions;
      for (int h = 0; h < heads; ++h) {
        for (int i = 0; i < n; ++i) {
          const Place query = PlaceIn(mechanism, width, layer, n, i);
          double sum = 0;
          std::vector<double> expected(static_cast<size_t>(d));
          for (int j = 0; j < n; ++j) {
            const Place key = PlaceIn(mechanism, width, layer, n, j);
            if (key.window != query.window) continue;
            double score = 0;
            for (int c = h * d; c < (h + 1) * d; ++c) {
              score += sentence.at(i, 0, c) * sentence.at(j, 1, c) / std::sqrt(d);
            }
            const int place = key.index - query.index + width - 1;
            score += static_cast<double>(table[static_cast<size_t>(h * places + place)]);
            sum += std::exp(score);
            for (int c = 0; c < d; ++c) {
              expected[static_cast<size_t>(c)] += std::exp(score) * sentence.at(j, 2, h * d + c);
            }
          }
          for (int c = 0; c < d; ++c) {
            sentence.Expect(out, i, h * d + c, expected[static_cast<size_t>(c)] / sum);
          }
        }
      }
    }
  });
}

TEST(RelativeTest, ConvolutionIsAddedToFactorizedAttention) {
  Random random(2);
  for (int round = 0; round < Rounds(40); ++round) {
    const RelativeSentence sentence(&random);
    const int kernel = 2 * random.Int(0, 5) + 1;
    const auto taps = random.Floats(static_cast<size_t>(sentence.inner * kernel));
    const auto bias = random.Floats(static_cast<size_t>(sentence.inner));
    MechanismWeights weights;
    weights.taps = taps.data();
    weights.taps_bias = bias.data();
    const std::vector<float> without = sentence.Run(Spec("factorized"), weights);
    const std::vector<float> out =
        sentence.Run(Spec(absl::StrCat("factorized:kernel=", kernel)), weights);
    for (int i = 0; i < sentence.positions; ++i) {
      for (int c = 0; c < sentence.inner; ++c) {
        double sum = static_cast<double>(bias[static_cast<size_t>(c)]);
        for (int j = 0; j < sentence.positions; ++j) {
          const int tap = j - i + kernel / 2;
          if (tap < 0 || tap >= kernel) continue;
          sum += static_cast<double>(taps[static_cast<size_t>(c * kernel + tap)]) *
                 sentence.at(j, 2, c);
        }
        const double attended =
            static_cast<double>(without[static_cast<size_t>(i * sentence.inner + c)]);
        sentence.Expect(out, i, c, attended + sentence.at(i, 0, c) * sum);
      }
    }
  }
}

}  // namespace
}  // namespace nibu::internal
