// Memory in huge pages, by mmap and madvise (transparent huge pages).
#include "engine/core/huge_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <new>
#include <utility>

namespace nibu::internal {
namespace {

constexpr size_t kHugePage = size_t{1} << 21;
constexpr size_t kLeastMapping = 16 * kHugePage;

size_t RoundUp(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

// mmap aligns to 4 KB, so a huge page more is mapped, and the block begins at the first address in
// it that is a multiple of 2 MB.
std::shared_ptr<char> MapHuge(size_t bytes) {
  if (bytes > SIZE_MAX / 2) throw std::bad_alloc();
  const size_t size = RoundUp(std::max<size_t>(bytes, 1), kHugePage);
  const size_t mapped = size + kHugePage;
  void* const map =
      mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map == MAP_FAILED) throw std::bad_alloc();
  const auto address = reinterpret_cast<uintptr_t>(map);
  char* const block = static_cast<char*>(map) + (RoundUp(address, kHugePage) - address);
#ifdef MADV_HUGEPAGE
  madvise(block, size, MADV_HUGEPAGE);  // advice: without huge pages it is only slower
#endif
  return {block, [=](char*) { munmap(map, mapped); }};
}

void ProbeMemory(size_t bytes) { MapHuge(bytes); }

// The current block is held weakly: it dies with the last piece of it. The mutex and the pointer
// are never destroyed, so that threads may allocate until the process ends.
std::shared_ptr<char> AllocateHuge(size_t bytes) {
  static std::mutex& mutex = *new std::mutex();
  static std::weak_ptr<char>& current = *new std::weak_ptr<char>();
  static size_t used = 0;
  static size_t size = 0;

  bytes = RoundUp(std::max<size_t>(bytes, 1), 64);
  const std::lock_guard<std::mutex> lock(mutex);
  std::shared_ptr<char> block = current.lock();
  if (block == nullptr || size - used < bytes) {
    const size_t room = RoundUp(std::max(bytes, kLeastMapping), kHugePage);
    block = MapHuge(room);  // may throw, so nothing has changed before
    current = block;
    size = room;
    used = 0;
  }
  char* const memory = block.get() + used;
  used += bytes;
  return {std::move(block), memory};
}

}  // namespace nibu::internal
