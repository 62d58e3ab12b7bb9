// Scratch memory of a worker.
#ifndef NIBU_ENGINE_CORE_ARENA_H_
#define NIBU_ENGINE_CORE_ARENA_H_

#include <cstddef>
#include <vector>

#include "engine/core/aligned_buffer.h"

namespace nibu {

// Hands out 64-byte aligned arrays that live until the next Reset. Grows while it warms up and then
// never allocates again. Not thread-safe.
class Arena {
 public:
  float* Floats(size_t n) {
    n = (n + 15) / 16 * 16;
    if (used_ + n > main_.size()) {
      spill_.emplace_back(n);
      spilled_ += n;
      return spill_.back().data();
    }
    float* result = main_.data() + used_;
    used_ += n;
    return result;
  }

  // Takes everything back. What did not fit last time will fit next time.
  void Reset() {
    if (!spill_.empty()) {
      const size_t size = used_ + spilled_;
      spill_.clear();
      main_ = AlignedBuffer<float>();
      main_ = AlignedBuffer<float>(size);
      spilled_ = 0;
    }
    used_ = 0;
  }

 private:
  AlignedBuffer<float> main_;
  size_t used_ = 0;
  std::vector<AlignedBuffer<float>> spill_;
  size_t spilled_ = 0;
};

}  // namespace nibu

#endif  // NIBU_ENGINE_CORE_ARENA_H_
