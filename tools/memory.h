#ifndef NIBU_TOOLS_MEMORY_H_
#define NIBU_TOOLS_MEMORY_H_

#include <cstdint>

namespace nibu {

// The most memory that this process has held at a time, or since ResetPeakMemory().
int64_t PeakMemoryBytes();

// Starts the peak anew from what is held now.
void ResetPeakMemory();

}  // namespace nibu

#endif  // NIBU_TOOLS_MEMORY_H_
