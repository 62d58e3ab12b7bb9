// Operators new and delete of the test program that count allocations, and fail when told to.
#ifndef NIBU_TESTS_ENGINE_MEMORY_HOOKS_H_
#define NIBU_TESTS_ENGINE_MEMORY_HOOKS_H_

#include <cstdint>

namespace nibu::internal {

// Returns the number of allocations so far, on all threads.
int64_t Allocations();

// Lets the n-th allocation from now on fail, on whatever thread, and those after it, `count` in
// all. Memory that the system maps for MapHuge counts too, except under sanitizers. oneDNN's own
// allocations never fail: when it runs out of memory, it keeps a lock and loses what it has.
void FailAllocation(int64_t n, int64_t count = 1);
// Lets no allocation fail from now on. Returns whether one has failed.
bool StopFailing();

}  // namespace nibu::internal

#endif  // NIBU_TESTS_ENGINE_MEMORY_HOOKS_H_
