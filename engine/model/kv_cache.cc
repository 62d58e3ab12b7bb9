#include "engine/model/kv_cache.h"

#include <utility>

namespace nibu {

void DecoderState::Start(const ModelConfig& config, PagePool* pool, int source_length) {
  Release();
  pool_ = pool;
  length_ = 0;
  source_length_ = source_length;
  const AttentionShape shape{config.heads_decoder, config.d_model / config.heads_decoder};
  source_keys_ = PackedKeySize(shape, source_length);
  // Values start on a cache line in every layer.
  const size_t values = static_cast<size_t>(source_length) * static_cast<size_t>(config.d_model);
  source_layer_ = source_keys_ + (values + 15) / 16 * 16;
  source_.Reserve(source_layer_ * static_cast<size_t>(config.layers_decoder));
  cells_.resize(static_cast<size_t>(pool->beam_size()));
  next_cells_.resize(cells_.size());
  for (auto& cells : cells_) cells.clear();
}

void DecoderState::Release() {
  for (auto& page : pages_) pool_->Give(std::move(page));
  pages_.clear();
}

void DecoderState::Reorder(absl::Span<const int> parents) {
  bool same = true;
  for (size_t h = 0; h < parents.size(); ++h) same = same && parents[h] == static_cast<int>(h);
  if (same) return;
  for (size_t h = 0; h < parents.size(); ++h) {
    next_cells_[h] = cells_[static_cast<size_t>(parents[h])];
  }
  std::swap(cells_, next_cells_);
}

void DecoderState::Extend(int hypotheses) {
  if (length_ % PagePool::kPositions == 0) pages_.push_back(pool_->Take());
  for (int h = 0; h < hypotheses; ++h) {
    cells_[static_cast<size_t>(h)].push_back(pages_.back().data() + pool_->CellOffset(length_, h));
  }
  ++length_;
}

}  // namespace nibu
