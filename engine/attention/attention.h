// Attention as the encoder and the decoder call it. Which algorithm computes it is decided here,
// and changes nothing but the rounding.
#ifndef NIBU_ENGINE_ATTENTION_ATTENTION_H_
#define NIBU_ENGINE_ATTENTION_ATTENTION_H_

#include "engine/attention/attention_spec.h"
#include "engine/core/arena.h"
#include "engine/ops/linear.h"
#include "engine/ops/matmul.h"

namespace nibu::internal {

class Prefetcher;  // cache.h

// Of one worker: as thread-safe as its matmuls and scratch, which outlive it. May throw what they
// throw, and can be used again.
class Attention {
 public:
  Attention(const AttentionSpec& spec, Matmul* matmul, Arena* arena)
      : spec_(spec), matmul_(matmul), arena_(arena) {}

  // A result row depends on its own query, its keys and S alone, never on R. Asking for the weights
  // changes no bit of it. `next`: of what will be read after this; for stored keys and cells.
  // REQUIRES: at least one key.
  void Run(const Queries& queries, const AttentionMemory& memory, const AttentionOutput& output,
           Prefetcher* next = nullptr) const;

 private:
  AttentionSpec spec_;
  Matmul* matmul_;
  Arena* arena_;
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_ATTENTION_ATTENTION_H_
