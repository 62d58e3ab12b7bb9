// Keeps what a decoder needs of one sentence between its steps.
//
// Self-attention: cells_[h][t] points to the cell of hypothesis h at position t in the first layer;
// the same cell of layer l lies l * LayerStride bytes behind it. A cell belongs to a page, which
// has kPositions positions, every layer and every place in the beam. A position's cells are written
// once and never move. When hypotheses are reordered, only the pointers are copied, so that
// hypotheses with a common past share its cells. SSRU: a state for each hypothesis and layer
// instead, c at length t in slot t modulo slots_. It is made from the one before, so that two slots
// do, and more where positions may be dropped again; Reorder copies no state, but notes the parents
// from whose states the next ones are made. Cross-attention: the source's keys and values
// of every layer in one piece of memory.
#include "engine/model/kv_cache.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/algorithm/container.h"
#include "engine/attention/attention.h"
#include "engine/model/layers.h"

namespace nibu::internal {

PagePool::PagePool(const ModelConfig& config, CacheType type, std::pmr::memory_resource* memory)
    : type_(type),
      cell_(CellBytes(ShapeOf(config, config.heads_decoder), type)),
      layers_(static_cast<size_t>(config.layers_decoder)),
      memory_(memory) {}

void DecoderState::Start(const ModelConfig& config, PagePool* pool, int source_length,
                         int beam_size, int droppable) {
  ABSL_ASSERT(source_length > 0 && beam_size > 0);
  Release();
  pool_ = pool;
  length_ = 0;
  longest_ = 0;
  droppable_ = droppable;
  source_length_ = source_length;
  dim_ = static_cast<size_t>(config.d_model);
  shape_ = ShapeOf(config, config.heads_decoder);
  layers_ = static_cast<size_t>(config.layers_decoder);
  sources_.clear();
  size_t source_bytes = 0;
  for (int l = 0; l < config.layers_decoder; ++l) {
    const MixerSpec mixer = config.cross_mixer(l);
    const int keys = mixer.stored_keys(source_length);
    const CacheType type = SourceType(mixer, pool->type());
    sources_.push_back({type, keys, source_bytes});
    source_bytes += SourceBytes(shape_, keys, type);
  }
  source_ = pool->Source(source_bytes);
  cells_.resize(static_cast<size_t>(beam_size));
  next_cells_.resize(cells_.size());
  for (auto& cells : cells_) cells.clear();
  is_recurrent_ = config.decoder_memory == DecoderMemory::kSsru;
  if (is_recurrent_) {
    // A state is made from the one before it, and a Truncate may go back by up to `droppable`
    // positions.
    slots_ = static_cast<size_t>(std::max(droppable, 1)) + 1;
    recurrent_.Reserve(slots_ * cells_.size() * layers_ * dim_);
    std::fill_n(Recurrent(0, 0, 0), cells_.size() * layers_ * dim_, 0.0f);
    next_parents_.resize(cells_.size());
    std::iota(next_parents_.begin(), next_parents_.end(), 0);
    parents_ = next_parents_;
  }
}

void DecoderState::Release() {
  source_ = {};
  pages_.clear();
}

void DecoderState::Reorder(absl::Span<const int> parents) {
  ABSL_ASSERT(parents.size() <= cells_.size());
  ABSL_ASSERT(absl::c_all_of(parents, [this](int h) { return IsLive(h); }));
  bool same = true;
  for (size_t h = 0; h < parents.size(); ++h) same = same && parents[h] == static_cast<int>(h);
  if (same) return;
  if (is_recurrent_) {
    std::copy(parents.begin(), parents.end(), next_parents_.begin());
    return;
  }
  for (size_t h = 0; h < parents.size(); ++h) {
    next_cells_[h] = cells_[static_cast<size_t>(parents[h])];
  }
  std::swap(cells_, next_cells_);
}

void DecoderState::Extend(int hypotheses) {
  ABSL_ASSERT(0 < hypotheses && static_cast<size_t>(hypotheses) <= cells_.size());
  longest_ = std::max(longest_, length_ + 1);
  if (is_recurrent_) {
    std::swap(parents_, next_parents_);
    std::iota(next_parents_.begin(), next_parents_.end(), 0);
    ++length_;
    return;
  }
  const size_t beam = cells_.size();
  if (length_ % PagePool::kPositions == 0) pages_.push_back(pool_->Page(beam));
  for (size_t h = 0; h < static_cast<size_t>(hypotheses); ++h) {
    cells_[h].push_back(pages_.back().get() + pool_->CellOffset(beam, length_, h));
  }
  ++length_;
}

bool DecoderState::IsLive(int h) const {
  if (h < 0 || static_cast<size_t>(h) >= cells_.size()) return false;
  return is_recurrent_ || cells_[static_cast<size_t>(h)].size() == static_cast<size_t>(length_);
}

void DecoderState::Truncate(int length) {
  ABSL_ASSERT(cells_.size() == 1);
  ABSL_ASSERT(0 <= length && length <= length_ && longest_ - length <= droppable_);
  length_ = length;
  if (is_recurrent_) return;
  cells_[0].resize(static_cast<size_t>(length));
  const int pages = (length + PagePool::kPositions - 1) / PagePool::kPositions;
  pages_.resize(static_cast<size_t>(pages));
}

void DecoderState::Store(int position, int h, int layer, const float* keys_values) {
  ABSL_ASSERT(static_cast<size_t>(layer) < layers_);
  ABSL_ASSERT(IsLive(h) && 0 <= position && position < length_);
  char* cell = static_cast<char*>(cells_[static_cast<size_t>(h)][static_cast<size_t>(position)]);
  StoreCell(shape_, keys_values, pool_->type(),
            cell + static_cast<size_t>(layer) * pool_->LayerStride(cells_.size()));
}

void DecoderState::StoreSource(int layer, const float* keys_values) {
  const LayerSource& own = sources_[static_cast<size_t>(layer)];
  nibu::internal::StoreSource(shape_, keys_values, own.keys, own.type, source_.get() + own.offset);
}

KeysValues DecoderState::source(int layer) const {
  const LayerSource& own = sources_[static_cast<size_t>(layer)];
  return ViewSource(shape_, own.keys, own.type, source_.get() + own.offset);
}

}  // namespace nibu::internal
