// Runs the mechanisms that need a layer's input or weights of their own.
#include "engine/model/token_mixer.h"

#include <vector>

#include "engine/attention/mixers/deformable.h"
#include "engine/attention/mixers/local.h"
#include "engine/attention/mixers/pool.h"
#include "engine/attention/mixers/reduction.h"
#include "engine/attention/mixers/token_mlp.h"

namespace nibu::internal {
namespace {

int KeysOf(const MixerCall& call) {
  int keys = 0;
  for (const auto& source : call.sources)
    keys += call.spec.mapped_keys(static_cast<int>(source.size()));
  return keys;
}

std::vector<int> LengthsOf(const MixerCall& call) {
  std::vector<int> lengths;
  for (const auto& source : call.sources) lengths.push_back(static_cast<int>(source.size()));
  return lengths;
}

// [keys, D]: sampled where the queries say.
const float* SampledRows(const MixerCall& call, const DeformableAttention& spec, const float* qkv,
                         int keys, Workspace* workspace) {
  const int dim = call.config.d_model;
  const int inner = call.config.inner_encoder();
  const MixerWeights& own = call.layer.mixer;
  const bool is_rms = call.config.norm_kind == NormKind::kRms;
  const OffsetWeights weights = {
      own.offset_taps.data(),       own.offset_bias.data(),
      own.offset_norm.gamma.data(), is_rms ? nullptr : own.offset_norm.beta.data(),
      call.config.norm_epsilon,     own.offset.data()};
  float* const sampled = workspace->Rows(keys, dim);
  float* const places = workspace->arena.Floats(static_cast<size_t>(keys));
  const auto stride = 3 * static_cast<size_t>(inner);
  const float* in = call.in;
  float* to = sampled;
  for (const auto& source : call.sources) {
    const int n = static_cast<int>(source.size());
    const int count = call.spec.mapped_keys(n);
    FindPlaces(spec, weights, {qkv, stride, n}, inner, &workspace->arena, places);
    SampleRows(in, n, dim, places, count, to);
    qkv += static_cast<size_t>(n) * stride;
    in += static_cast<ptrdiff_t>(n) * dim;
    to += static_cast<ptrdiff_t>(count) * dim;
  }
  return sampled;
}

}  // namespace

void MixTokens(const MixerCall& call, Workspace* workspace, float* out) {
  const int dim = call.config.d_model;
  const MixerWeights& own = call.layer.mixer;
  const auto* const pool = call.spec.As<MeanPooling>();
  const float* in = call.in;
  for (const auto& source : call.sources) {
    const int n = static_cast<int>(source.size());
    if (pool != nullptr) {
      MeanPool(in, n, dim, pool->width, out);
    } else {
      MixByMlp(own.up, own.down, in, n, dim, &workspace->matmul, &workspace->arena, out);
    }
    in += static_cast<ptrdiff_t>(n) * dim;
    out += static_cast<ptrdiff_t>(n) * dim;
  }
}

const float* KeyRows(const MixerCall& call, const float* qkv, Workspace* workspace) {
  const auto* const reduced = call.spec.As<ReducedAttention>();
  const auto* const sampled = call.spec.As<DeformableAttention>();
  if (reduced == nullptr && sampled == nullptr) return qkv;
  const int keys = KeysOf(call);
  const float* const rows = reduced != nullptr
                                ? ReduceRows(call.config, call.layer.mixer, reduced->reduction,
                                             call.in, LengthsOf(call), workspace)
                                : SampledRows(call, *sampled, qkv, keys, workspace);
  // Their queries are of no use: the maps are one matrix.
  float* const mapped = workspace->Rows(keys, 3 * call.config.inner_encoder());
  workspace->matmul.Apply(call.layer.self.qkv, rows, keys, mapped);
  return mapped;
}

const float* ReduceRows(const ModelConfig& config, const MixerWeights& own, int reduction,
                        const float* x, absl::Span<const int> lengths, Workspace* workspace) {
  const int dim = config.d_model;
  int keys = 0;
  for (const int rows : lengths) keys += CeilOf(rows, reduction);
  float* const joined = workspace->Rows(keys, reduction * dim);
  float* to = joined;
  for (const int rows : lengths) {
    JoinNeighbours(x, rows, dim, reduction, to);
    x += static_cast<ptrdiff_t>(rows) * dim;
    to += static_cast<ptrdiff_t>(CeilOf(rows, reduction)) * reduction * dim;
  }
  float* const reduced = workspace->Rows(keys, dim);
  workspace->matmul.Apply(own.reduce, joined, keys, reduced);
  Normalize(config, own.reduce_norm, reduced, nullptr, keys, reduced);
  return reduced;
}

const float* PredictCentres(const ModelConfig& config, const MixerWeights& own, const float* x,
                            absl::Span<const QueryGroup> groups, Workspace* workspace) {
  const int dim = config.d_model;
  int rows = 0;
  for (const QueryGroup& each : groups) rows += each.rows;
  float* const centres = workspace->arena.Floats(static_cast<size_t>(rows));
  float* const mapped = workspace->Rows(rows, dim);
  workspace->matmul.Apply(own.centre, x, rows, mapped);
  const float* from = mapped;
  float* to = centres;
  for (const QueryGroup& each : groups) {
    FindCentres(from, own.centre_vector.data(), each.rows, static_cast<size_t>(dim), each.keys, to);
    from += static_cast<ptrdiff_t>(each.rows) * dim;
    to += each.rows;
  }
  return centres;
}

}  // namespace nibu::internal
