// Memory in huge pages. A decoder step reads all of the weights; with 4 KB pages, a single sentence
// would wait a third of its time for TLB misses.
#ifndef NIBU_ENGINE_CORE_HUGE_MEMORY_H_
#define NIBU_ENGINE_CORE_HUGE_MEMORY_H_

#include <cstddef>
#include <memory>

namespace nibu::internal {

// Returns `bytes` bytes from the system: zeros, aligned to 2 MB, in huge pages if the system has
// any. Its last owner gives them back to the system. Thread-safe. Throws std::bad_alloc.
std::shared_ptr<char> MapHuge(size_t bytes);

// Returns `bytes` bytes, 64-byte aligned, cut from blocks of 32 MB (or of `bytes`, if that is more)
// that MapHuge gives. It is for what lives as long as a model, since a block lives as long as
// anything that was cut from it. Thread-safe. Throws std::bad_alloc.
std::shared_ptr<char> AllocateHuge(size_t bytes);

// Throws std::bad_alloc if the system would not give `bytes` bytes now. Call it before code of
// other libraries that does not survive a failed allocation of its own.
void ProbeMemory(size_t bytes);

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_CORE_HUGE_MEMORY_H_
