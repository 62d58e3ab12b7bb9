// The decoder's memory of one sentence: keys and values of the tokens generated so far, shared by
// the hypotheses of its beam (or their newest recurrent states), and the keys and values of the
// source.
#ifndef NIBU_ENGINE_MODEL_KV_CACHE_H_
#define NIBU_ENGINE_MODEL_KV_CACHE_H_

#include <cstddef>
#include <vector>

#include "absl/base/macros.h"
#include "absl/types/span.h"
#include "engine/attention/cache.h"
#include "engine/core/aligned_buffer.h"
#include "engine/core/huge_heap.h"
#include "engine/model/config.h"

namespace nibu::internal {

// Hands out the memory of a worker's sentences: pages of kPositions positions for a beam, and room
// for sources. A page holds a cell of keys and values for each layer, position and place in the
// beam: [layer][position][place]. A sentence gives both back to `memory` when it ends (and pages
// earlier, in Truncate), so that memory follows the lengths of the sentences being decoded. Not
// thread-safe.
class PagePool {
 public:
  static constexpr int kPositions = 8;

  // `memory` outlives the pool's pages.
  PagePool(const ModelConfig& config, CacheType type, std::pmr::memory_resource* memory);

  CacheType type() const { return type_; }
  // The layout of a page for a beam of that size: bytes from a cell to the same cell of the next
  // layer, and bytes from the page's start to a cell of the first layer.
  size_t LayerStride(size_t beam_size) const { return cell_ * kPositions * beam_size; }
  size_t CellOffset(size_t beam_size, int position, size_t beam) const {
    return (static_cast<size_t>(position % kPositions) * beam_size + beam) * cell_;
  }

  MemoryPiece Page(size_t beam_size) {
    return TakePiece(memory_, LayerStride(beam_size) * layers_);
  }
  // Memory for the keys and values of a source.
  MemoryPiece Source(size_t bytes) { return TakePiece(memory_, bytes); }

 private:
  CacheType type_;
  size_t cell_;  // bytes
  size_t layers_;
  std::pmr::memory_resource* memory_;
};

// The memory of one sentence. A worker uses it for one sentence after another; not thread-safe.
class DecoderState {
 public:
  // Starts a sentence of `source_length` positions (EOS included), with room for the source's keys
  // and values, and with one hypothesis without tokens, which may become beam_size hypotheses.
  // `droppable`: the most positions that a Truncate may drop. `pool` outlives the state.
  void Start(const ModelConfig& config, PagePool* pool, int source_length, int beam_size,
             int droppable = 0);
  // Gives the pages and the source's memory back; the arrays stay for the next sentence.
  void Release();

  // Hypothesis h of the next step continues hypothesis parents[h] of this one. REQUIRES: no more
  // hypotheses than the beam's, and each parent is one of this step's.
  void Reorder(absl::Span<const int> parents);

  // Makes room for the next position of `hypotheses` hypotheses, each of which gets a cell (SSRU:
  // states) of its own. Takes a page from the pool whenever length() is a multiple of kPositions
  // (SSRU: never). REQUIRES: no more hypotheses than the beam's.
  void Extend(int hypotheses);
  // Drops all positions but the first `length`, and hands their pages back. REQUIRES: a beam of 1,
  // 0 <= length <= length(), and the longest length so far is no more than `droppable` above it.
  void Truncate(int length);

  int length() const { return length_; }  // positions held
  // The keys and values of positions 0 .. last of hypothesis h in a layer, newest last. Valid until
  // the next Extend or Truncate. REQUIRES: the hypothesis has these positions.
  CellHistory history(int h, int layer, int last) const {
    ABSL_ASSERT(static_cast<size_t>(h) < cells_.size());
    ABSL_ASSERT(static_cast<size_t>(last) < cells_[static_cast<size_t>(h)].size());
    return {pool_->type(),
            absl::MakeConstSpan(cells_[static_cast<size_t>(h)])
                .subspan(0, static_cast<size_t>(last) + 1),
            static_cast<size_t>(layer) * pool_->LayerStride(cells_.size())};
  }
  // Writes a position's keys and values, [2 I], of hypothesis h in a layer. REQUIRES: the
  // hypothesis has the position.
  void Store(int position, int h, int layer, const float* keys_values);

  // The recurrent state c [D] of hypothesis h in a layer (DecoderMemory::kSsru) at a position held,
  // and the one that it follows; 0 before the first position.
  float* recurrent(int position, int h, int layer) { return Recurrent(position + 1, h, layer); }
  const float* previous_recurrent(int position, int h, int layer) {
    return Recurrent(position, parents_[static_cast<size_t>(h)], layer);
  }

  int source_length() const { return source_length_; }
  // Takes a decoder layer's keys and values of the source, [K, 2 I], as PrepareSource (attention.h)
  // leaves them: K is source_length, or less if the layer's cross-attention reduces them.
  void StoreSource(int layer, const float* keys_values);
  KeysValues source(int layer) const;

 private:
  // Returns whether there is a hypothesis h with all positions.
  bool IsLive(int h) const;
  // Returns the place of the recurrent states behind `length` positions.
  float* Recurrent(int length, int h, int layer) {
    const size_t slot = static_cast<size_t>(length) % slots_;
    const size_t row = (slot * cells_.size() + static_cast<size_t>(h)) * layers_;
    return recurrent_.data() + (row + static_cast<size_t>(layer)) * dim_;
  }

  PagePool* pool_ = nullptr;
  bool is_recurrent_ = false;
  size_t layers_ = 0;
  size_t slots_ = 0;                // lengths whose recurrent states are kept
  AlignedBuffer<float> recurrent_;  // [length modulo slots][hypothesis][layer][D]
  std::vector<int> parents_;        // of the newest position's hypotheses
  std::vector<int> next_parents_;
  int length_ = 0;
  int longest_ = 0;  // the longest length so far
  int droppable_ = 0;
  int source_length_ = 0;
  size_t dim_ = 0;  // D
  AttentionShape shape_{};
  // A layer's keys and values of the source, which begin `offset` bytes behind source_.
  struct LayerSource {
    CacheType type;
    int keys;
    size_t offset;
  };
  std::vector<LayerSource> sources_;
  MemoryPiece source_;
  std::vector<MemoryPiece> pages_;
  std::vector<std::vector<void*>> cells_;  // [hypothesis][position], of the first layer
  std::vector<std::vector<void*>> next_cells_;
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_MODEL_KV_CACHE_H_
