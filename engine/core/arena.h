// The scratch memory of a worker, for the activations of one step.
#ifndef NIBU_ENGINE_CORE_ARENA_H_
#define NIBU_ENGINE_CORE_ARENA_H_

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "absl/base/macros.h"
#include "engine/core/aligned_buffer.h"
#include "engine/core/huge_memory.h"

namespace nibu::internal {

// A stack of 64-byte aligned arrays in one block of huge pages. An array that does not fit gets
// memory of its own (spill_); once the arena is empty again, the block grows to the largest size so
// far. So it stops allocating after the first steps. Not thread-safe. Throws std::bad_alloc; Floats
// then changes nothing, and Rewind has taken back what it was to take back.
class Arena {
 public:
  using Mark = size_t;

  // Returns n floats, not initialized, valid until a Rewind to a mark that was taken before.
  float* Floats(size_t n) {
    n = (n + 15) / 16 * 16;
    const Mark start = used_;
    const bool fits = start + n <= room_;
    if (!fits) spill_.emplace_back(start, AlignedBuffer<float>(n));
    used_ += n;
    peak_ = std::max(peak_, used_);
    return fits ? main_.get() + start : spill_.back().second.data();
  }

  Mark mark() const { return used_; }

  // Takes back all arrays since the mark. If the arena is empty then, its block grows if necessary.
  // REQUIRES: nothing has been rewound behind the mark since it was taken.
  void Rewind(Mark mark) {
    ABSL_ASSERT(mark <= used_);
    used_ = mark;
    while (!spill_.empty() && spill_.back().first >= mark) spill_.pop_back();
    if (mark > 0 || peak_ <= room_) return;
    room_ = 0;
    main_ = nullptr;  // so that the old and the new memory are not held together
    const size_t room = (peak_ + kStep - 1) / kStep * kStep;
    main_ = std::reinterpret_pointer_cast<float>(MapHuge(room * sizeof(float)));
    room_ = room;
  }

 private:
  static constexpr size_t kStep = size_t{1} << 19;  // floats: a huge page

  std::shared_ptr<float> main_;                               // the block
  size_t room_ = 0;                                           // floats in the block
  std::vector<std::pair<Mark, AlignedBuffer<float>>> spill_;  // arrays that did not fit
  size_t used_ = 0;                                           // floats, those of spill_ included
  size_t peak_ = 0;                                           // the largest used_ so far
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_CORE_ARENA_H_
