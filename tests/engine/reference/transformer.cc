// The reference Transformer in plain loops, as the papers have it.
#include "tests/engine/reference/transformer.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/engine/testing.h"

namespace nibu::internal {
namespace reference {
namespace {

double Activate(Activation activation, double x) {
  switch (activation) {
    case Activation::kNone:
      return x;
    case Activation::kRelu:
      return std::max(x, 0.0);
    case Activation::kGelu:
      return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
    case Activation::kGeluTanh:
      return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    case Activation::kGeluSigmoid:
      return x / (1 + std::exp(-1.702 * x));
    case Activation::kSwish:
      return x / (1 + std::exp(-x));
  }
  return 0;
}

Map RandomMap(Random* random, int in, int out) {
  const float limit = std::sqrt(3.0f / static_cast<float>(in));
  return {in, out, random->Floats(static_cast<size_t>(in) * static_cast<size_t>(out), limit),
          random->Floats(static_cast<size_t>(out), 0.2f)};
}

Norm RandomNorm(Random* random, int dim) {
  Norm norm{random->Floats(static_cast<size_t>(dim), 0.3f),
            random->Floats(static_cast<size_t>(dim), 0.3f)};
  for (float& gamma : norm.gamma) gamma += 1.0f;
  return norm;
}

Attention RandomAttention(Random* random, int dim, int inner) {
  return {RandomMap(random, dim, inner), RandomMap(random, dim, inner),
          RandomMap(random, dim, inner), RandomMap(random, inner, dim), RandomNorm(random, dim)};
}

Layer RandomLayer(Random* random, const ModelConfig& config, int inner, int hidden) {
  const int dim = config.d_model;
  Layer layer{RandomAttention(random, dim, inner),
              RandomAttention(random, dim, inner),
              {RandomMap(random, dim, hidden), RandomMap(random, dim, hidden),
               RandomMap(random, hidden, dim), RandomNorm(random, dim)}};
  if (config.decoder_memory == DecoderMemory::kSsru) {
    layer.self.q = RandomMap(random, dim, dim);
    layer.self.k = RandomMap(random, dim, dim);
  }
  return layer;
}

// Returns the bucket of a distance, found by the first distances of the buckets.
int Bucket(int distance, int buckets, int max_distance) {
  const int exact = buckets / 2;
  if (distance < exact) return distance;
  int bucket = exact;
  while (bucket + 1 < buckets &&
         distance >= exact * std::pow(1.0 * max_distance / exact,
                                      1.0 * (bucket + 1 - exact) / (buckets - exact)) -
                         1e-6) {
    ++bucket;
  }
  return bucket;
}

std::vector<double> Apply(const Map& map, const std::vector<double>& x) {
  std::vector<double> y;
  for (int n = 0; n < map.out; ++n) {
    double sum = static_cast<double>(map.bias[static_cast<size_t>(n)]);
    for (int k = 0; k < map.in; ++k) {
      sum += x[static_cast<size_t>(k)] *
             static_cast<double>(map.weight[static_cast<size_t>(n * map.in + k)]);
    }
    y.push_back(sum);
  }
  return y;
}

Matrix ApplyRows(const Map& map, const Matrix& x) {
  Matrix y;
  for (const auto& row : x) y.push_back(Apply(map, row));
  return y;
}

MatrixView View(const Map& map) {
  return {nibu::internal::View(map.weight, {map.out, map.in}), true, {}};
}

Linear Pack(const std::vector<const Map*>& maps, Activation activation, ComputeType type) {
  std::vector<MatrixView> matrices;
  std::vector<TensorView> biases;
  for (const Map* map : maps) {
    matrices.push_back(View(*map));
    biases.push_back(nibu::internal::View(map->bias, {map->out}));
  }
  return *Linear::Create(matrices, biases, activation, type);
}

LayerNormWeights Pack(const Norm& norm) { return {norm.gamma, norm.beta}; }

}  // namespace

Transformer::Transformer(const ModelConfig& config, uint32_t seed) : config_(config) {
  Random random(seed);
  const int dim = config.d_model;
  const auto size = [dim](int rows) {
    return static_cast<size_t>(rows) * static_cast<size_t>(dim);
  };
  source_table_ = random.Floats(size(config.vocab_source));
  target_table_ = random.Floats(size(config.vocab_target));
  position_table_ = random.Floats(size(config.max_positions + config.position_offset));
  source_norm_ = RandomNorm(&random, dim);
  target_norm_ = RandomNorm(&random, dim);
  encoder_norm_ = RandomNorm(&random, dim);
  decoder_norm_ = RandomNorm(&random, dim);
  const auto buckets = static_cast<size_t>(config.position_buckets);
  source_biases_ = random.Floats(buckets * static_cast<size_t>(config.heads_encoder), 2.0f);
  target_biases_ = random.Floats(buckets * static_cast<size_t>(config.heads_decoder), 2.0f);
  ModelConfig encoder_config = config;
  encoder_config.decoder_memory = DecoderMemory::kSelfAttention;
  for (int i = 0; i < config.layers_encoder; ++i) {
    encoder_.push_back(
        RandomLayer(&random, encoder_config, config.inner_encoder(), config.ffn_encoder));
  }
  for (int i = 0; i < config.layers_decoder; ++i) {
    decoder_.push_back(RandomLayer(&random, config, config.inner_decoder(), config.ffn_decoder));
    decoder_.back().mixer = {config, config.cross_mixer(i), seed + static_cast<uint32_t>(i)};
  }
  output_ = RandomMap(&random, dim, config.vocab_target);
  if (config.position_kind != PositionKind::kRelativeVectors) return;
  const auto add_vectors = [&](Attention* attention, int heads) {
    const auto n =
        static_cast<size_t>((2 * config.position_max_distance + 1) * config.head_dim(heads));
    attention->relative_keys = random.Floats(n);
    attention->relative_values = random.Floats(n);
  };
  for (Layer& layer : encoder_) add_vectors(&layer.self, config.heads_encoder);
  for (Layer& layer : decoder_) add_vectors(&layer.self, config.heads_decoder);
}

std::shared_ptr<const Model> Transformer::Build(ComputeType type) const {
  auto model = std::make_shared<Model>();
  model->config = config_;
  model->compute_type = type;
  ModelWeights& w = model->weights;
  const auto table = [&](const std::vector<float>& values) {
    const int64_t rows = static_cast<int64_t>(values.size()) / config_.d_model;
    return std::make_shared<const EmbeddingTable>(
        *EmbeddingTable::Create(nibu::internal::View(values, {rows, config_.d_model})));
  };
  w.source.tokens = table(source_table_);
  w.target.tokens = table(target_table_);
  if (config_.position_kind == PositionKind::kLearned) {
    w.source.positions = table(position_table_);
    w.target.positions = w.source.positions;
  }
  if (config_.position_kind == PositionKind::kRelative) {
    const int most = config_.position_max_distance;
    w.source.distance_biases = DistanceBiases(source_biases_, config_.heads_encoder, true, most);
    w.target.distance_biases = DistanceBiases(target_biases_, config_.heads_decoder, false, most);
  }
  if (config_.embedding_norm) {
    w.source.norm = Pack(source_norm_);
    w.target.norm = Pack(target_norm_);
  }
  if (config_.final_norm) {
    w.encoder_norm = Pack(encoder_norm_);
    w.decoder_norm = Pack(decoder_norm_);
  }
  const auto self = [&](const Attention& a) {
    return SelfAttentionWeights{Pack({&a.q, &a.k, &a.v}, Activation::kNone, type),
                                Pack({&a.out}, Activation::kNone, type), Pack(a.norm),
                                a.relative_keys, a.relative_values};
  };
  const auto cross = [&](const Attention& a) {
    return CrossAttentionWeights{Pack({&a.q}, Activation::kNone, type),
                                 Pack({&a.k, &a.v}, Activation::kNone, type),
                                 Pack({&a.out}, Activation::kNone, type), Pack(a.norm)};
  };
  const auto ffn = [&](const FeedForward& f) {
    return FeedForwardWeights{Pack({&f.up}, config_.activation, type),
                              Pack({&f.gate}, Activation::kNone, type),
                              Pack({&f.down}, Activation::kNone, type), Pack(f.norm)};
  };
  for (const Layer& layer : encoder_) w.encoder.push_back({{self(layer.self), ffn(layer.ffn)}});
  for (const Layer& layer : decoder_) {
    w.decoder.emplace_back();
    if (config_.decoder_memory == DecoderMemory::kSsru) {
      w.decoder.back().ssru = {Pack({&layer.self.q, &layer.self.k}, Activation::kNone, type),
                               Pack(layer.self.norm)};
    } else {
      w.decoder.back().self = self(layer.self);
    }
    w.decoder.back().cross = cross(layer.cross);
    w.decoder.back().mixer = layer.mixer.Build(type);
    w.decoder.back().ffn = ffn(layer.ffn);
  }
  const TensorView bias = nibu::internal::View(output_.bias, {output_.out});
  w.output = *OutputWeights::Create(View(output_), &bias, type);
  return model;
}

Matrix Transformer::Normalize(const Norm& norm, const Matrix& x) const {
  Matrix y = x;
  for (auto& row : y) {
    const auto n = static_cast<double>(row.size());
    double mean = 0;
    double variance = 0;
    const bool rms = config_.norm_kind == NormKind::kRms;
    for (double v : row) mean += rms ? 0 : v / n;
    for (double v : row) variance += (v - mean) * (v - mean) / n;
    for (size_t i = 0; i < row.size(); ++i) {
      row[i] = (row[i] - mean) / std::sqrt(variance + static_cast<double>(config_.norm_epsilon)) *
                   static_cast<double>(norm.gamma[i]) +
               (rms ? 0 : static_cast<double>(norm.beta[i]));
    }
  }
  return y;
}

Matrix Transformer::Sublayer(const Norm& norm, const Matrix& x,
                             const std::function<Matrix(const Matrix&)>& f) const {
  const bool pre = config_.norm_order == NormOrder::kPre;
  Matrix y = f(pre ? Normalize(norm, x) : x);
  for (size_t r = 0; r < x.size(); ++r) {
    for (size_t i = 0; i < x[r].size(); ++i) y[r][i] += x[r][i];
  }
  return pre ? y : Normalize(norm, y);
}

Matrix Transformer::Attend(const Attention& weights, const Matrix& x, const Matrix& memory,
                           int heads, bool causal, const std::vector<float>* biases,
                           std::vector<Matrix>* maps) const {
  const Matrix q = ApplyRows(weights.q, x);
  const Matrix k = ApplyRows(weights.k, memory);
  const Matrix v = ApplyRows(weights.v, memory);
  const auto dim = static_cast<size_t>(config_.head_dim(heads));
  const double scale = Scale(heads);
  Matrix context(x.size(), std::vector<double>(q[0].size()));
  const auto bias = [&](size_t i, size_t j, size_t h) {
    if (biases == nullptr) return 0.0;
    const int buckets = config_.position_buckets / (causal ? 1 : 2);
    const int distance = static_cast<int>(j) - static_cast<int>(i);
    int row = Bucket(std::abs(distance), buckets, config_.position_max_distance);
    if (distance > 0) row += buckets;
    return static_cast<double>((*biases)[static_cast<size_t>(row * heads) + h]);
  };
  // Returns element c of what is added to a key or a value (Shaw et al. 2018).
  const auto relative = [&](const std::vector<float>& vectors, size_t i, size_t j, size_t c) {
    if (vectors.empty()) return 0.0;
    const int most = config_.position_max_distance;
    const int distance = static_cast<int>(j) - static_cast<int>(i);
    const int row = std::min(std::max(distance, -most), most) + most;
    return static_cast<double>(vectors[static_cast<size_t>(row) * dim + c % dim]);
  };
  for (size_t h = 0; h < static_cast<size_t>(heads); ++h) {
    if (maps != nullptr) maps->emplace_back();
    for (size_t i = 0; i < x.size(); ++i) {
      const size_t keys = causal ? i + 1 : memory.size();
      std::vector<double> p;
      double sum = 0;
      for (size_t j = 0; j < keys; ++j) {
        double dot = 0;
        for (size_t c = h * dim; c < (h + 1) * dim; ++c) {
          dot += q[i][c] * (k[j][c] + relative(weights.relative_keys, i, j, c));
        }
        p.push_back(std::exp(dot * scale + bias(i, j, h)));
        sum += p.back();
      }
      for (double& value : p) value /= sum;
      for (size_t j = 0; j < keys; ++j) {
        for (size_t c = h * dim; c < (h + 1) * dim; ++c) {
          context[i][c] += p[j] * (v[j][c] + relative(weights.relative_values, i, j, c));
        }
      }
      p.resize(memory.size());
      if (maps != nullptr) maps->back().push_back(p);
    }
  }
  return ApplyRows(weights.out, context);
}

double Transformer::Scale(int heads) const {
  return config_.attention_scale > 0 ? static_cast<double>(config_.attention_scale)
                                     : 1 / std::sqrt(static_cast<double>(config_.head_dim(heads)));
}

Matrix Transformer::AttendToSource(const Layer& layer, const Matrix& x, const Matrix& encoded,
                                   std::vector<Matrix>* maps) const {
  const Matrix rows = CrossRows(layer.mixer, config_, encoded);
  const Matrix context =
      CrossAttend(layer.mixer, Scale(config_.heads_decoder), x, ApplyRows(layer.cross.q, x),
                  ApplyRows(layer.cross.k, rows), ApplyRows(layer.cross.v, rows),
                  static_cast<int>(encoded.size()), maps);
  return ApplyRows(layer.cross.out, context);
}

Matrix Transformer::Recur(const Attention& weights, const Matrix& x) const {
  const Matrix gates = ApplyRows(weights.q, x);
  const Matrix values = ApplyRows(weights.k, x);
  Matrix y = x;
  std::vector<double> cell(static_cast<size_t>(config_.d_model));
  for (size_t t = 0; t < x.size(); ++t) {
    for (size_t i = 0; i < cell.size(); ++i) {
      const double f = 1 / (1 + std::exp(-gates[t][i]));
      cell[i] = f * cell[i] + (1 - f) * values[t][i];
      y[t][i] = std::max(cell[i], 0.0);
    }
  }
  return y;
}

Matrix Transformer::Apply(const FeedForward& weights, const Matrix& x) const {
  Matrix hidden = ApplyRows(weights.up, x);
  for (auto& row : hidden) {
    for (double& value : row) value = Activate(config_.activation, value);
  }
  if (config_.gated_ffn) {
    const Matrix gate = ApplyRows(weights.gate, x);
    for (size_t r = 0; r < x.size(); ++r) {
      for (size_t i = 0; i < gate[r].size(); ++i) hidden[r][i] *= gate[r][i];
    }
  }
  return ApplyRows(weights.down, hidden);
}

Matrix Transformer::Embed(const std::vector<int>& tokens, const std::vector<float>& table,
                          const Norm& norm) const {
  Matrix x;
  const int dim = config_.d_model;
  const int half = dim / 2;
  for (size_t p = 0; p < tokens.size(); ++p) {
    std::vector<double> row(static_cast<size_t>(dim));
    const int position = static_cast<int>(p) + config_.position_offset;
    for (int i = 0; i < dim; ++i) {
      auto& value = row[static_cast<size_t>(i)];
      if (tokens[p] >= 0) {
        value = static_cast<double>(config_.embedding_scale) *
                static_cast<double>(table[static_cast<size_t>(tokens[p] * dim + i)]);
      }
      if (config_.position_kind == PositionKind::kLearned) {
        value += static_cast<double>(position_table_[static_cast<size_t>(position * dim + i)]);
      } else if (config_.position_kind != PositionKind::kRelative &&
                 config_.position_kind != PositionKind::kRelativeVectors && i < 2 * half) {
        const bool minus_one = config_.position_kind == PositionKind::kSinusoidalHalfMinusOne;
        const bool interleaved = config_.position_kind == PositionKind::kSinusoidalInterleaved;
        const int divisor = minus_one ? half - 1 : half;
        const int frequency = interleaved ? i / 2 : i % half;
        const double angle =
            divisor == 0 ? position : position / std::pow(10000.0, 1.0 * frequency / divisor);
        value += (interleaved ? i % 2 == 0 : i < half) ? std::sin(angle) : std::cos(angle);
      }
    }
    x.push_back(row);
  }
  return config_.embedding_norm ? Normalize(norm, x) : x;
}

Matrix Transformer::Encode(const std::vector<int>& source, Maps* maps) const {
  Matrix x = Embed(source, source_table_, source_norm_);
  const bool relative = config_.position_kind == PositionKind::kRelative;
  for (const Layer& layer : encoder_) {
    x = Sublayer(layer.self.norm, x, [&](const Matrix& in) {
      return Attend(layer.self, in, in, config_.heads_encoder, /*causal=*/false,
                    relative ? &source_biases_ : nullptr,
                    maps == nullptr ? nullptr : &maps->emplace_back());
    });
    x = Sublayer(layer.ffn.norm, x, [&](const Matrix& in) { return Apply(layer.ffn, in); });
  }
  return config_.final_norm ? Normalize(encoder_norm_, x) : x;
}

Transformer::Output Transformer::Decode(const Matrix& encoded,
                                        const std::vector<int>& tokens) const {
  Output output;
  Matrix x = Embed(tokens, target_table_, target_norm_);
  const bool relative = config_.position_kind == PositionKind::kRelative;
  for (const Layer& layer : decoder_) {
    x = Sublayer(layer.self.norm, x, [&](const Matrix& in) {
      if (config_.decoder_memory == DecoderMemory::kSsru) return Recur(layer.self, in);
      return Attend(layer.self, in, in, config_.heads_decoder, /*causal=*/true,
                    relative ? &target_biases_ : nullptr, &output.self.emplace_back());
    });
    x = Sublayer(layer.cross.norm, x, [&](const Matrix& in) {
      return AttendToSource(layer, in, encoded, &output.cross.emplace_back());
    });
    x = Sublayer(layer.ffn.norm, x, [&](const Matrix& in) { return Apply(layer.ffn, in); });
  }
  if (config_.final_norm) x = Normalize(decoder_norm_, x);
  output.logits = reference::Apply(output_, x.back());
  return output;
}

std::vector<double> Transformer::NextLogProbs(const Matrix& encoded,
                                              const std::vector<int>& prefix) const {
  std::vector<int> tokens = {config_.decoder_start};
  tokens.insert(tokens.end(), prefix.begin(), prefix.end());
  std::vector<double> logits = Decode(encoded, tokens).logits;
  for (int token : config_.suppressed) {
    logits[static_cast<size_t>(token)] = -std::numeric_limits<double>::infinity();
  }
  double sum = 0;
  for (double logit : logits) sum += std::exp(logit);
  for (double& logit : logits) logit -= std::log(sum);
  return logits;
}

}  // namespace reference

}  // namespace nibu::internal
