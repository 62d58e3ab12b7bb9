// Time, memory and cores of the process.
#ifndef NIBU_TOOLS_TEXT_RESOURCES_H_
#define NIBU_TOOLS_TEXT_RESOURCES_H_

#include <chrono>
#include <cstdint>

namespace nibu::internal {

using Clock = std::chrono::steady_clock;

inline double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// The cores that this process may use, at least 1.
int UsableCores();

// The most memory that this process has held at a time, or since ResetPeakMemory().
int64_t PeakMemoryBytes();

// Starts the peak anew from what is held now.
void ResetPeakMemory();

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_RESOURCES_H_
