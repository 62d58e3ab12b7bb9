#include "engine/core/huge_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <new>
#include <utility>

namespace nibu {
namespace {

constexpr size_t kHugePage = size_t{1} << 21;
constexpr size_t kBlock = 16 * kHugePage;

size_t RoundUp(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

std::shared_ptr<char> NewBlock(size_t bytes) {
  void* block = std::aligned_alloc(kHugePage, bytes);
  if (block == nullptr) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
  madvise(block, bytes, MADV_HUGEPAGE);  // advice: without huge pages it is only slower
#endif
  return {static_cast<char*>(block), &std::free};
}

}  // namespace

std::shared_ptr<char> AllocateHuge(size_t bytes) {
  static std::mutex& mutex = *new std::mutex();
  static std::weak_ptr<char>& current = *new std::weak_ptr<char>();
  static size_t used = 0;
  static size_t size = 0;

  bytes = RoundUp(std::max<size_t>(bytes, 1), 64);
  const std::lock_guard<std::mutex> lock(mutex);
  std::shared_ptr<char> block = current.lock();
  if (block == nullptr || size - used < bytes) {
    const size_t room = RoundUp(std::max(bytes, kBlock), kHugePage);
    block = NewBlock(room);  // which may throw
    current = block;
    size = room;
    used = 0;
  }
  char* const memory = block.get() + used;
  used += bytes;
  return {std::move(block), memory};
}

}  // namespace nibu
