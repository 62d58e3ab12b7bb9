// Scratch memory of a worker.
#ifndef NIBU_ENGINE_CORE_ARENA_H_
#define NIBU_ENGINE_CORE_ARENA_H_

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "engine/core/aligned_buffer.h"
#include "engine/core/huge_memory.h"

namespace nibu::internal {

// A stack of 64-byte aligned arrays. It grows while it warms up and then never allocates again. Not
// thread-safe. Throws std::bad_alloc, and stays as it was but for what a Rewind takes back.
class Arena {
 public:
  using Mark = size_t;

  // n floats, not initialized, valid until a Rewind to an earlier mark.
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

  // Takes back everything since the mark. When that empties the arena, what did not fit will fit
  // the next time.
  void Rewind(Mark mark) {
    used_ = mark;
    while (!spill_.empty() && spill_.back().first >= mark) spill_.pop_back();
    if (mark > 0 || peak_ <= room_) return;
    room_ = 0;
    main_ = nullptr;  // not both at a time
    const size_t room = (peak_ + kStep - 1) / kStep * kStep;
    main_ = std::reinterpret_pointer_cast<float>(MapHuge(room * sizeof(float)));
    room_ = room;
  }

 private:
  static constexpr size_t kStep = size_t{1} << 19;  // floats: a huge page

  std::shared_ptr<float> main_;
  size_t room_ = 0;  // floats
  std::vector<std::pair<Mark, AlignedBuffer<float>>> spill_;
  size_t used_ = 0;
  size_t peak_ = 0;
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_CORE_ARENA_H_
