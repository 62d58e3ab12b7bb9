// An encoder layer of random weights with any mixer, and its weights as plain numbers.
#ifndef NIBU_TESTS_ENGINE_ATTENTION_MIXERS_MIXER_LAYER_H_
#define NIBU_TESTS_ENGINE_ATTENTION_MIXERS_MIXER_LAYER_H_

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "engine/model/encoder.h"
#include "gtest/gtest.h"
#include "tests/engine/attention/spec.h"
#include "tests/engine/reference/transformer.h"
#include "tests/engine/testing.h"

namespace nibu::internal {

using reference::Matrix;
using Values = std::vector<float>;

inline constexpr int kMostPositions = 24;

// Weights and biases of a layer, by their names behind "encoder.0.".
struct Plain {
  Values weight;
  Values bias;
};
using Overrides = std::map<std::string, Plain>;

// Fills a model's weights with random numbers, which depend on the seed and on the weight's name
// alone, and keeps them in `kept`. The feed-forward sublayer adds nothing.
struct Filler {
  uint32_t seed;
  ComputeType type;
  Overrides own;
  std::map<std::string, Plain>* kept;

  Plain& Make(std::string name, size_t size, size_t biases, float spread) {
    if (absl::StartsWith(name, "encoder.0.")) name = name.substr(10);
    Plain& plain = (*kept)[name];
    if (own.count(name) > 0) return plain = own[name];
    Random random(seed + static_cast<uint32_t>(std::hash<std::string>()(name)));
    if (name == "ffn.down" || name == "encoder.positions") spread = 0;
    plain.weight = random.Floats(size, spread);
    plain.bias = random.Floats(biases, 0.3f * std::min(spread, 1.0f));
    return plain;
  }
  static size_t SizeOf(const WeightShape& shape) {
    return static_cast<size_t>(shape.rows) * static_cast<size_t>(shape.columns);
  }
  void operator()(const std::string& name, Linear& linear, const WeightShape& shape) {
    const auto rows = static_cast<size_t>(shape.rows);
    const float spread = 2 / std::sqrt(static_cast<float>(shape.columns));
    const Plain& plain = Make(name, SizeOf(shape), rows, spread);
    const MatrixView matrix = {View(plain.weight, {shape.rows, shape.columns}), true, {}};
    linear = *Linear::Create({matrix}, {View(plain.bias, {shape.rows})}, shape.activation, type);
  }
  void operator()(const std::string& name, OutputWeights& output, const WeightShape& shape) {
    const Plain& plain = Make(name, SizeOf(shape), 0, 1);
    const MatrixView matrix = {View(plain.weight, {shape.rows, shape.columns}), true, {}};
    output = *OutputWeights::Create(matrix, nullptr, type);
  }
  void operator()(const std::string& name, LayerNormWeights& norm, const WeightShape& shape) {
    Plain& plain = Make(name, SizeOf(shape), SizeOf(shape), 0.5f);
    if (own.count(name) == 0) {
      for (float& gamma : plain.weight) gamma += 1;
    }
    norm = {plain.weight, plain.bias};
  }
  void operator()(const std::string& name, std::shared_ptr<const EmbeddingTable>& table,
                  const WeightShape& shape) {
    const Plain& plain = Make(name, SizeOf(shape), 0, 2);
    table = std::make_shared<const EmbeddingTable>(
        *EmbeddingTable::Create(View(plain.weight, {shape.rows, shape.columns})));
  }
  void operator()(const std::string& name, Values& values, const WeightShape& shape) {
    values = Make(name, SizeOf(shape), 0, 0.8f).weight;
  }
};

// One encoder layer, pre-norm, without positions, so that Encode(x) - x is the mixer's result for
// LN(x).
class Layer {
 public:
  Layer(const std::string& mixer, uint32_t seed, Overrides own = {},
        ComputeType type = ComputeType::kFloat32) {
    Random random(seed);
    ModelConfig& config = model_.config;
    config.d_model = random.Int(2, 20);
    config.heads_encoder = config.heads_decoder = random.Int(1, 3);
    config.d_head = random.Int(1, 9);
    config.ffn_encoder = config.ffn_decoder = 2;
    config.layers_encoder = config.layers_decoder = 1;
    config.vocab_source = config.vocab_target = 30;
    config.max_positions = kMostPositions;
    config.norm_order = NormOrder::kPre;
    config.position_kind = PositionKind::kLearned;
    config.encoder_attention = {Spec(mixer)};
    EXPECT_TRUE(config.Validate().ok()) << config.Validate();
    model_.compute_type = type;
    model_.weights = EmptyWeights(config);
    ForEachWeight(config, model_.weights, Filler{seed, type, std::move(own), &plain_});
    embedder_ = std::make_unique<Embedder>(config, model_.weights.source, kMostPositions);
  }

  const ModelConfig& config() const { return model_.config; }
  size_t inner() const { return static_cast<size_t>(config().inner_encoder()); }
  const Plain& plain(const std::string& name) const { return plain_.at(name); }

  // Returns the engine's result, [sum of lengths, D].
  Values Encode(const std::vector<std::vector<int>>& sources) const {
    Workspace workspace;
    const std::vector<absl::Span<const int>> spans(sources.begin(), sources.end());
    size_t size = 0;
    for (const auto& source : sources) size += source.size();
    const float* rows = nibu::internal::Encode(model_, *embedder_, spans, &workspace).data();
    return {rows, rows + size * static_cast<size_t>(config().d_model)};
  }

  Matrix Embed(const std::vector<int>& tokens) const {
    const auto dim = static_cast<size_t>(config().d_model);
    const Values& table = plain("encoder.tokens").weight;
    Matrix rows;
    for (const int token : tokens) {
      const auto at = table.begin() + static_cast<long>(static_cast<size_t>(token) * dim);
      rows.emplace_back(at, at + static_cast<long>(dim));
    }
    return rows;
  }

  Matrix Apply(const std::string& name, const Matrix& x) const {
    const Plain& p = plain(name);
    Matrix y;
    for (const auto& row : x) {
      y.emplace_back(p.bias.begin(), p.bias.end());
      for (size_t o = 0; o < y.back().size(); ++o) {
        for (size_t i = 0; i < row.size(); ++i) {
          y.back()[o] += static_cast<double>(p.weight[o * row.size() + i]) * row[i];
        }
      }
    }
    return y;
  }

  Matrix Norm(const std::string& name, Matrix x) const {
    const Plain& p = plain(name);
    for (auto& row : x) {
      double mean = 0;
      double variance = 0;
      for (const double value : row) mean += value / static_cast<double>(row.size());
      for (const double value : row) {
        variance += (value - mean) * (value - mean) / static_cast<double>(row.size());
      }
      for (size_t i = 0; i < row.size(); ++i) {
        row[i] = (row[i] - mean) / std::sqrt(variance + static_cast<double>(config().norm_epsilon));
        row[i] = row[i] * static_cast<double>(p.weight[i]) + static_cast<double>(p.bias[i]);
      }
    }
    return x;
  }

 private:
  Model model_;
  std::map<std::string, Plain> plain_;
  std::unique_ptr<Embedder> embedder_;
};

}  // namespace nibu::internal

#endif  // NIBU_TESTS_ENGINE_ATTENTION_MIXERS_MIXER_LAYER_H_
