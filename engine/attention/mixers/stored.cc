// Attends to the stored keys of a source by the mechanisms of cross-attention.
#include "engine/attention/mixers/stored.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "absl/base/macros.h"
#include "engine/attention/cache.h"
#include "engine/attention/kernels.h"
#include "engine/attention/mixers/dense.h"
#include "engine/attention/mixers/local.h"
#include "engine/attention/mixers/pattern.h"
#include "engine/attention/mixers/score.h"
#include "engine/attention/mixers/sparse.h"

namespace nibu::internal {
namespace {

// Queries first .. end - 1, which see the keys of `window`, in the blocks of keys that hold it.
void AttendToWindow(const AttentionSpec& spec, const Queries& queries, int first, int end,
                    const KeySpan& window, const KeysValues& memory, const AttentionOutput& output,
                    Arena* arena) {
  std::optional<LocalWindow> local;
  if (const auto* predicted = spec.mixer.As<PredictedWindow>()) {
    local.emplace(window.begin, window.end, static_cast<double>(queries.centre(first)),
                  predicted->width, arena);
  }
  const int begin = window.begin / kKeyBlock * kKeyBlock;
  const int last = CeilOf(window.end, kKeyBlock) * kKeyBlock;
  const KeysValues slice = SliceSource(spec.shape, memory, begin, std::min(last, memory.positions));
  const auto columns = static_cast<size_t>(slice.positions);
  float* const bias = arena->Floats(columns);
  std::fill_n(bias, columns, kHidden);
  for (int key = window.begin; key < window.end; ++key) {
    bias[key - begin] = local.has_value() ? local->log_weight(key) : 0;
  }
  AttentionSpec full = spec;
  full.mixer.mechanism = FullAttention();
  full.bias = {bias, 0, 0};
  const auto heads = static_cast<size_t>(spec.shape.heads);
  const auto dim = static_cast<size_t>(spec.shape.head_dim);
  const auto row = static_cast<size_t>(first);
  const auto count = static_cast<size_t>(end - first);
  AttentionOutput part = {output.rows + row * output.stride, output.stride};
  if (output.weights != nullptr || local.has_value()) {
    part.weights = arena->Floats(heads * count * columns);
  }
  AttendByScore(full, {queries.rows + row * queries.stride, queries.stride, end - first}, slice,
                part, arena, /*next=*/nullptr);
  for (size_t n = 0; part.weights != nullptr && n < heads * count; ++n) {
    const size_t h = n / count;
    float* const weights = part.weights + n * columns;
    if (local.has_value()) {
      local->Scale(weights + (window.begin - begin), dim,
                   part.rows + n % count * part.stride + h * dim, columns, weights);
    }
    if (output.weights == nullptr) continue;
    const auto positions = static_cast<size_t>(memory.positions);
    float* const wanted = output.WeightsOf(h, row + n % count, queries, positions);
    std::fill_n(wanted, positions, 0.0f);
    std::copy_n(weights, columns, wanted + begin);
  }
}

void AttendDensely(const AttentionSpec& spec, const Queries& queries, const KeysValues& memory,
                   const AttentionOutput& output, Arena* arena) {
  const auto inner =
      static_cast<size_t>(spec.shape.heads) * static_cast<size_t>(spec.shape.head_dim);
  float* const rows = arena->Floats(static_cast<size_t>(memory.positions) * 2 * inner);
  UnpackSource(spec.shape, memory, rows);
  AttendDense(spec, queries, {rows, rows + inner, 2 * inner, memory.positions}, output);
}

}  // namespace

void AttendStored(const AttentionSpec& spec, const Queries& queries, const KeysValues& memory,
                  const AttentionOutput& output, Arena* arena, Prefetcher* next) {
  const MixerSpec& mixer = spec.mixer;
  ABSL_ASSERT(mixer.fits_cross_attention());
  if (mixer.dense) return AttendDensely(spec, queries, memory, output, arena);
  const Queries mapped = MapQueries(spec, queries, arena);
  if (!mixer.Is<MonotonicWindow>() && !mixer.Is<PredictedWindow>()) {
    return AttendByScore(spec, mapped, memory, output, arena, next);
  }
  const auto window_of = [&](int r) {
    return WindowOf(mixer, memory.positions, {mapped.position(r), 0, mapped.centre(r)});
  };
  for (int first = 0, end = 0; first < mapped.count; first = end) {
    const KeySpan window = window_of(first);
    // Hypotheses of a beam share a window around one place.
    for (end = first + 1; end < mapped.count && mixer.Is<MonotonicWindow>(); ++end) {
      const KeySpan other = window_of(end);
      if (other.begin != window.begin || other.end != window.end) break;
    }
    const Arena::Mark mark = arena->mark();
    AttendToWindow(spec, mapped, first, end, window, memory, output, arena);
    arena->Rewind(mark);
  }
}

}  // namespace nibu::internal
