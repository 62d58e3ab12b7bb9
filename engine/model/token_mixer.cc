// Runs the mechanisms that need a layer's input or weights of their own.
#include "engine/model/token_mixer.h"

#include <vector>

#include "absl/base/macros.h"
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

// Returns rows [keys, D] sampled where the queries say.
RowSpan<const float> SampledRows(const MixerCall& call, const DeformableAttention& spec,
                                 RowSpan<const float> qkv, int keys, Workspace* workspace) {
  const int dim = call.config.d_model;
  const int inner = call.config.inner_encoder();
  const MixerWeights& own = call.layer.mixer;
  const bool is_rms = call.config.norm_kind == NormKind::kRms;
  const OffsetWeights weights = {
      own.offset_taps.data(),       own.offset_bias.data(),
      own.offset_norm.gamma.data(), is_rms ? nullptr : own.offset_norm.beta.data(),
      call.config.norm_epsilon,     own.offset.data()};
  const RowSpan<float> sampled = workspace->Rows(keys, dim);
  float* const places = workspace->arena.Floats(static_cast<size_t>(keys));
  const auto stride = static_cast<size_t>(qkv.columns());
  int row = 0;
  int key = 0;
  for (const auto& source : call.sources) {
    const int n = static_cast<int>(source.size());
    const int count = call.spec.mapped_keys(n);
    FindPlaces(spec, weights, {qkv.row(row), stride, n}, inner, &workspace->arena, places);
    SampleRows(call.in.row(row), n, dim, places, count, sampled.row(key));
    row += n;
    key += count;
  }
  if (call.map != nullptr) call.map->places.assign(places, places + keys);
  return sampled;
}

}  // namespace

void MixTokens(const MixerCall& call, Workspace* workspace, RowSpan<float> out) {
  ABSL_ASSERT(!call.spec.is_attention());
  const int dim = call.config.d_model;
  const MixerWeights& own = call.layer.mixer;
  const auto* const pool = call.spec.As<MeanPooling>();
  int row = 0;
  for (const auto& source : call.sources) {
    const int n = static_cast<int>(source.size());
    const float* const in = call.in.row(row);
    if (pool != nullptr) {
      MeanPool(in, n, dim, pool->width, out.row(row));
    } else {
      MixByMlp(own.up, own.down, in, n, dim, &workspace->matmul, &workspace->arena, out.row(row));
    }
    row += n;
  }
}

RowSpan<const float> KeyRows(const MixerCall& call, RowSpan<const float> qkv,
                             Workspace* workspace) {
  const auto* const reduced = call.spec.As<ReducedAttention>();
  const auto* const sampled = call.spec.As<DeformableAttention>();
  if (reduced == nullptr && sampled == nullptr) return qkv;
  const int keys = KeysOf(call);
  const RowSpan<const float> rows =
      reduced != nullptr ? ReduceRows(call.config, call.layer.mixer, reduced->reduction, call.in,
                                      LengthsOf(call), workspace)
                         : SampledRows(call, *sampled, qkv, keys, workspace);
  // Their queries are of no use: the maps are one matrix.
  const RowSpan<float> mapped = workspace->Rows(keys, 3 * call.config.inner_encoder());
  workspace->matmul.Apply(call.layer.self.qkv, rows, mapped);
  return mapped;
}

RowSpan<const float> ReduceRows(const ModelConfig& config, const MixerWeights& own, int reduction,
                                RowSpan<const float> x, absl::Span<const int> lengths,
                                Workspace* workspace) {
  const int dim = config.d_model;
  int keys = 0;
  for (const int rows : lengths) keys += CeilOf(rows, reduction);
  const RowSpan<float> joined = workspace->Rows(keys, reduction * dim);
  int row = 0;
  int key = 0;
  for (const int rows : lengths) {
    JoinNeighbours(x.row(row), rows, dim, reduction, joined.row(key));
    row += rows;
    key += CeilOf(rows, reduction);
  }
  ABSL_ASSERT(row == x.rows());
  const RowSpan<float> reduced = workspace->Rows(keys, dim);
  workspace->matmul.Apply(own.reduce, joined, reduced);
  Normalize(config, own.reduce_norm, reduced, nullptr, reduced.data());
  return reduced;
}

const float* PredictCentres(const ModelConfig& config, const MixerWeights& own,
                            RowSpan<const float> x, absl::Span<const QueryGroup> groups,
                            Workspace* workspace) {
  float* const centres = workspace->arena.Floats(static_cast<size_t>(x.rows()));
  const RowSpan<float> mapped = workspace->Rows(x.rows(), config.d_model);
  workspace->matmul.Apply(own.centre, x, mapped);
  int row = 0;
  for (const QueryGroup& each : groups) {
    FindCentres(mapped.row(row), own.centre_vector.data(), each.rows,
                static_cast<size_t>(config.d_model), each.keys, centres + row);
    row += each.rows;
  }
  ABSL_ASSERT(row == x.rows());
  return centres;
}

}  // namespace nibu::internal
