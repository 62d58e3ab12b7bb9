// Tests of the mixers without weights of their own, each against its definition.
#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "engine/attention/attention.h"
#include "engine/attention/mixers/pool.h"
#include "gtest/gtest.h"
#include "tests/engine/attention/mixers/patterns.h"
#include "tests/engine/attention/spec.h"
#include "tests/engine/testing.h"

namespace nibu::internal {
namespace {

// Queries, keys and values of a sentence, [q | k | v] in a row.
struct Sentence {
  Sentence(Random* random, int n)
      : positions(n),
        shape{random->Int(1, 3), random->Int(1, 40), random->Chance() ? 0.0f : 0.3f},
        inner(static_cast<size_t>(shape.heads * shape.head_dim)),
        rows(random->Floats(static_cast<size_t>(n) * 3 * inner, 1.5f)),
        biases(random->Floats(static_cast<size_t>(shape.heads * (2 * n - 1)), 2.0f)) {
    if (random->Chance()) {
      bias = {biases.data() + n - 1, 2 * static_cast<size_t>(n) - 1};
    }
  }
  float* q(int i) { return rows.data() + static_cast<size_t>(i) * 3 * inner; }
  float* k(int i) { return q(i) + inner; }
  float* v(int i) { return q(i) + 2 * inner; }

  struct Result {
    std::vector<float> out;      // [n, I]
    std::vector<float> weights;  // [H, n, n]
  };
  Result Run(const MixerSpec& mixer, bool weights = true) {
    const auto n = static_cast<size_t>(positions);
    Result result{std::vector<float>(n * inner), {}};
    if (weights) result.weights.assign(static_cast<size_t>(shape.heads) * n * n, -1.0f);
    Arena arena;
    Attention({shape, bias, mixer}, &arena)
        .Run({q(0), 3 * inner, positions}, KeyValueRows{k(0), v(0), 3 * inner, positions},
             {result.out.data(), inner, weights ? result.weights.data() : nullptr});
    return result;
  }

  // Returns row i of head h's attention matrix over the keys that the query sees.
  std::vector<double> Weights(int h, int i, const std::function<bool(int)>& sees) {
    std::vector<double> weights(static_cast<size_t>(positions));
    double sum = 0;
    for (int j = 0; j < positions; ++j) {
      if (!sees(j)) continue;
      double score = 0;
      for (int c = h * shape.head_dim; c < (h + 1) * shape.head_dim; ++c) {
        score += static_cast<double>(q(i)[c]) * static_cast<double>(k(j)[c]);
      }
      score *= static_cast<double>(shape.Scale());
      if (bias.values != nullptr) {
        score += static_cast<double>(bias.values[h * static_cast<int>(bias.stride) + j - i]);
      }
      sum += weights[static_cast<size_t>(j)] = std::exp(score);
    }
    for (double& weight : weights) weight /= sum;
    return weights;
  }

  // Expects that `result` is the softmax over the keys for which sees(h, i, j) is true.
  void Expect(const Result& result, const std::function<bool(int, int, int)>& sees,
              double tolerance) {
    const auto n = static_cast<size_t>(positions);
    for (int h = 0; h < shape.heads; ++h) {
      for (int i = 0; i < positions; ++i) {
        const auto expected = Weights(h, i, [&](int j) { return sees(h, i, j); });
        const float* row =
            result.weights.data() + (static_cast<size_t>(h) * n + static_cast<size_t>(i)) * n;
        for (size_t j = 0; j < n; ++j) {
          ASSERT_NEAR(row[j], expected[j], tolerance) << i << ", " << j << " of " << n;
          if (expected[j] == 0) {
            ASSERT_EQ(row[j], 0);
          }
        }
        for (int c = h * shape.head_dim; c < (h + 1) * shape.head_dim; ++c) {
          double out = 0;
          for (int j = 0; j < positions; ++j) {
            out += expected[static_cast<size_t>(j)] * static_cast<double>(v(j)[c]);
          }
          ASSERT_NEAR(result.out[static_cast<size_t>(i) * inner + static_cast<size_t>(c)], out,
                      tolerance);
        }
      }
    }
  }

