// The arguments of attention, softmax(scale q k^T + bias) v (Vaswani et al. 2017): its shape, its
// mechanism, and the layouts of queries, keys, values and results.
//
// Letters: H heads, d = size of a head, I = H d, S keys, R queries.
#ifndef NIBU_ENGINE_ATTENTION_ATTENTION_SPEC_H_
#define NIBU_ENGINE_ATTENTION_ATTENTION_SPEC_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <variant>

#include "absl/types/span.h"
#include "engine/attention/mixer_spec.h"
#include "engine/ops/cpu.h"

namespace nibu::internal {

struct AttentionShape {
  int heads;
  int head_dim;
  float scale = 0;  // 0: 1 / sqrt(head_dim)

  float Scale() const {
    return scale != 0 ? scale : 1.0f / std::sqrt(static_cast<float>(head_dim));
  }
};

// Numbers that are added to scores: head h's for query i and key j is values[h * stride + i *
// query_stride + j], both counted in positions.
struct ScoreBias {
  const float* values = nullptr;  // null: no bias
  size_t stride = 0;
  ptrdiff_t query_stride = -1;  // as a rule by the distance j - i (Raffel et al. 2020)

  // Returns head h's numbers for a query and the keys from `key` on, or null if there is no bias.
  const float* Of(size_t h, size_t query, size_t key) const {
    if (values == nullptr) return nullptr;
    return values + static_cast<ptrdiff_t>(h * stride + key) +
           static_cast<ptrdiff_t>(query) * query_stride;
  }
};

// Vectors that self-attention adds by the distance of key and query (Shaw et al. 2018): row
// min(max(j - i, -M), M) + M of `keys` to the key, and of `values` to the value of position j for
// the query of position i. All heads share them. Both are [2 M + 1, d].
struct RelativeVectors {
  const float* keys = nullptr;  // null: there are none
  const float* values = nullptr;
  int max_distance = 0;  // M

  int count() const { return 2 * max_distance + 1; }
  int RowOf(int query, int key) const {
    return std::clamp(key - query, -max_distance, max_distance) + max_distance;
  }
};

// The weights that scores and mechanisms have of their own, as far as Attention::Run computes with
// them. Those of the heads lie below each other.
struct MechanismWeights {
  const float* map = nullptr;        // W: of kGeneral [H d, d], of kConcat [H d, 2 d]
  const float* vector = nullptr;     // v of kConcat: [H, d]
  const float* relative = nullptr;   // biases within windows (pattern.h): [H, 2 W - 1]
  const float* taps = nullptr;       // of FactorizedAttention's convolution: [H d, kernel]
  const float* taps_bias = nullptr;  // [H d]
};

// Everything that stays the same from call to call.
struct AttentionSpec {
  AttentionShape shape;
  ScoreBias bias = {};
  // With KeyValueRows, every mechanism; they are those of the queries' own positions. With
  // KeysValues, those of MixerSpec::fits_cross_attention.
  MixerSpec mixer = {};
  MechanismWeights weights = {};
  // For full attention without a bias, to KeyValueRows or a CellHistory.
  RelativeVectors relative = {};
};

// q [R, I], rows `stride` floats apart: the queries of positions first, first + step, ... (which a
// bias asks for).
struct Queries {
  const float* rows;
  size_t stride;
  int count;
  int first = 0;
  int step = 1;                    // 0: hypotheses of a beam, which are all at one position
  const float* centres = nullptr;  // of PredictedWindow: the place that each looks at

  int position(int r) const { return first + r * step; }
  float centre(int r) const { return centres == nullptr ? 0 : centres[r]; }
};

// Keys and values as maps make them: [S, I] each, rows `stride` floats apart.
struct KeyValueRows {
  const float* keys;
  const float* values;
  size_t stride;
  int positions;
};

// Element type of stored keys and values. Sums are float in any case.
using CacheType = ComputeType;

// Stored keys and values of a whole sequence: ViewSource (cache.h) makes them.
struct KeysValues {
  CacheType type = CacheType::kFloat32;
  const void* keys = nullptr;    // packed
  const void* values = nullptr;  // [S, I]
  size_t value_stride = 0;       // elements from one row of values to the next
  int positions = 0;             // S
  size_t head_stride = 0;        // positions from one head's keys to the next one's
  // int8: [H][scale_stride], scale_stride >= S a multiple of kKeyBlock; else null.
  const float* key_scales = nullptr;
  const float* value_scales = nullptr;
  size_t scale_stride = 0;
};

// The history of one hypothesis: position t's cell (cache.h) starts `offset` bytes behind cells[t].
// Hypotheses share their history through these pointers. For a single query.
struct CellHistory {
  CacheType type;
  absl::Span<void* const> cells;
  size_t offset;
};

using AttentionMemory = std::variant<KeyValueRows, KeysValues, CellHistory>;

// Where the results go; overlaps nothing.
struct AttentionOutput {
  float* rows;    // [R, I]
  size_t stride;  // floats from one row to the next
  // [H, R, keys], what values are summed with; null: not wanted. FactorizedAttention has none.
  float* weights = nullptr;
  // 0, or the number of positions: weights are then [H, R, positions], and positions share equally
  // the weight of the key that was made from them (MixerSpec::reduction).
  int positions = 0;

  // The row of a head and a query; null: not wanted.
  float* WeightsOf(size_t h, size_t query, const Queries& queries, size_t columns) const {
    const size_t row = h * static_cast<size_t>(queries.count) + query;
    return weights == nullptr ? nullptr : weights + row * columns;
  }
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_ATTENTION_ATTENTION_SPEC_H_
