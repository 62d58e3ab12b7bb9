#include "engine/attention/attention.h"

#include <variant>

#include "engine/attention/kernels.h"
#include "engine/attention/mixers/mixers.h"
#include "engine/attention/mixers/stored.h"

namespace nibu::internal {

void Attention::Run(const Queries& queries, const AttentionMemory& memory,
                    const AttentionOutput& output, Prefetcher* next) const {
  const Arena::Mark mark = arena_->mark();
  if (const auto* history = std::get_if<CellHistory>(&memory)) {
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
  arena_->Rewind(mark);
}

}  // namespace nibu::internal
