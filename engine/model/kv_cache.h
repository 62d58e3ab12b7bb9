// The decoder's memory of one sentence: keys and values of the tokens generated so far, shared by
// the hypotheses of its beam (or a recurrent cell for each of them), and the keys and values of the
// source.
#ifndef NIBU_ENGINE_MODEL_KV_CACHE_H_
#define NIBU_ENGINE_MODEL_KV_CACHE_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "engine/attention/cache.h"
#include "engine/core/aligned_buffer.h"
#include "engine/model/config.h"

namespace nibu {

// Pages of kPositions positions for a beam of fixed width. A page holds, for each layer, position
// and beam index, a cell of keys and values. Pages go back to the pool when a sentence ends, so
// memory follows the tokens that are alive. One worker's; not thread-safe.
class PagePool {
 public:
  static constexpr int kPositions = 8;

  PagePool(const ModelConfig& config, CacheType type, int beam_size);

  CacheType type() const { return type_; }
  int beam_size() const { return beam_size_; }
  // Bytes from a cell to the same cell of the next layer.
  size_t layer_stride() const { return layer_; }
  // Offset in a page of the first layer's cell, in bytes.
  size_t CellOffset(int position, int beam) const {
    return (static_cast<size_t>(position % kPositions) * static_cast<size_t>(beam_size_) +
            static_cast<size_t>(beam)) *
           cell_;
  }

  AlignedBuffer<char> Take() {
    if (free_.empty()) return AlignedBuffer<char>(page_);
    AlignedBuffer<char> page = std::move(free_.back());
    free_.pop_back();
    return page;
  }
  void Give(AlignedBuffer<char> page) { free_.push_back(std::move(page)); }

 private:
  CacheType type_;
  int beam_size_;
  size_t cell_;  // bytes, as the next two
  size_t layer_;
  size_t page_;
  std::vector<AlignedBuffer<char>> free_;
};

// One worker's; not thread-safe; reused from sentence to sentence.
class DecoderState {
 public:
  // Starts a sentence of `source_length` positions (EOS included): room for the source's keys and
  // values, one hypothesis without tokens. `pool` outlives the state.
  void Start(const ModelConfig& config, PagePool* pool, int source_length);
  // Hands all pages back.
  void Release();

  // Hypothesis h of the next step continues hypothesis parents[h] of this one.
  void Reorder(absl::Span<const int> parents);

  // Makes room for the next position of `hypotheses` hypotheses, each written to its own cell.
  void Extend(int hypotheses);

  // Cells of the first layer, positions 0 .. length() - 1 of hypothesis h, newest last. Valid until
  // the next Extend.
  CellHistory history(int h, int layer) const {
    return {pool_->type(), cells_[static_cast<size_t>(h)],
            static_cast<size_t>(layer) * pool_->layer_stride()};
  }
  int length() const { return length_; }  // positions held
  // Writes the newest position's keys and values, [2 I], of hypothesis h in a layer.
  void Store(int h, int layer, const float* keys_values);

  // The recurrent cell [D] of hypothesis h in a layer (DecoderMemory::kSsru); 0 at the start.
  float* cell(int h, int layer) {
    return recurrent_.data() +
           (static_cast<size_t>(h) * layers_ + static_cast<size_t>(layer)) * dim_;
  }

  int source_length() const { return source_length_; }
  // Takes a decoder layer's keys and values of the source, [source_length, 2 I].
  void StoreSource(int layer, const float* keys_values);
  KeysValues source(int layer) const;

 private:
  PagePool* pool_ = nullptr;
  bool is_recurrent_ = false;
  size_t layers_ = 0;
  AlignedBuffer<float> recurrent_;  // [hypothesis][layer][D]
  AlignedBuffer<float> next_recurrent_;
  int length_ = 0;
  int source_length_ = 0;
  size_t dim_ = 0;  // D
  AttentionShape shape_{};
  size_t source_layer_ = 0;  // bytes of a layer's keys and values
  AlignedBuffer<char> source_;
  std::vector<AlignedBuffer<char>> pages_;
  std::vector<std::vector<void*>> cells_;  // [hypothesis][position]
  std::vector<std::vector<void*>> next_cells_;
};

}  // namespace nibu

#endif  // NIBU_ENGINE_MODEL_KV_CACHE_H_
