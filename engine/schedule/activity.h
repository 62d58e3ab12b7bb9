// Adds up the work of several translators.
#ifndef NIBU_ENGINE_SCHEDULE_ACTIVITY_H_
#define NIBU_ENGINE_SCHEDULE_ACTIVITY_H_

#include "nibu/engine.h"

namespace nibu::internal {

using nibu::Activity;

inline Activity& operator+=(Activity& sum, const Activity& other) {
  sum.waiting += other.waiting;
  sum.begun += other.begun;
  sum.waited_seconds += other.waited_seconds;
  sum.steps += other.steps;
  sum.step_sentences += other.step_sentences;
  return sum;
}

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_SCHEDULE_ACTIVITY_H_
