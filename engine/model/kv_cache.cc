#include "engine/model/kv_cache.h"

#include <algorithm>
#include <utility>

#include "engine/model/layers.h"

namespace nibu {

void DecoderState::Start(const ModelConfig& config, PagePool* pool, int source_length) {
  Release();
  pool_ = pool;
  length_ = 0;
  source_length_ = source_length;
  dim_ = static_cast<size_t>(config.d_model);
  inner_ = static_cast<size_t>(config.inner_decoder());
  shape_ = ShapeOf(config, config.heads_decoder);
  source_keys_ = PackedKeySize(shape_, source_length);
  // Layers start on a cache line.
  source_layer_ = (source_keys_ + static_cast<size_t>(source_length) * inner_ + 31) / 32 * 32;
  source_.Reserve(source_layer_ * static_cast<size_t>(config.layers_decoder) *
                  CacheElementSize(pool->type()));
  cells_.resize(static_cast<size_t>(pool->beam_size()));
  next_cells_.resize(cells_.size());
  for (auto& cells : cells_) cells.clear();
  is_recurrent_ = config.decoder_memory == DecoderMemory::kSsru;
  layers_ = static_cast<size_t>(config.layers_decoder);
  if (is_recurrent_) {
    recurrent_.Reserve(cells_.size() * layers_ * dim_);
    next_recurrent_.Reserve(recurrent_.size());
    std::fill_n(recurrent_.data(), recurrent_.size(), 0.0f);
  }
}

void DecoderState::Release() {
  for (auto& page : pages_) pool_->Give(std::move(page));
  pages_.clear();
}

void DecoderState::Reorder(absl::Span<const int> parents) {
  bool same = true;
  for (size_t h = 0; h < parents.size(); ++h) same = same && parents[h] == static_cast<int>(h);
  if (same) return;
  if (is_recurrent_) {
    const size_t size = layers_ * dim_;
    for (size_t h = 0; h < parents.size(); ++h) {
      std::copy_n(cell(parents[h], 0), size, next_recurrent_.data() + h * size);
    }
    std::swap(recurrent_, next_recurrent_);
    return;
  }
  for (size_t h = 0; h < parents.size(); ++h) {
    next_cells_[h] = cells_[static_cast<size_t>(parents[h])];
  }
  std::swap(cells_, next_cells_);
}

void DecoderState::Extend(int hypotheses) {
  if (is_recurrent_) {
    ++length_;
    return;
  }
  if (length_ % PagePool::kPositions == 0) pages_.push_back(pool_->Take());
  for (int h = 0; h < hypotheses; ++h) {
    cells_[static_cast<size_t>(h)].push_back(pages_.back().data() + pool_->CellOffset(length_, h));
  }
  ++length_;
}

void DecoderState::Store(int h, int layer, const float* keys_values) {
  const size_t offset = static_cast<size_t>(layer) * pool_->layer_stride();
  char* cell = static_cast<char*>(cells_[static_cast<size_t>(h)].back());
  StoreToCache(keys_values, 2 * inner_, pool_->type(),
               cell + offset * CacheElementSize(pool_->type()));
}

void DecoderState::StoreSource(int layer, const float* keys_values) {
  const size_t element = CacheElementSize(pool_->type());
  char* keys = source_.data() + static_cast<size_t>(layer) * source_layer_ * element;
  char* values = keys + source_keys_ * element;
  PackKeys(shape_, keys_values, 2 * inner_, source_length_, pool_->type(), keys);
  for (int s = 0; s < source_length_; ++s) {
    StoreToCache(keys_values + inner_, inner_, pool_->type(), values);
    keys_values += 2 * inner_;
    values += inner_ * element;
  }
}

KeysValues DecoderState::source(int layer) const {
  const size_t element = CacheElementSize(pool_->type());
  const char* keys = source_.data() + static_cast<size_t>(layer) * source_layer_ * element;
  return {pool_->type(), keys, keys + source_keys_ * element, inner_, source_length_};
}

}  // namespace nibu
