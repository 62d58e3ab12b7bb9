// Tests of cross-attention by other mechanisms than full attention: parameters with which they are
// full attention, and that batches and beams change no bit. transformer_test.cc and
// attention_maps_test.cc compare the mechanisms with their definitions.
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "engine/model/decoder.h"
#include "engine/model/encoder.h"
#include "gtest/gtest.h"
#include "models/assembly/mixer_text.h"
#include "tests/engine/attention/spec.h"
#include "tests/engine/random_config.h"
#include "tests/engine/reference/transformer.h"
#include "tests/engine/testing.h"

namespace nibu::internal {
namespace {

constexpr int kBeam = 3;
constexpr int kSteps = 15;

// Returns the decoder's rows for each source, one after another, in `kSteps` steps of a beam whose
// tokens depend on the source alone.
std::vector<std::vector<float>> Decode(const Model& model,
                                       const std::vector<std::vector<int>>& sources) {
  const ModelConfig& config = model.config;
  const Embedder source_embedder(config, model.weights.source, config.max_positions);
  const Embedder target_embedder(config, model.weights.target, config.max_positions);
  Workspace workspace;
  PagePool pool(config, CacheTypeOf(model), workspace.memory);
  Decoder decoder(model, target_embedder, &workspace);
  std::vector<DecoderState> states(sources.size());
  std::vector<DecoderState*> pointers;
  for (size_t n = 0; n < sources.size(); ++n) {
    states[n].Start(config, &pool, static_cast<int>(sources[n].size()), kBeam);
    pointers.push_back(&states[n]);
  }
  const std::vector<absl::Span<const int>> spans(sources.begin(), sources.end());
  decoder.Begin(Encode(model, source_embedder, spans, &workspace), pointers);
  std::vector<std::vector<float>> rows(sources.size());
  for (int step = 0; step < kSteps; ++step) {
    workspace.arena.Rewind(0);
    std::vector<std::vector<int>> tokens;
    std::vector<Decoder::Input> inputs;
    for (const auto& source : sources) {
      tokens.emplace_back();
      for (int h = 0; h < (step == 0 ? 1 : kBeam); ++h) {
        const int next = source[static_cast<size_t>(step * kBeam + h) % source.size()];
        tokens.back().push_back(step == 0 ? config.decoder_start : next % config.vocab_target);
      }
    }
    for (size_t n = 0; n < sources.size(); ++n) inputs.push_back({&states[n], tokens[n]});
    const float* row = decoder.Step(inputs).data();
    for (size_t n = 0; n < sources.size(); ++n) {
      const size_t size = tokens[n].size() * static_cast<size_t>(config.d_model);
      rows[n].insert(rows[n].end(), row, row + size);
      row += size;
      states[n].Reorder(std::vector<int>(kBeam, step % static_cast<int>(tokens[n].size())));
    }
  }
  for (DecoderState& state : states) state.Release();
  return rows;
}

template <typename F>
void ForEachType(F f) {
  for (const ComputeType type :
       {ComputeType::kFloat32, ComputeType::kBFloat16, ComputeType::kInt8}) {
    if (IsSupported(type)) f(type);
  }
}

bool AreEqual(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

TEST(CrossAttentionTest, DoesNotDependOnTheBatch) {
  Random random(1);
  for (uint32_t round = 0; round < static_cast<uint32_t>(Rounds(12)); ++round) {
    ModelConfig config = RandomConfig(&random);
    config.cross_attention = reference::RandomCrossAttention(&random, config.layers_decoder);
    SCOPED_TRACE(MixersToText(config.cross_attention));
    const auto sources = RandomSources(&random, config, 4, config.max_positions);
    ForEachType([&](ComputeType type) {
      const auto model = reference::Transformer(config, round).Build(type);
      const auto together = Decode(*model, sources);
      for (size_t n = 0; n < sources.size(); ++n) {
        EXPECT_TRUE(AreEqual(Decode(*model, {sources[n]})[0], together[n]));
      }
    });
  }
}

// A window that holds the whole source, and means of one position, give full attention bit for bit.
TEST(CrossAttentionTest, WideWindowsAndMeansOfOneAreFullAttention) {
  Random random(2);
  for (uint32_t round = 0; round < static_cast<uint32_t>(Rounds(8)); ++round) {
    ModelConfig config = RandomConfig(&random);
    const auto sources = RandomSources(&random, config, 3, config.max_positions);
    ForEachType([&](ComputeType type) {
      config.cross_attention = {};
      const auto full = Decode(*reference::Transformer(config, round).Build(type), sources);
      for (const char* text : {"local_m:40", "local_m:40,ratio=30", "mean:1"}) {
        config.cross_attention = {Spec(text)};
        const auto own = Decode(*reference::Transformer(config, round).Build(type), sources);
        for (size_t n = 0; n < sources.size(); ++n) EXPECT_TRUE(AreEqual(own[n], full[n])) << text;
      }
    });
  }
}

// Expects that both models give the same rows, except for rounding.
void ExpectFull(const ModelConfig& config, const Model& full, const Model& own,
                const std::vector<std::vector<int>>& sources) {
  const auto expected = Decode(full, sources);
  const auto actual = Decode(own, sources);
  for (size_t n = 0; n < sources.size(); ++n) {
    for (size_t i = 0; i < expected[n].size(); ++i) {
      ASSERT_NEAR(actual[n][i], expected[n][i], 1e-4)
          << MixersToText(config.cross_attention) << " row " << i / expected[n].size();
    }
  }
}

TEST(CrossAttentionTest, LimitsAreFullAttention) {
  Random random(3);
  for (uint32_t round = 0; round < static_cast<uint32_t>(Rounds(8)); ++round) {
    ModelConfig config = RandomConfig(&random);
    const auto sources = RandomSources(&random, config, 3, config.max_positions);
    const auto full = reference::Transformer(config, round).Build(ComputeType::kFloat32);
    const int heads = config.heads_decoder;
    const int dim = config.head_dim(heads);
    const float scale = config.attention_scale > 0 ? config.attention_scale
                                                   : 1 / std::sqrt(static_cast<float>(dim));
    for (const char* text : {"local_p:60000", "full:dense=1", "full:tile=32", "full:score=general",
                             "local_m:width=100,score=general"}) {
      config.cross_attention = {Spec(text)};
      Model own = *reference::Transformer(config, round).Build(ComputeType::kFloat32);
      for (DecoderLayerWeights& layer : own.weights.decoder) {
        // The general score, with a multiple of the identity as its matrix, is the scaled product.
        std::vector<float>& map = layer.mixer.score;
        map.assign(static_cast<size_t>(heads * dim * dim), 0.0f);
        for (int row = 0; row < heads * dim; ++row) {
          map[static_cast<size_t>(row * dim + row % dim)] = scale;
        }
      }
      ExpectFull(config, *full, own, sources);
    }
  }
}

}  // namespace
}  // namespace nibu::internal
