// The test program's own operators new and delete: they count, and fail when told to.
#ifndef NIBU_TESTS_ENGINE_MEMORY_HOOKS_H_
#define NIBU_TESTS_ENGINE_MEMORY_HOOKS_H_

#include <cstdint>

namespace nibu::internal {

// Allocations so far, on all threads.
int64_t Allocations();

// The n-th allocation from now on fails, on whatever thread, and so do those after it, `count` in
// all. Memory that the system maps for MapHuge counts, too, without sanitizers. oneDNN's own
// are left alone: when it runs out of memory, it keeps a lock and loses what it has.
void FailAllocation(int64_t n, int64_t count = 1);
// None fails from now on. Whether one has.
bool StopFailing();

}  // namespace nibu::internal

#endif  // NIBU_TESTS_ENGINE_MEMORY_HOOKS_H_
