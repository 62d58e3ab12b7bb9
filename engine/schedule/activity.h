// Counts the work that a translator's threads have done so far.
#ifndef NIBU_ENGINE_SCHEDULE_ACTIVITY_H_
#define NIBU_ENGINE_SCHEDULE_ACTIVITY_H_

#include <cstdint>

namespace nibu::internal {

// The fields are those of nibu::Activity, which documents them.
struct Activity {
  uint64_t waiting = 0;
  uint64_t begun = 0;
  double waited_seconds = 0;
  uint64_t steps = 0;
  uint64_t step_sentences = 0;

  Activity& operator+=(const Activity& other) {
    waiting += other.waiting;
    begun += other.begun;
    waited_seconds += other.waited_seconds;
    steps += other.steps;
    step_sentences += other.step_sentences;
    return *this;
  }
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_SCHEDULE_ACTIVITY_H_
