// Runs a model over one sentence and keeps what its attentions compute.
#include "engine/model/attention_maps.h"

#include <algorithm>
#include <cmath>

#include "absl/base/macros.h"
#include "engine/attention/attention.h"
#include "engine/core/check_range.h"
#include "engine/core/exception_status.h"
#include "engine/core/status_macros.h"
#include "engine/model/decoder.h"
#include "engine/model/encoder.h"
#include "engine/model/kv_cache.h"
#include "engine/model/layers.h"

namespace nibu::internal {
namespace {

absl::Status Check(absl::string_view what, absl::Span<const int> ids, int lowest, int vocabulary,
                   int positions) {
  NIBU_RETURN_IF_ERROR(CheckRange<size_t>(absl::StrCat("the number of tokens of the ", what),
                                          ids.size(), 1, static_cast<size_t>(positions)));
  return CheckIds(what, ids, lowest, vocabulary - 1, "the token ");
}

// Returns rows [count, columns], which are `stride` floats apart, side by side.
std::vector<float> Rows(const float* rows, size_t stride, int count, size_t columns) {
  std::vector<float> copy(static_cast<size_t>(count) * columns);
  for (size_t r = 0; r < static_cast<size_t>(count); ++r) {
    std::copy_n(rows + r * stride, columns, &copy[r * columns]);
  }
  return copy;
}

}  // namespace

void AttentionMap::KeepKeys(const AttentionSpec& spec, const KeyValueRows& memory) {
  heads = spec.shape.heads;
  keys = memory.positions;
  const size_t inner = static_cast<size_t>(heads) * static_cast<size_t>(spec.shape.head_dim);
  std::vector<float> rows(static_cast<size_t>(keys) * 2 * inner);
  for (size_t j = 0; j < static_cast<size_t>(keys); ++j) {
    std::copy_n(memory.keys + j * memory.stride, inner, &rows[j * 2 * inner]);
    std::copy_n(memory.values + j * memory.stride, inner, &rows[j * 2 * inner + inner]);
  }
  if (spec.mixer.Is<MeanAttention>()) keys = PrepareSource(spec, keys, rows.data());
  k = Rows(rows.data(), 2 * inner, keys, inner);
  v = Rows(rows.data() + inner, 2 * inner, keys, inner);
}

float* AttentionMap::KeepQueries(const AttentionSpec& spec, const Queries& all) {
  ABSL_ASSERT(keys > 0);
  const size_t inner = static_cast<size_t>(heads) * static_cast<size_t>(spec.shape.head_dim);
  queries = all.count;
  q = Rows(all.rows, all.stride, queries, inner);
  if (all.centres != nullptr) centres.assign(all.centres, all.centres + queries);
  if (mixer.Is<FactorizedAttention>()) return nullptr;
  scores.resize(static_cast<size_t>(heads) * static_cast<size_t>(queries) *
                static_cast<size_t>(keys));
  weights.resize(scores.size());
  FindScores(spec, all, {k.data(), v.data(), inner, keys}, scores.data());
  return weights.data();
}

absl::StatusOr<AttentionMaps> FindAttention(const Model& model, absl::Span<const int> source,
                                            absl::Span<const int> target) try {
  const ModelConfig& config = model.config;
  NIBU_RETURN_IF_ERROR(Check("source", source, 0, config.vocab_source, config.max_positions));
  NIBU_RETURN_IF_ERROR(Check("target", target, -1, config.vocab_target, config.max_positions));
  const auto positions = [](absl::Span<const int> ids) { return static_cast<int>(ids.size()); };
  const Embedder source_embedder(config, model.weights.source, positions(source));
  const Embedder target_embedder(config, model.weights.target, positions(target));
  Workspace workspace;
  PagePool pool(config, CacheTypeOf(model), workspace.memory);
  Decoder decoder(model, target_embedder, &workspace);
  DecoderState state;
  state.Start(config, &pool, positions(source), /*beam_size=*/1);

  AttentionMaps maps;
  for (int l = 0; l < config.layers_decoder; ++l) {
    maps.cross.emplace_back().layer = l;
    maps.cross.back().mixer = config.cross_mixer(l);
    if (config.decoder_memory == DecoderMemory::kSsru) continue;
    maps.decoder.emplace_back().layer = l;
    maps.decoder.back().mixer.mechanism = CausalAttention();
  }
  decoder.Begin(Encode(model, source_embedder, {source}, &workspace, &maps.encoder), {&state},
                &maps);
  workspace.arena.Rewind(0);
  Decoder::Input input{&state, target, /*consecutive=*/true};
  input.maps = &maps;
  decoder.Step({&input, 1});
  state.Release();
  // Which keys LSH hides depends on its hashes: they are those that get no weight.
  for (AttentionMap& map : maps.encoder) {
    if (!map.mixer.Is<LshAttention>()) continue;
    for (size_t i = 0; i < map.scores.size(); ++i) {
      if (map.weights[i] == 0) map.scores[i] = -HUGE_VALF;
    }
  }
  return maps;
} catch (...) {
  return StatusOfException();
}

}  // namespace nibu::internal
