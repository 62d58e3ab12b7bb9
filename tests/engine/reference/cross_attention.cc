// The mechanisms of cross-attention in plain loops, as mixers/README.md defines them.
#include "tests/engine/reference/cross_attention.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/engine/attention/spec.h"

namespace nibu::internal {
namespace reference {
namespace {

double At(const std::vector<float>& values, int i) {
  return static_cast<double>(values[static_cast<size_t>(i)]);
}

// Returns y = W x + b, with W [outputs, inputs].
std::vector<double> Apply(const std::vector<float>& weight, const std::vector<float>& bias,
                          const std::vector<double>& x) {
  const int inputs = static_cast<int>(x.size());
  std::vector<double> y(bias.begin(), bias.end());
  for (int o = 0; o < static_cast<int>(y.size()); ++o) {
    for (int i = 0; i < inputs; ++i) {
      y[static_cast<size_t>(o)] += At(weight, o * inputs + i) * x[static_cast<size_t>(i)];
    }
  }
  return y;
}

// Returns the mean of every `reduction` rows.
Matrix Means(const Matrix& x, int reduction) {
  Matrix means;
  const auto each = static_cast<size_t>(reduction);
  for (size_t first = 0; first < x.size(); first += each) {
    const size_t end = std::min(first + each, x.size());
    means.emplace_back(x[0].size());
    for (size_t j = first; j < end; ++j) {
      for (size_t c = 0; c < x[j].size(); ++c) {
        means.back()[c] += x[j][c] / static_cast<double>(end - first);
      }
    }
  }
  return means;
}

double ScoreOf(const CrossMixer& mixer, double scale, int h, const double* q, const double* k) {
  const int d = mixer.dim;
  double sum = 0;
  switch (mixer.spec.score) {
    case Score::kScaledDot:
    case Score::kDot:
      for (int c = 0; c < d; ++c) sum += q[c] * k[c];
      return mixer.spec.score == Score::kDot ? sum : sum * scale;
    case Score::kGeneral:
      for (int a = 0; a < d; ++a) {
        for (int b = 0; b < d; ++b) sum += k[a] * At(mixer.score, (h * d + a) * d + b) * q[b];
      }
      return sum;
    case Score::kConcat:
      for (int a = 0; a < d; ++a) {
        double inner = 0;
        for (int b = 0; b < d; ++b) {
          inner += At(mixer.score, (h * d + a) * 2 * d + b) * k[b] +
                   At(mixer.score, (h * d + a) * 2 * d + d + b) * q[b];
        }
        sum += At(mixer.score_vector, h * d + a) * std::tanh(inner);
      }
      return sum;
  }
  return 0;
}

}  // namespace

CrossMixer::CrossMixer(const ModelConfig& config, const MixerSpec& mixer, uint32_t seed)
    : spec(mixer),
      heads(config.heads_decoder),
      dim(config.head_dim(config.heads_decoder)),
      model_dim(config.d_model) {
  Random random(seed);
  const auto floats = [&](int size, float spread) {
    return random.Floats(static_cast<size_t>(size), spread);
  };
  const int columns = spec.score == Score::kConcat ? 2 * dim : dim;
  score = floats(heads * dim * columns, 1.0f / std::sqrt(static_cast<float>(dim)));
  score_vector = floats(heads * dim, 1.0f);
  centre = floats(model_dim * model_dim, 1.0f / std::sqrt(static_cast<float>(model_dim)));
  centre_bias = floats(model_dim, 0.2f);
  centre_vector = floats(model_dim, 1.0f);
  const int joined = model_dim * spec.reduction();
  reduce = floats(model_dim * joined, 1.5f / std::sqrt(static_cast<float>(joined)));
  reduce_bias = floats(model_dim, 0.2f);
  gamma = floats(model_dim, 0.3f);
  for (float& value : gamma) value += 1;
  beta = floats(model_dim, 0.3f);
}

MixerWeights CrossMixer::Build(ComputeType type) const {
  MixerWeights weights;
  const auto linear = [&](const std::vector<float>& weight, const std::vector<float>& bias) {
    const int64_t inputs = static_cast<int64_t>(weight.size()) / model_dim;
    const MatrixView matrix = {View(weight, {model_dim, inputs}), true, {}};
    return *Linear::Create({matrix}, {View(bias, {model_dim})}, Activation::kNone, type);
  };
  weights.score = score;
  weights.score_vector = score_vector;
  weights.centre = linear(centre, centre_bias);
  weights.centre_vector = centre_vector;
  weights.reduce = linear(reduce, reduce_bias);
  weights.reduce_norm = {gamma, beta};
  return weights;
}

Matrix CrossRows(const CrossMixer& mixer, const ModelConfig& config, const Matrix& encoded) {
  if (!mixer.spec.Is<ReducedAttention>()) return encoded;
  Matrix rows;
  const auto each = static_cast<size_t>(mixer.spec.reduction());
  for (size_t first = 0; first < encoded.size(); first += each) {
    std::vector<double> joined;
    for (size_t j = first; j < std::min(first + each, encoded.size()); ++j) {
      joined.insert(joined.end(), encoded[j].begin(), encoded[j].end());
    }
    joined.resize(each * encoded[0].size());
    std::vector<double> row = Apply(mixer.reduce, mixer.reduce_bias, joined);
    const bool rms = config.norm_kind == NormKind::kRms;
    const auto n = static_cast<double>(row.size());
    double mean = 0;
    double variance = 0;
    for (const double value : row) mean += rms ? 0 : value / n;
    for (const double value : row) variance += (value - mean) * (value - mean) / n;
    for (size_t i = 0; i < row.size(); ++i) {
      row[i] = (row[i] - mean) / std::sqrt(variance + static_cast<double>(config.norm_epsilon));
      row[i] = row[i] * static_cast<double>(mixer.gamma[i]) +
               (rms ? 0 : static_cast<double>(mixer.beta[i]));
    }
    rows.push_back(row);
  }
  return rows;
}

Matrix CrossAttend(const CrossMixer& mixer, double scale, const Matrix& x, const Matrix& q,
                   const Matrix& all_k, const Matrix& all_v, int source_length,
                   std::vector<Matrix>* maps) {
  const MixerSpec& spec = mixer.spec;
  const bool is_mean = spec.Is<MeanAttention>();
  const Matrix k = is_mean ? Means(all_k, spec.reduction()) : all_k;
  const Matrix v = is_mean ? Means(all_v, spec.reduction()) : all_v;
  const auto d = static_cast<size_t>(mixer.dim);
  Matrix context(x.size(), std::vector<double>(q[0].size()));
  for (size_t h = 0; h < static_cast<size_t>(mixer.heads); ++h) {
    if (maps != nullptr) maps->emplace_back();
    for (size_t t = 0; t < x.size(); ++t) {
      // The middle and the width of the window. Without a window, all keys are within it.
      double centre = 0;
      double width = HUGE_VAL;
      if (const auto* local = spec.As<MonotonicWindow>()) {
        centre = std::min(static_cast<double>(t) * local->ratio / 100, source_length - 1.0);
        width = local->width;
      }
      const auto* const predicted = spec.As<PredictedWindow>();
      if (predicted != nullptr) {
        const std::vector<double> mapped = Apply(mixer.centre, mixer.centre_bias, x[t]);
        double sum = 0;
        for (size_t c = 0; c < mapped.size(); ++c) {
          sum += static_cast<double>(mixer.centre_vector[c]) * std::tanh(mapped[c]);
        }
        centre = source_length / (1 + std::exp(-sum));
        width = predicted->width;
      }
      std::vector<double> p(k.size());
      double sum = 0;
      for (size_t j = 0; j < k.size(); ++j) {
        if (std::abs(static_cast<double>(j) - centre) > width) continue;
        const double* const key = k[j].data() + h * d;
        sum += p[j] =
            std::exp(ScoreOf(mixer, scale, static_cast<int>(h), q[t].data() + h * d, key));
      }
      for (size_t j = 0; j < k.size(); ++j) {
        p[j] /= sum;
        if (predicted != nullptr) {
          const double sigma = width / 2;
          const double distance = static_cast<double>(j) - centre;
          p[j] *= std::exp(-distance * distance / (2 * sigma * sigma));
        }
        for (size_t c = h * d; c < (h + 1) * d; ++c) context[t][c] += p[j] * v[j][c];
      }
      if (maps != nullptr) maps->back().push_back(p);
    }
  }
  return context;
}

std::vector<MixerSpec> RandomCrossAttention(Random* random, int layers) {
  std::vector<MixerSpec> specs;
  for (int l = 0; l < layers; ++l) {
    const int width = random->Int(1, 12);
    const std::string texts[] = {
        "full:",
        absl::StrCat("local_m:width=", width, ",ratio=", random->Int(50, 200)),
        absl::StrCat("local_p:width=", width),
        absl::StrCat("mean:", random->Int(1, 5)),
        absl::StrCat("reduction:", random->Int(1, 5)),
    };
    const int kind = random->Int(0, 4);
    std::string text = texts[kind];
    if (kind < 3) {
      const int score = random->Int(0, 3);
      absl::StrAppend(&text, ",score=", kScoreNames[static_cast<size_t>(score)]);
      if (random->Int(0, 3) == 0) absl::StrAppend(&text, ",dense=1");
    }
    specs.push_back(Spec(text, l));
  }
  return specs;
}

}  // namespace reference
}  // namespace nibu::internal
