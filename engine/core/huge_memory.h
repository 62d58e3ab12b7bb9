// Memory in huge pages: a step reads all of the weights, and with pages of 4 KB it waits for
// address translation, a batch of one a third of the time.
#ifndef NIBU_ENGINE_CORE_HUGE_MEMORY_H_
#define NIBU_ENGINE_CORE_HUGE_MEMORY_H_

#include <cstddef>
#include <memory>

namespace nibu::internal {

// `bytes` bytes from the system, zeros, aligned to a huge page, in huge pages where there are any.
// They go back to it. Thread-safe. Throws std::bad_alloc.
std::shared_ptr<char> MapHuge(size_t bytes);

// `bytes` bytes, 64-byte aligned, cut from large blocks of that. A block lives as long as anything
// cut from it: for what lives as long as a model. Thread-safe. Throws std::bad_alloc.
std::shared_ptr<char> AllocateHuge(size_t bytes);

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_CORE_HUGE_MEMORY_H_
