// Chooses the algorithm from the form in which keys and values come.
#include "engine/attention/attention.h"

#include <variant>

#include "absl/base/macros.h"
#include "engine/attention/kernels.h"
#include "engine/attention/mixers/dense.h"
#include "engine/attention/mixers/mixers.h"
#include "engine/attention/mixers/reduction.h"
#include "engine/attention/mixers/score.h"
#include "engine/attention/mixers/stored.h"

namespace nibu::internal {
namespace {

int KeysOf(const AttentionMemory& memory) {
  if (const auto* history = std::get_if<CellHistory>(&memory)) {
    return static_cast<int>(history->cells.size());
  }
  if (const auto* stored = std::get_if<KeysValues>(&memory)) return stored->positions;
  return std::get<KeyValueRows>(memory).positions;
}

}  // namespace

CacheType SourceType(const MixerSpec& mixer, CacheType type) {
  return mixer.dense || mixer.score == Score::kConcat ? CacheType::kFloat32 : type;
}

int PrepareSource(const AttentionSpec& spec, int positions, float* keys_values) {
  ABSL_ASSERT(positions > 0);
  const size_t stride =
      2 * static_cast<size_t>(spec.shape.heads) * static_cast<size_t>(spec.shape.head_dim);
  if (!spec.mixer.dense) MapKeys(spec, stride, positions, keys_values);
  const auto* const mean = spec.mixer.As<MeanAttention>();
  if (mean == nullptr) return positions;
  return TakeMeans(keys_values, stride, positions, stride, mean->reduction, keys_values);
}

void FindScores(const AttentionSpec& spec, const Queries& queries, const KeyValueRows& memory,
                float* scores) {
  DenseScores(spec, queries, memory, scores);
}

void Attention::Run(const Queries& queries, const AttentionMemory& memory,
                    const AttentionOutput& output, Prefetcher* next) const {
  ABSL_ASSERT(KeysOf(memory) > 0);
  ABSL_ASSERT(queries.count == 1 || !std::holds_alternative<CellHistory>(memory));
  ABSL_ASSERT(queries.centres != nullptr || !spec_.mixer.Is<PredictedWindow>());
  const Arena::Mark mark = arena_->mark();
  if (const int keys = KeysOf(memory); output.weights != nullptr && keys < output.positions) {
    const auto rows = static_cast<size_t>(spec_.shape.heads) * static_cast<size_t>(queries.count);
    float* const weights = arena_->Floats(rows * static_cast<size_t>(keys));
    RunForKeys(queries, memory, {output.rows, output.stride, weights}, next);
    ShareWeights(weights, rows, output.positions, spec_.mixer.reduction(), output.weights);
  } else {
    RunForKeys(queries, memory, output, next);
  }
  arena_->Rewind(mark);
}

void Attention::RunForKeys(const Queries& queries, const AttentionMemory& memory,
                           const AttentionOutput& output, Prefetcher* next) const {
  if (spec_.relative.keys != nullptr) {
    AttendRelative(spec_, queries, memory, output, arena_, next);
  } else if (const auto* history = std::get_if<CellHistory>(&memory)) {
    AttendCells(spec_, queries, *history, output, arena_, next);
  } else if (const auto* stored = std::get_if<KeysValues>(&memory)) {
    if (spec_.mixer.is_full()) {
      AttendPacked(spec_, queries, *stored, output, arena_, next);
    } else {
      AttendStored(spec_, queries, *stored, output, arena_, next);
    }
  } else if (const auto& rows = std::get<KeyValueRows>(memory); spec_.mixer.is_full()) {
    AttendRows(spec_, queries, rows, output, arena_);
  } else {
    AttendByMixer(spec_, queries, rows, output, arena_);
  }
}

}  // namespace nibu::internal
