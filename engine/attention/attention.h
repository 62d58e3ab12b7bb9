// Attention as the encoder and the decoder call it. Which algorithm computes it is decided here,
// and changes nothing but the rounding.
#ifndef NIBU_ENGINE_ATTENTION_ATTENTION_H_
#define NIBU_ENGINE_ATTENTION_ATTENTION_H_

#include "engine/attention/attention_spec.h"
#include "engine/core/arena.h"

namespace nibu::internal {

class Prefetcher;  // cache.h

// Attends with the scratch memory of one worker, which outlives it, and is as thread-safe as that.
// A call may throw std::bad_alloc, and the object can be used again.
class Attention {
 public:
  Attention(const AttentionSpec& spec, Arena* arena) : spec_(spec), arena_(arena) {}

  const AttentionSpec& spec() const { return spec_; }

  // A result row depends on its own query, its keys and S alone, never on R. Asking for the weights
  // changes no bit of it. `next` prefetches what the next call reads; rows do not use it.
  // REQUIRES: at least one key.
  void Run(const Queries& queries, const AttentionMemory& memory, const AttentionOutput& output,
           Prefetcher* next = nullptr) const;

 private:
  AttentionSpec spec_;
  Arena* arena_;
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_ATTENTION_ATTENTION_H_
