// Token-mixing MLP: transposes a sentence and multiplies its columns.
#include "engine/attention/mixers/token_mlp.h"

#include <algorithm>
#include <cstddef>

#include "absl/base/macros.h"

namespace nibu::internal {

void MixByMlp(const Linear& up, const Linear& down, const float* x, int positions, int dim,
              Matmul* matmul, Arena* arena, float* out) {
  ABSL_ASSERT(0 < positions && positions <= up.in());
  const Arena::Mark mark = arena->mark();
  const auto n = static_cast<size_t>(positions);
  const auto columns = static_cast<size_t>(dim);
  const auto most = static_cast<size_t>(up.in());
  const int room = Matmul::RoomFor(dim);
  const size_t size = static_cast<size_t>(room) * most;
  float* const in = arena->Floats(size);     // [D, P]
  float* const mixed = arena->Floats(size);  // [D, P]
  for (size_t c = 0; c < columns; ++c) {
    float* const row = in + c * most;
    for (size_t i = 0; i < n; ++i) row[i] = x[i * columns + c];
    std::fill(row + n, row + most, 0.0f);
  }
  matmul->ApplyPair(up, down, {in, dim, up.in(), room}, {mixed, dim, up.in(), room});
  for (size_t i = 0; i < n; ++i) {
    for (size_t c = 0; c < columns; ++c) out[i * columns + c] = mixed[c * most + i];
  }
  arena->Rewind(mark);
}

}  // namespace nibu::internal
