// Memory that is wanted again and again for a while.
#ifndef NIBU_ENGINE_CORE_BUFFER_POOL_H_
#define NIBU_ENGINE_CORE_BUFFER_POOL_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/algorithm/container.h"
#include "engine/core/aligned_buffer.h"

namespace nibu {

// Hands out buffers; those that nobody else holds any more are handed out again, since a fresh page
// costs more than what is written to it. Holds as many as were held at a time. Not thread-safe, and
// its buffers are let go by the thread that takes them; they may outlive it.
class BufferPool {
 public:
  // At least `bytes` bytes, 64-byte aligned, with anything in them. Throws std::bad_alloc.
  std::shared_ptr<AlignedBuffer<char>> Take(size_t bytes) {
    auto free = absl::c_find_if(buffers_, [](const auto& b) { return b.use_count() == 1; });
    if (free == buffers_.end()) {
      free = buffers_.insert(free, std::make_shared<AlignedBuffer<char>>());
    }
    (*free)->Reserve(bytes);
    return *free;
  }

 private:
  std::vector<std::shared_ptr<AlignedBuffer<char>>> buffers_;
};

}  // namespace nibu

#endif  // NIBU_ENGINE_CORE_BUFFER_POOL_H_
