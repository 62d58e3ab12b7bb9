// Tests of FindAttention: the attention matrices of all layers against the reference Transformer,
// over random shapes.
#include "engine/model/attention_maps.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "gtest/gtest.h"
#include "models/assembly/mixer_text.h"
#include "tests/engine/random_config.h"
#include "tests/engine/reference/transformer.h"
#include "tests/engine/small_model.h"
#include "tests/engine/testing.h"

namespace nibu::internal {
namespace {

std::vector<int> RandomIds(Random* random, int count, int vocabulary) {
  std::vector<int> ids(static_cast<size_t>(count));
  for (int& id : ids) id = random->Int(0, vocabulary - 1);
  return ids;
}

void ExpectEqual(const reference::Maps& expected, const AttentionMaps::Layers& layers) {
  ASSERT_EQ(layers.size(), expected.size());
  for (size_t l = 0; l < layers.size(); ++l) {
    const std::vector<float>& weights = layers[l].weights;
    const float* value = weights.data();
    for (const reference::Matrix& head : expected[l]) {
      for (const auto& row : head) {
        for (const double weight : row) {
          ASSERT_NEAR(static_cast<double>(*value), weight, weight == 0 ? 0 : 1e-3);
          ++value;
        }
      }
    }
    ASSERT_EQ(value, weights.data() + weights.size());
  }
}

// The weights are the softmax of the scores; those of local-p sum to less than 1.
void ExpectSoftmaxOfScores(const AttentionMaps::Layers& layers) {
  for (const AttentionMap& map : layers) {
    if (map.mixer.Is<PredictedWindow>()) continue;
    const auto keys = static_cast<size_t>(map.keys);
    ASSERT_EQ(map.scores.size(), map.weights.size());
    for (size_t row = 0; row < map.scores.size(); row += keys) {
      double sum = 0;
      const float most = *std::max_element(&map.scores[row], &map.scores[row] + keys);
      for (size_t k = row; k < row + keys; ++k) {
        sum += std::exp(static_cast<double>(map.scores[k] - most));
      }
      for (size_t k = row; k < row + keys; ++k) {
        const double softmax = std::exp(static_cast<double>(map.scores[k] - most)) / sum;
        ASSERT_NEAR(static_cast<double>(map.weights[k]), softmax, 1e-3);
      }
    }
  }
}

TEST(AttentionMapsTest, EqualTheReference) {
  ForEachHighwayTarget([] {
    Random random(1);
    for (uint32_t round = 0; round < static_cast<uint32_t>(Rounds(40)); ++round) {
      ModelConfig config = RandomConfig(&random);
      if (round % 2 == 1) {
        config.cross_attention = reference::RandomCrossAttention(&random, config.layers_decoder);
      }
      SCOPED_TRACE(MixersToText(config.cross_attention));
      const reference::Transformer reference(config, round);
      const auto source = RandomIds(&random, random.Int(1, 40), config.vocab_source);
      auto target = RandomIds(&random, random.Int(1, 20), config.vocab_target);
      target[0] = config.decoder_start;
      const auto maps = FindAttention(*reference.Build(ComputeType::kFloat32), source, target);
      ASSERT_TRUE(maps.ok()) << maps.status();
      reference::Maps encoder;
      const reference::Matrix encoded = reference.Encode(source, &encoder);
      const auto output = reference.Decode(encoded, target);
      ExpectEqual(encoder, maps->encoder);
      ExpectEqual(output.cross, maps->cross);
      for (const auto& layers : {maps->encoder, maps->decoder, maps->cross}) {
        ExpectSoftmaxOfScores(layers);
      }
      if (config.decoder_memory == DecoderMemory::kSsru) {
        EXPECT_TRUE(maps->decoder.empty());
      } else {
        ExpectEqual(output.self, maps->decoder);
      }
    }
  });
}

void ExpectRowsSumToOne(const AttentionMaps::Layers& layers, size_t columns) {
  for (const AttentionMap& map : layers) {
    const std::vector<float>& layer = map.weights;
    ASSERT_FALSE(layer.empty());
    for (size_t at = 0; at < layer.size(); at += columns) {
      double sum = 0;
      for (size_t i = at; i < at + columns; ++i) {
        ASSERT_GE(layer[i], 0.0f);
        sum += static_cast<double>(layer[i]);
      }
      ASSERT_NEAR(sum, 1, 1e-5);
    }
  }
}

// The compute types store keys and values differently; the sources are long enough for the products
// in bfloat16.
TEST(AttentionMapsTest, RowsSumToOneWithZerosAboveTheDiagonal) {
  ModelConfig config = SmallConfig();
  config.max_positions = 300;
  for (const ComputeType type :
       {ComputeType::kFloat32, ComputeType::kBFloat16, ComputeType::kInt8}) {
    if (!IsSupported(type)) continue;
    Random random(2);
    const auto model = reference::Transformer(config, 2).Build(type);
    for (const int length : {1, 17, 150}) {
      const auto source = RandomIds(&random, length, config.vocab_source);
      const auto target = RandomIds(&random, length / 2 + 1, config.vocab_target);
      const auto maps = FindAttention(*model, source, target);
      ASSERT_TRUE(maps.ok()) << maps.status();
      ExpectRowsSumToOne(maps->encoder, source.size());
      ExpectRowsSumToOne(maps->decoder, target.size());
      ExpectRowsSumToOne(maps->cross, source.size());
      for (const AttentionMap& map : maps->decoder) {
        for (size_t i = 0; i < map.weights.size(); ++i) {
          const size_t query = i / target.size() % target.size();
          const bool is_hidden = i % target.size() > query;
          ASSERT_TRUE(!is_hidden || map.weights[i] == 0.0f);
          ASSERT_EQ(std::isinf(map.scores[i]), is_hidden);
        }
      }
    }
  }
}

// Returns the rows of the first `rows` of `of` queries, in each head of each layer.
std::vector<float> FirstRows(const AttentionMaps::Layers& layers, size_t rows, size_t of,
                             size_t columns) {
  std::vector<float> all;
  for (const AttentionMap& map : layers) {
    const std::vector<float>& layer = map.weights;
    for (auto head = layer.begin(); head != layer.end(); head += static_cast<long>(of * columns)) {
      all.insert(all.end(), head, head + static_cast<long>(rows * columns));
    }
  }
  return all;
}

TEST(AttentionMapsTest, ALaterTokenMovesNothing) {
  const ModelConfig config = SmallConfig();
  for (const ComputeType type : {ComputeType::kFloat32, ComputeType::kInt8}) {
    const auto model = reference::Transformer(config, 3).Build(type);
    const std::vector<int> source = {5, 6, 7, 0};
    std::vector<int> target = {-1, 3, 4, 5, 6, 7};
    const auto before = *FindAttention(*model, source, target);
    target[4] = 40;
    const auto after = *FindAttention(*model, source, target);
    EXPECT_EQ(FirstRows(before.encoder, 4, 4, 4), FirstRows(after.encoder, 4, 4, 4));
    EXPECT_EQ(FirstRows(before.decoder, 4, 6, 6), FirstRows(after.decoder, 4, 6, 6));
    EXPECT_EQ(FirstRows(before.cross, 4, 6, 4), FirstRows(after.cross, 4, 6, 4));
    EXPECT_NE(before.decoder[0].weights, after.decoder[0].weights);
    EXPECT_NE(before.cross[0].weights, after.cross[0].weights);
  }
}

TEST(AttentionMapsTest, TheirMeanIsTheTranslators) {
  ModelConfig config = SmallConfig();
  config.alignment_layer = 0;
  for (const ComputeType type : {ComputeType::kFloat32, ComputeType::kInt8}) {
    const auto model = reference::Transformer(config, 4).Build(type);
    DecodingOptions options;
    options.max_decoding_length = 12;
    options.return_attention = true;
    std::vector<int> source = {9, 8, 7, 6, 5, 4};
    const Hypothesis best = Translate(model, options, {}, {source})[0][0];
    ASSERT_FALSE(best.tokens.empty());
    std::vector<int> target = {config.decoder_start};
    target.insert(target.end(), best.tokens.begin(), best.tokens.end());
    source.push_back(0);
    const auto maps = *FindAttention(*model, source, target);
    const size_t heads = 4;
    const size_t map = target.size() * source.size();
    ASSERT_LE(best.attention.size(), map);
    for (size_t i = 0; i < best.attention.size(); ++i) {
      float sum = 0;
      for (size_t h = 0; h < heads; ++h) sum += maps.cross[0].weights[h * map + i];
      ASSERT_EQ(best.attention[i], sum / static_cast<float>(heads));
    }
  }
}

TEST(AttentionMapsTest, RefusesWhatTheModelHasNot) {
  const auto model = reference::Transformer(SmallConfig(), 5).Build(ComputeType::kFloat32);
  const std::vector<int> long_ids(65, 1);
  const std::vector<int> good = {1};
  EXPECT_TRUE(FindAttention(*model, good, good).ok());
  for (const std::vector<int>& bad : std::vector<std::vector<int>>{{}, {50}, {-2}, long_ids}) {
    EXPECT_TRUE(absl::IsInvalidArgument(FindAttention(*model, bad, good).status()));
    EXPECT_TRUE(absl::IsInvalidArgument(FindAttention(*model, good, bad).status()));
  }
}

}  // namespace
}  // namespace nibu::internal
