// Memory in huge pages, for weights: a batch of one reads all of them at every step, and with pages
// of 4 KB it waits for address translation a third of the time.
#ifndef NIBU_ENGINE_CORE_HUGE_MEMORY_H_
#define NIBU_ENGINE_CORE_HUGE_MEMORY_H_

#include <cstddef>
#include <memory>

namespace nibu {

// `bytes` bytes, 64-byte aligned, not initialized, cut from large blocks in huge pages where the
// system has them. A block lives as long as anything cut from it: for what lives as long as a
// model. Thread-safe. Throws std::bad_alloc.
std::shared_ptr<char> AllocateHuge(size_t bytes);

}  // namespace nibu

#endif  // NIBU_ENGINE_CORE_HUGE_MEMORY_H_
