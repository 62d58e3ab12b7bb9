// Attention as the encoder and the decoder call it. Which algorithm computes it is decided here,
// and changes nothing but the rounding.
#ifndef NIBU_ENGINE_ATTENTION_ATTENTION_H_
#define NIBU_ENGINE_ATTENTION_ATTENTION_H_

#include "engine/attention/attention_spec.h"
#include "engine/core/arena.h"

namespace nibu::internal {

class Prefetcher;  // cache.h

// The element type in which the keys and values of a source are stored for a mechanism of
// cross-attention, in a model of type `type`: float32 where its algorithm wants that.
CacheType SourceType(const MixerSpec& mixer, CacheType type);

// Makes of the keys and values of a source, [positions, 2 I], what is stored of them (StoreSource,
// cache.h): keys mapped as the score wants them, and the means of neighbours. Works in place, and
// returns the number of keys. The keys of ReducedAttention are reduced when they come. REQUIRES:
// positions > 0.
int PrepareSource(const AttentionSpec& spec, int positions, float* keys_values);

// Sets scores [H, R, S] to what the softmax takes, biases and vectors by distance included:
// -infinity for keys that a query does not see. Of mechanisms that are no patterns, LSH among them,
// a query sees all keys.
void FindScores(const AttentionSpec& spec, const Queries& queries, const KeyValueRows& memory,
                float* scores);

// Attends with the scratch memory of one worker, which outlives it, and is as thread-safe as that.
// A call may throw std::bad_alloc, and the object can be used again.
class Attention {
 public:
  Attention(const AttentionSpec& spec, Arena* arena) : spec_(spec), arena_(arena) {}

  const AttentionSpec& spec() const { return spec_; }

  // A result row depends on its own query, its keys and S alone, never on R. Asking for the weights
  // changes no bit of it. `next` prefetches what the next call reads; rows do not use it.
  // REQUIRES: at least one key; with CellHistory, a single query; with PredictedWindow, centres;
  // with KeysValues, a mechanism of MixerSpec::fits_cross_attention.
  void Run(const Queries& queries, const AttentionMemory& memory, const AttentionOutput& output,
           Prefetcher* next = nullptr) const;

 private:
  // Writes the weights of keys.
  void RunForKeys(const Queries& queries, const AttentionMemory& memory,
                  const AttentionOutput& output, Prefetcher* next) const;

  AttentionSpec spec_;
  Arena* arena_;
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_ATTENTION_ATTENTION_H_
