// Random shapes and sources for the tests that compare with the reference Transformer.
#include "tests/engine/random_config.h"

#include <cmath>

namespace nibu::internal {

ModelConfig RandomConfig(Random* random) {
  ModelConfig config;
  config.heads_encoder = random->Int(1, 4);
  config.heads_decoder = config.heads_encoder;
  config.d_model = config.heads_encoder * 2 * random->Int(1, 20);
  config.ffn_encoder = random->Int(1, 70);
  config.ffn_decoder = random->Int(1, 70);
  config.layers_encoder = random->Int(1, 3);
  config.layers_decoder = random->Int(1, 3);
  config.vocab_source = random->Int(5, 40);
  config.vocab_target = random->Int(5, 40);
  if (random->Chance()) config.d_head = random->Int(1, 20);
  config.attention_scale = random->Chance() ? 0.0f : 0.3f;
  config.gated_ffn = random->Chance();
  config.norm_kind = random->Chance() ? NormKind::kLayer : NormKind::kRms;
  config.activation = static_cast<Activation>(random->Int(1, 5));
  config.norm_order = random->Chance() ? NormOrder::kPre : NormOrder::kPost;
  config.norm_epsilon = random->Chance() ? 1e-5f : 1e-6f;
  config.embedding_scale = random->Chance() ? 1.0f : std::sqrt(static_cast<float>(config.d_model));
  config.embedding_norm = random->Chance();
  config.final_norm = random->Chance();
  config.position_kind = static_cast<PositionKind>(random->Int(0, 5));
  config.position_buckets = 2 * random->Int(2, 8);
  config.position_max_distance = random->Int(config.position_buckets / 2 + 1, 25);
  config.position_offset = random->Chance() ? 0 : 2;
  config.max_positions = 40;
  config.eos = 0;
  config.unk = 1;
  config.decoder_start = random->Int(-1, 2);
  config.source_suffix = {0};
  if (random->Chance()) config.suppressed = {1};
  if (random->Int(0, 3) == 0) config.decoder_memory = DecoderMemory::kSsru;
  return config;
}

std::vector<std::vector<int>> RandomSources(Random* random, const ModelConfig& config, int count,
                                            int longest) {
  std::vector<std::vector<int>> sources;
  for (int i = 0; i < count; ++i) {
    sources.emplace_back(static_cast<size_t>(random->Int(1, longest)));
    for (int& token : sources.back()) token = random->Int(0, config.vocab_source - 1);
  }
  return sources;
}

}  // namespace nibu::internal
