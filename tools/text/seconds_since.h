#ifndef NIBU_TOOLS_TEXT_SECONDS_SINCE_H_
#define NIBU_TOOLS_TEXT_SECONDS_SINCE_H_

#include <chrono>

namespace nibu {

inline double SecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace nibu

#endif  // NIBU_TOOLS_TEXT_SECONDS_SINCE_H_