  int positions;
  AttentionShape shape;
  size_t inner;
  std::vector<float> rows;
  std::vector<float> biases;
  ScoreBias bias;
};

TEST(MixersTest, PatternsEqualTheirDefinition) {
  ForEachHighwayTarget([] {
    Random random(2);
    for (int round = 0; round < Rounds(12); ++round) {
      Sentence sentence(&random, random.Int(1, round % 4 == 0 ? 400 : 90));
      for (MixerSpec spec : RandomPatterns(&random)) {
        SCOPED_TRACE(spec.ToText());
        std::vector<std::set<int>> keys;  // [head][query]
        for (int h = 0; h < sentence.shape.heads; ++h) {
          for (int i = 0; i < sentence.positions; ++i) {
            keys.push_back(KeysOf(spec, sentence.positions, i, h));
          }
        }
        const auto sees = [&](int h, int i, int j) {
          return keys[static_cast<size_t>(h * sentence.positions + i)].count(j) > 0;
        };
        const auto result = sentence.Run(spec);
        sentence.Expect(result, sees, 2e-5);
        // Asking for the weights does not change the output.
        EXPECT_EQ(sentence.Run(spec, false).out, result.out);
        spec.dense = true;
        sentence.Expect(sentence.Run(spec), sees, 1e-6);
      }
    }
  });
}

// The output of a query does not depend on keys and values that it does not see.
TEST(MixersTest, NothingLeaks) {
  Random random(3);
  for (int round = 0; round < 10; ++round) {
    Sentence sentence(&random, random.Int(2, 300));
    for (const MixerSpec& spec : RandomPatterns(&random)) {
      const auto before = sentence.Run(spec);
      const int i = random.Int(0, sentence.positions - 1);
      std::set<int> keys;  // seen by the query in any head
      for (int h = 0; h < sentence.shape.heads; ++h) {
        keys.merge(KeysOf(spec, sentence.positions, i, h));
      }
      Sentence changed = sentence;
      changed.bias = {};
      if (sentence.bias.values != nullptr) {
        changed.bias = {changed.biases.data() + sentence.positions - 1, sentence.bias.stride};
      }
      for (int j = 0; j < sentence.positions; ++j) {
        if (keys.count(j) > 0) continue;
        for (size_t c = 0; c < sentence.inner; ++c) {
          changed.k(j)[c] = random.Float(1e3f);
          changed.v(j)[c] = random.Float(1e6f);
        }
      }
      const auto after = changed.Run(spec);
      for (size_t c = 0; c < sentence.inner; ++c) {
        const size_t at = static_cast<size_t>(i) * sentence.inner + c;
        ASSERT_EQ(before.out[at], after.out[at]) << spec.ToText() << " query " << i;
      }
    }
  }
}

// Wide windows, all blocks, one bucket, and means of one position are full attention.
TEST(MixersTest, LimitsAreFullAttention) {
  ForEachHighwayTarget([] {
    Random random(4);
    for (int round = 0; round < 6; ++round) {
      Sentence sentence(&random, random.Int(1, 150));
      std::vector<std::string> texts = {"full",
                                        "full:tile=" + std::to_string(16 * random.Int(1, 9)),
                                        "full:dense=1",
                                        "window:150",
                                        "local_m:150",
                                        "local_m:150,ratio=70",
                                        "shifted:150",
                                        "block_grid:150",
                                        "bigbird:window=0,global=150",
                                        "bigbird:window=150,global=0",
                                        "lsh:150",
                                        "lsh:bucket=150,rounds=1"};
      if (sentence.bias.values == nullptr) texts.emplace_back("mean:1");
      for (const std::string& text : texts) {
        SCOPED_TRACE(text);
        for (const int layer : {0, 1}) {
          sentence.Expect(
              sentence.Run(Spec(text, layer)), [](int, int, int) { return true; }, 2e-5);
        }
      }
    }
  });
}

TEST(MixersTest, MeansAreThoseOfNeighbours) {
  Random random(5);
  for (int round = 0; round < 20; ++round) {
    Sentence sentence(&random, random.Int(1, 60));
    sentence.bias = {};
    const int reduction = random.Int(1, 9);
    const auto result = sentence.Run(Spec("mean:" + std::to_string(reduction)));
    // The reference is attention to the means, each counted as often as it has members.
    Sentence means = sentence;
    const int n = sentence.positions;
    for (int j = 0; j < n; ++j) {
      const int first = j / reduction * reduction;
      const int last = std::min(n, first + reduction);
      for (size_t c = 0; c < sentence.inner; ++c) {
        double k = 0;
        double v = 0;
        for (int m = first; m < last; ++m) {
          k += static_cast<double>(sentence.k(m)[c]) / (last - first);
          v += static_cast<double>(sentence.v(m)[c]) / (last - first);
        }
        means.k(j)[c] = static_cast<float>(k);
        means.v(j)[c] = static_cast<float>(v);
      }
    }
    for (int h = 0; h < sentence.shape.heads; ++h) {
      for (int i = 0; i < n; ++i) {
        // The first member of each group stands for its mean.
        auto weights = means.Weights(h, i, [&](int j) { return j % reduction == 0; });
        for (int c = h * sentence.shape.head_dim; c < (h + 1) * sentence.shape.head_dim; ++c) {
          double out = 0;
          for (int j = 0; j < n; j += reduction) {
            out += weights[static_cast<size_t>(j)] * static_cast<double>(means.v(j)[c]);
          }
          const size_t at = static_cast<size_t>(i) * sentence.inner + static_cast<size_t>(c);
          ASSERT_NEAR(result.out[at], out, 2e-5);
        }
        const int keys = CeilOf(n, reduction);
        for (int j = 0; j < keys; ++j) {
          ASSERT_NEAR(result.weights[static_cast<size_t>((h * n + i) * keys + j)],
                      weights[static_cast<size_t>(j * reduction)], 2e-5);
        }
      }
    }
  }
}

TEST(MixersTest, FactorizedEqualsItsDefinition) {
  ForEachHighwayTarget([] {
    Random random(6);
    for (int round = 0; round < 20; ++round) {
      Sentence sentence(&random, random.Int(1, 60));
      const auto result = sentence.Run(Spec("factorized"), false);
      const int d = sentence.shape.head_dim;
      for (int h = 0; h < sentence.shape.heads; ++h) {
        for (int i = 0; i < sentence.positions; ++i) {
          for (int c = h * d; c < (h + 1) * d; ++c) {
            double out = 0;
            for (int m = h * d; m < (h + 1) * d; ++m) {
              double sum = 0;
              double product = 0;
              for (int j = 0; j < sentence.positions; ++j) {
                const double e = std::exp(static_cast<double>(sentence.k(j)[m]));
                sum += e;
                product += e * static_cast<double>(sentence.v(j)[c]);
              }
              out += static_cast<double>(sentence.shape.Scale()) *
                     static_cast<double>(sentence.q(i)[m]) * product / sum;
            }
            const size_t at = static_cast<size_t>(i) * sentence.inner + static_cast<size_t>(c);
            ASSERT_NEAR(result.out[at], out, 2e-5);
          }
        }
      }
    }
  });
}

TEST(MixersTest, PoolsEqualTheirDefinition) {
  Random random(7);
  for (int round = 0; round < 50; ++round) {
    const int n = random.Int(1, 30);
    const int dim = random.Int(1, 40);
    const int width = 2 * random.Int(0, 5) + 1;
    const auto x = random.Floats(static_cast<size_t>(n * dim));
    std::vector<float> out(x.size());
    MeanPool(x.data(), n, dim, width, out.data());
    for (int i = 0; i < n; ++i) {
      for (int c = 0; c < dim; ++c) {
        double sum = 0;
        int count = 0;
        for (int j = 0; j < n; ++j) {
          if (std::abs(i - j) > width / 2) continue;
          sum += static_cast<double>(x[static_cast<size_t>(j * dim + c)]);
          ++count;
        }
        const double self = static_cast<double>(x[static_cast<size_t>(i * dim + c)]);
        ASSERT_NEAR(out[static_cast<size_t>(i * dim + c)], sum / count - self, 1e-6);
      }
    }
  }
}

}  // namespace
}  // namespace nibu::internal
