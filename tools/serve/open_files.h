// The number of files, connections among them, that a process may have open.
#ifndef NIBU_TOOLS_SERVE_OPEN_FILES_H_
#define NIBU_TOOLS_SERVE_OPEN_FILES_H_

#include <sys/resource.h>

#include <cstddef>
#include <limits>

namespace nibu::internal {

// Raises the limit, which is usually 1,024, as far as the program itself may, and returns it.
inline size_t RaiseOpenFiles() {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return std::numeric_limits<size_t>::max();
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  return size_t{files.rlim_cur};
}

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_SERVE_OPEN_FILES_H_
