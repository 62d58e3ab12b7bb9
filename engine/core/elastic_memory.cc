#include "engine/core/elastic_memory.h"

#include <sys/mman.h>

#include <new>

namespace nibu {

ElasticMemory::~ElasticMemory() { Resize(0); }

void ElasticMemory::Resize(size_t bytes) {
  constexpr size_t kPage = 4096;
  const size_t size = (bytes + kPage - 1) / kPage * kPage;
  if (size <= size_ && size_ - size <= size) return;
#ifdef MREMAP_MAYMOVE
  if (size_ > 0 && size > 0) {
    void* const moved = mremap(data_, size_, size, MREMAP_MAYMOVE);
    if (moved != MAP_FAILED) {
      data_ = static_cast<char*>(moved);
      size_ = size;
      return;
    }
  }
#endif
  if (size_ > 0) munmap(data_, size_);
  data_ = nullptr;
  size_ = 0;
  if (size == 0) return;
  void* const mapped =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  data_ = static_cast<char*>(mapped);
  size_ = size;
}

}  // namespace nibu
