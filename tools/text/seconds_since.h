#ifndef NIBU_TOOLS_TEXT_SECONDS_SINCE_H_
#define NIBU_TOOLS_TEXT_SECONDS_SINCE_H_

#include <chrono>

namespace nibu {

using Clock = std::chrono::steady_clock;

inline double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace nibu

#endif  // NIBU_TOOLS_TEXT_SECONDS_SINCE_H_
