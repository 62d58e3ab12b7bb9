// Tests of the mixers that have weights of their own: an encoder layer of random weights against
// plain code that is written from the definitions (the headers of engine/attention/mixers), and
// weights with which a mixer is full attention.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/engine/attention/mixers/mixer_layer.h"

namespace nibu::internal {
namespace {

std::vector<int> RandomSource(Random* random) {
  std::vector<int> source(static_cast<size_t>(random->Int(1, kMostPositions)));
  for (int& token : source) token = random->Int(0, 29);
  return source;
}

// Returns head h of row i of q, k or v: part 0, 1 or 2 of qkv.
std::vector<double> Part(const Layer& layer, const Matrix& qkv, size_t i, size_t part, size_t h) {
  const auto dim = static_cast<size_t>(layer.config().d_head);
  const auto from = qkv[i].begin() + static_cast<long>(part * layer.inner() + h * dim);
  return {from, from + static_cast<long>(dim)};
}

constexpr double kUnseen = -std::numeric_limits<double>::infinity();

double Dot(const std::vector<double>& x, const std::vector<double>& y) {
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}

using Score = std::function<double(size_t h, size_t i, size_t j, const std::vector<double>& q,
                                   const std::vector<double>& k)>;
using Factor = std::function<double(size_t i, size_t j)>;

// Returns out(softmax(score) * factor . v), with queries made of x, keys and values of memory.
Matrix Attend(
    const Layer& layer, const Matrix& x, const Matrix& memory, const Score& score,
    const Factor& factor = [](size_t, size_t) { return 1.0; }) {
  const Matrix queries = layer.Apply("self.q+k+v", x);
  const Matrix keys = layer.Apply("self.q+k+v", memory);
  Matrix context(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    for (size_t h = 0; h < static_cast<size_t>(layer.config().heads_encoder); ++h) {
      std::vector<double> weights;
      for (size_t j = 0; j < memory.size(); ++j) {
        weights.push_back(
            score(h, i, j, Part(layer, queries, i, 0, h), Part(layer, keys, j, 1, h)));
      }
      const double most = *std::max_element(weights.begin(), weights.end());
      double sum = 0;
      for (double& weight : weights) sum += weight = std::exp(weight - most);
      std::vector<double> out(static_cast<size_t>(layer.config().d_head));
      for (size_t j = 0; j < memory.size(); ++j) {
        const std::vector<double> v = Part(layer, keys, j, 2, h);
        for (size_t c = 0; c < out.size(); ++c) out[c] += weights[j] / sum * factor(i, j) * v[c];
      }
      context[i].insert(context[i].end(), out.begin(), out.end());
    }
  }
  return layer.Apply("self.out", context);
}

double ScaledDot(size_t, size_t, size_t, const std::vector<double>& q,
                 const std::vector<double>& k) {
  return Dot(q, k) / std::sqrt(static_cast<double>(q.size()));
}

// Returns the mixer's result for the normalized rows of a sentence.
using Definition = std::function<Matrix(const Layer& layer, const Matrix& x)>;

void ExpectEqualsDefinition(const std::function<std::string(Random*)>& mixer,
                            const std::function<Definition(const MixerSpec&)>& definition) {
  ForEachHighwayTarget([&] {
    Random random(1);
    for (uint32_t round = 0; round < static_cast<uint32_t>(Rounds(40)); ++round) {
      const Layer layer(mixer(&random), round);
      const MixerSpec spec = layer.config().encoder_mixer(0);
      SCOPED_TRACE(absl::StrCat(spec.ToText(), " ", round));
      const std::vector<int> source = RandomSource(&random);
      const Values encoded = layer.Encode({source});
      Matrix expected = layer.Embed(source);
      const Matrix mixed = definition(spec)(layer, layer.Norm("self.norm", expected));
      auto value = encoded.begin();
      for (size_t i = 0; i < source.size(); ++i) {
        for (size_t c = 0; c < expected[i].size(); ++c) {
          ASSERT_NEAR(expected[i][c] + mixed[i][c], *value++, 1e-3) << i << " " << c;
        }
      }
    }
  });
}

std::string RandomPattern(Random* random) {
  return random->Chance() ? absl::StrCat("window:width=", random->Int(0, 8)) : "full:";
}

// Limits the score to the keys that a pattern shows, which is full or a window.
Score Within(const MixerSpec& spec, const Score& score) {
  return [=](size_t h, size_t i, size_t j, const auto& q, const auto& k) {
    const int distance = std::abs(static_cast<int>(i) - static_cast<int>(j));
    const auto* const window = spec.As<WindowAttention>();
    const bool seen = window == nullptr || distance <= window->width;
    return seen ? score(h, i, j, q, k) : kUnseen;
  };
}

TEST(MixerWeightsTest, DotIsNotScaled) {
  const auto mixer = [](Random* random) {
    return RandomPattern(random) + ",score=dot" + (random->Chance() ? ",dense=1" : "");
  };
  ExpectEqualsDefinition(mixer, [](const MixerSpec& spec) {
    return [=](const Layer& layer, const Matrix& x) {
      return Attend(layer, x, x,
                    Within(spec, [](size_t, size_t, size_t, const auto& q, const auto& k) {
                      return Dot(q, k);
                    }));
    };
  });
}

TEST(MixerWeightsTest, GeneralHasAMatrixForEachHead) {
  const auto mixer = [](Random* random) {
    return RandomPattern(random) + ",score=general" + (random->Chance() ? ",dense=1" : "");
  };
  ExpectEqualsDefinition(mixer, [](const MixerSpec& spec) {
    return [=](const Layer& layer, const Matrix& x) {
      const Values& w = layer.plain("mixer.score").weight;
      return Attend(layer, x, x,
                    Within(spec, [&w](size_t h, size_t, size_t, const auto& q, const auto& k) {
                      double sum = 0;
                      for (size_t a = 0; a < k.size(); ++a) {
                        for (size_t b = 0; b < q.size(); ++b) {
                          const size_t at = (h * k.size() + a) * q.size() + b;
                          sum += k[a] * static_cast<double>(w[at]) * q[b];
                        }
                      }
                      return sum;
                    }));
    };
  });
}

TEST(MixerWeightsTest, ConcatMapsKeyAndQueryTogether) {
  const auto mixer = [](Random* random) { return RandomPattern(random) + ",score=concat"; };
  ExpectEqualsDefinition(mixer, [](const MixerSpec& spec) {
    return [=](const Layer& layer, const Matrix& x) {
      const Values& w = layer.plain("mixer.score").weight;
      const Values& v = layer.plain("mixer.score_vector").weight;
      return Attend(layer, x, x,
                    Within(spec, [&](size_t h, size_t, size_t, const auto& q, auto pair) {
                      const size_t dim = q.size();
                      pair.insert(pair.end(), q.begin(), q.end());  // [k; q]
                      double sum = 0;
                      for (size_t a = 0; a < dim; ++a) {
                        double inner = 0;
                        for (size_t b = 0; b < 2 * dim; ++b) {
                          const size_t at = (h * dim + a) * 2 * dim + b;
                          inner += static_cast<double>(w[at]) * pair[b];
                        }
                        sum += static_cast<double>(v[h * dim + a]) * std::tanh(inner);
                      }
                      return sum;
                    }));
    };
  });
}

TEST(MixerWeightsTest, LocalPLooksWhereTheRowSays) {
  const auto mixer = [](Random* random) { return absl::StrCat("local_p:", random->Int(1, 9)); };
  ExpectEqualsDefinition(mixer, [](const MixerSpec& spec) {
    return [=](const Layer& layer, const Matrix& x) {
      const int width = spec.As<PredictedWindow>()->width;
      const Values& v = layer.plain("mixer.centre_vector").weight;
      std::vector<double> centres;
      for (const auto& row : layer.Apply("mixer.centre", x)) {
        double sum = 0;
        for (size_t c = 0; c < row.size(); ++c) {
          sum += static_cast<double>(v[c]) * std::tanh(row[c]);
        }
        centres.push_back(static_cast<double>(x.size()) / (1 + std::exp(-sum)));
      }
      const auto distance = [=](size_t i, size_t j) { return static_cast<double>(j) - centres[i]; };
      return Attend(
          layer, x, x,
          [=](size_t h, size_t i, size_t j, const auto& q, const auto& k) {
            return std::abs(distance(i, j)) <= width ? ScaledDot(h, i, j, q, k) : kUnseen;
          },
          [=](size_t i, size_t j) {
            const double sigma = width / 2.0;
            return std::exp(-std::pow(distance(i, j), 2) / (2 * sigma * sigma));
          });
    };
  });
}

TEST(MixerWeightsTest, ReductionMapsNeighbours) {
  const auto mixer = [](Random* random) { return absl::StrCat("reduction:", random->Int(1, 30)); };
  ExpectEqualsDefinition(mixer, [](const MixerSpec& spec) {
    return [=](const Layer& layer, const Matrix& x) {
      const auto reduction = static_cast<size_t>(spec.As<ReducedAttention>()->reduction);
      const size_t dim = x[0].size();
      Matrix joined;
      for (size_t i = 0; i < x.size(); ++i) {
        if (i % reduction == 0) joined.emplace_back(reduction * dim);
        std::copy(x[i].begin(), x[i].end(),
                  joined.back().begin() + static_cast<long>(i % reduction * dim));
      }
      const Matrix reduced = layer.Apply("mixer.reduce", joined);
      return Attend(layer, x, layer.Norm("mixer.reduce_norm", reduced), ScaledDot);
    };
  });
}

double Gelu(double x) { return x * (1 + std::erf(x / std::sqrt(2.0))) / 2; }

TEST(MixerWeightsTest, DeformableSamplesWhereTheQueriesSay) {
  const auto mixer = [](Random* random) {
    return absl::StrCat("deformable:", random->Int(1, 9), ",kernel=", 2 * random->Int(0, 4) + 1);
  };
  ExpectEqualsDefinition(mixer, [](const MixerSpec& spec) {
    return [=](const Layer& layer, const Matrix& x) {
      const auto [reduction, kernel] = *spec.As<DeformableAttention>();
      const int n = static_cast<int>(x.size());
      const Values& taps = layer.plain("mixer.offset_taps").weight;
      const Values& bias = layer.plain("mixer.offset_bias").weight;
      const Values& w = layer.plain("mixer.offset").weight;
      const Matrix qkv = layer.Apply("self.q+k+v", x);
      Matrix sampled;
      for (int first = 0; first < n; first += reduction) {
        Matrix z = {{bias.begin(), bias.end()}};
        for (size_t c = 0; c < layer.inner(); ++c) {
          for (int k = 0; k < kernel; ++k) {
            const int i = first + k - kernel / 2;
            if (i < 0 || i >= n) continue;
            const double tap =
                static_cast<double>(taps[c * static_cast<size_t>(kernel) + static_cast<size_t>(k)]);
            z[0][c] += tap * qkv[static_cast<size_t>(i)][c];
          }
        }
        z = layer.Norm("mixer.offset_norm", z);
        double sum = 0;
        for (size_t c = 0; c < layer.inner(); ++c) sum += static_cast<double>(w[c]) * Gelu(z[0][c]);
        double place = first + (reduction - 1) / 2.0 + reduction * std::tanh(sum);
        place = std::clamp(place, 0.0, static_cast<double>(n - 1));
        sampled.emplace_back(x[0].size());
        for (size_t i = 0; i < x.size(); ++i) {  // hat functions
          const double part = std::max(0.0, 1 - std::abs(place - static_cast<double>(i)));
          for (size_t c = 0; c < x[i].size(); ++c) sampled.back()[c] += part * x[i][c];
        }
      }
      return Attend(layer, x, sampled, ScaledDot);
    };
  });
}

TEST(MixerWeightsTest, MlpMixesColumns) {
  const auto mixer = [](Random* random) {
    const int hidden = random->Int(0, 9);
    return absl::StrCat("mlp:", random->Int(kMostPositions, 40), ",hidden=", hidden);
  };
  ExpectEqualsDefinition(mixer, [](const MixerSpec& spec) {
    return [=](const Layer& layer, const Matrix& x) {
      const TokenMlp& mlp = *spec.As<TokenMlp>();
      Matrix columns(x[0].size(), std::vector<double>(static_cast<size_t>(mlp.positions)));
      for (size_t i = 0; i < x.size(); ++i) {
        for (size_t c = 0; c < x[i].size(); ++c) columns[c][i] = x[i][c];
      }
      Matrix hidden = layer.Apply("mixer.up", columns);
      EXPECT_EQ(hidden[0].size(),
                static_cast<size_t>(mlp.hidden == 0 ? mlp.positions : mlp.hidden));
      for (auto& row : hidden) std::transform(row.begin(), row.end(), row.begin(), Gelu);
      const Matrix mixed = layer.Apply("mixer.down", hidden);
      Matrix out = x;
      for (size_t i = 0; i < x.size(); ++i) {
        for (size_t c = 0; c < x[i].size(); ++c) out[i][c] = mixed[c][i];
      }
      return out;
    };
  });
}

const char* const kMixers[] = {"window:5,score=general",
                               "full:score=general",
                               "full:score=concat",
                               "full:score=dot",
                               "local_p:3",
                               "reduction:3",
                               "deformable:3",
                               "mlp:32,hidden=7",
                               "pool:3",
                               "shifted:5,bias=1",
                               "block_grid:4,bias=1,both=1",
                               "factorized:kernel=3",
                               "local_p:2,score=concat"};

TEST(MixerWeightsTest, TheSameWhateverTheBatch) {
  for (const ComputeType type :
       {ComputeType::kFloat32, ComputeType::kBFloat16, ComputeType::kInt8}) {
    if (!IsSupported(type)) continue;
    for (const char* mixer : kMixers) {
      SCOPED_TRACE(absl::StrCat(mixer, " ", ComputeTypeName(type)));
      Random random(3);
      for (uint32_t round = 0; round < 5; ++round) {
        const Layer layer(mixer, round, {}, type);
        const std::vector<std::vector<int>> sources = {RandomSource(&random), RandomSource(&random),
                                                       RandomSource(&random)};
        Values alone;
        for (const auto& source : sources) {
          const Values rows = layer.Encode({source});
          alone.insert(alone.end(), rows.begin(), rows.end());
        }
        const Values together = layer.Encode(sources);
        ASSERT_EQ(alone.size(), together.size());
        EXPECT_EQ(std::memcmp(alone.data(), together.data(), alone.size() * sizeof(float)), 0);
      }
    }
  }
}

// Expects that a mixer with these weights is full attention.
void ExpectFull(const std::string& mixer, const std::function<Overrides(const ModelConfig&)>& own) {
  Random random(4);
  for (uint32_t seed = 0; seed < 20; ++seed) {
    const ModelConfig config = Layer("full", seed).config();
    Overrides fixed = own(config);
    const auto dim = static_cast<size_t>(config.d_model);
    fixed["self.norm"] = {Values(dim, 1), Values(dim, 0)};
    const std::vector<int> source = RandomSource(&random);
    const Values expected = Layer("full", seed, fixed).Encode({source});
    const Values actual = Layer(mixer, seed, fixed).Encode({source});
    for (size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(expected[i], actual[i], 2e-4f) << seed;
  }
}

// Returns `count` multiples of the identity [n, n], one below the other.
Plain Identity(int count, int n, float value) {
  const auto size = static_cast<size_t>(n);
  Plain plain;
  for (size_t i = 0; i < static_cast<size_t>(count) * size * size; ++i) {
    plain.weight.push_back(i / size % size == i % size ? value : 0.0f);
  }
  plain.bias.resize(size);
  return plain;
}

TEST(MixerWeightsTest, LimitsAreFullAttention) {
  const auto scaled = [](const ModelConfig& config) -> Overrides {
    const float scale = 1 / std::sqrt(static_cast<float>(config.d_head));
    return {{"mixer.score", Identity(config.heads_encoder, config.d_head, scale)}};
  };
  ExpectFull("full:score=general", scaled);
  ExpectFull("full:score=general,dense=1", scaled);
  ExpectFull("local_p:60000", [](const ModelConfig&) { return Overrides(); });
  ExpectFull("reduction:1", [](const ModelConfig& config) -> Overrides {
    const auto dim = static_cast<size_t>(config.d_model);
    return {{"mixer.reduce", Identity(1, config.d_model, 1)},
            // The norm's input is normalized already.
            {"mixer.reduce_norm", {Values(dim, 1), Values(dim, 0)}}};
  });
  ExpectFull("deformable:1", [](const ModelConfig& config) -> Overrides {
    return {{"mixer.offset", {Values(static_cast<size_t>(config.inner_encoder())), {}}}};
  });
}

}  // namespace
}  // namespace nibu::internal
