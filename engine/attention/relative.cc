// Full attention with relative position vectors (Shaw et al. 2018). For a query i and a key j, with
// a = vectors.keys and b = vectors.values in row r(i, j):
//   score = scale q_i (k_j + a_r),  o_i = sum_j p_ij (v_j + b_r)
// There are few different rows. Of a query, scale q_i a_r is therefore computed once for each row,
// and is the bias of an ordinary attention; then the weights p_ij of each row are added up before
// they multiply b_r. Queries are worked on in blocks, so that no N x N matrix is stored.
#include <algorithm>
#include <variant>

#include "absl/base/macros.h"
#include "engine/attention/kernels.h"

namespace nibu::internal {
namespace {

constexpr int kBlock = 64;

// Sets bias [keys] to scale q a_r of a head's query. `products` [count()] is scratch.
void SetBias(const RelativeVectors& vectors, const float* q, int dim, float scale, int query,
             int keys, float* products, float* bias) {
  const float* a = vectors.keys;
  for (int r = 0; r < vectors.count(); ++r, a += dim) {
    float sum = 0;
    for (int i = 0; i < dim; ++i) sum += q[i] * a[i];
    products[r] = scale * sum;
  }
  for (int j = 0; j < keys; ++j) bias[j] = products[vectors.RowOf(query, j)];
}

// Adds sum_j p_j b_r to a head's result. `sums` [count()] is scratch.
void AddValues(const RelativeVectors& vectors, const float* p, int dim, int query, int keys,
               float* sums, float* out) {
  std::fill_n(sums, vectors.count(), 0.0f);
  for (int j = 0; j < keys; ++j) sums[vectors.RowOf(query, j)] += p[j];
  const float* b = vectors.values;
  for (int r = 0; r < vectors.count(); ++r, b += dim) {
    for (int i = 0; i < dim; ++i) out[i] += sums[r] * b[i];
  }
}

}  // namespace

void AttendRelative(const AttentionSpec& spec, const Queries& queries,
                    const AttentionMemory& memory, const AttentionOutput& output, Arena* arena,
                    Prefetcher* next) {
  ABSL_ASSERT(spec.mixer.is_full() && spec.bias.values == nullptr);
  const Arena::Mark start = arena->mark();
  const RelativeVectors& vectors = spec.relative;
  const int dim = spec.shape.head_dim;
  const auto heads = static_cast<size_t>(spec.shape.heads);
  const auto* const history = std::get_if<CellHistory>(&memory);
  KeysValues packed;
  if (history == nullptr) {
    packed = PackRows(spec.shape, std::get<KeyValueRows>(memory), arena);
  }
  const int positions =
      history == nullptr ? packed.positions : static_cast<int>(history->cells.size());
  const auto keys = static_cast<size_t>(positions);
  float* const scratch = arena->Floats(static_cast<size_t>(vectors.count()));
  for (int first = 0; first < queries.count; first += kBlock) {
    const Arena::Mark mark = arena->mark();
    const auto at = static_cast<size_t>(first);
    const int count = std::min(kBlock, queries.count - first);
    const size_t matrix = static_cast<size_t>(count) * keys;
    const Queries block = {queries.rows + at * queries.stride, queries.stride, count};
    AttentionOutput result = {output.rows + at * output.stride, output.stride};
    result.weights = arena->Floats(heads * matrix);
    float* const bias = arena->Floats(heads * matrix);
    // Calls f(query's position, head, its first column, its row, its place in a matrix).
    const auto for_each_query = [&](auto f) {
      for (size_t h = 0; h < heads; ++h) {
        for (int r = 0; r < count; ++r) {
          f(queries.position(first + r), h, h * static_cast<size_t>(dim), static_cast<size_t>(r),
            h * matrix + static_cast<size_t>(r) * keys);
        }
      }
    };
    for_each_query([&](int query, size_t, size_t column, size_t r, size_t place) {
      SetBias(vectors, block.rows + r * block.stride + column, dim, spec.shape.Scale(), query,
              positions, scratch, bias + place);
    });
    AttentionSpec biased = spec;
    biased.bias = {bias, matrix, static_cast<ptrdiff_t>(keys)};
    if (history != nullptr) {
      AttendCells(biased, block, *history, result, arena, next);
    } else {
      AttendPacked(biased, block, packed, result, arena, next);
    }
    for_each_query([&](int query, size_t h, size_t column, size_t r, size_t place) {
      const float* const p = result.weights + place;
      AddValues(vectors, p, dim, query, positions, scratch,
                result.rows + r * result.stride + column);
      float* const wanted = output.WeightsOf(h, at + r, queries, keys);
      if (wanted != nullptr) std::copy_n(p, keys, wanted);
    });
    arena->Rewind(mark);
  }
  arena->Rewind(start);
}

}  // namespace nibu::internal
