// Time, memory and cores of the process.
#ifndef NIBU_TOOLS_TEXT_OPTIONS_RESOURCES_H_
#define NIBU_TOOLS_TEXT_OPTIONS_RESOURCES_H_

#include <chrono>
#include <cstdint>

namespace nibu::internal {

using Clock = std::chrono::steady_clock;

inline double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Returns the number of cores that this process may use, at least 1.
int UsableCores();

// Returns the most memory in bytes that this process has held at a time, since its start or since
// ResetPeakMemory().
int64_t PeakMemoryBytes();

// Sets the peak to the memory that is held now.
void ResetPeakMemory();

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_OPTIONS_RESOURCES_H_
