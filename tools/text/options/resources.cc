// Asks Linux for the cores and the peak memory of the process.
#include "tools/text/options/resources.h"

#include <malloc.h>
#include <sched.h>
#include <sys/resource.h>

#include <fstream>
#include <string>

namespace nibu::internal {

int UsableCores() {
  cpu_set_t cpus;
  return sched_getaffinity(0, sizeof(cpus), &cpus) == 0 ? CPU_COUNT(&cpus) : 1;
}

int64_t PeakMemoryBytes() {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  int64_t kilobytes = usage.ru_maxrss;
  // ru_maxrss may still have the peak before ResetPeakMemory. VmHWM does not.
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word == "VmHWM:") status >> kilobytes;
  }
  return kilobytes * 1024;
}

void ResetPeakMemory() {
  malloc_trim(0);  // gives freed memory back, so that it does not count
  std::ofstream("/proc/self/clear_refs") << "5";
}

}  // namespace nibu::internal
