// Reports the tokens of a sentence to Request::on_step, each position once.
#ifndef NIBU_ENGINE_SCHEDULE_STEP_REPORTER_H_
#define NIBU_ENGINE_SCHEDULE_STEP_REPORTER_H_

#include <cstddef>
#include <vector>

#include "engine/request.h"
#include "engine/search/beam_search.h"

namespace nibu::internal {

// Not thread-safe. It lives as long as its request: a sentence that is decoded again, because
// memory ran out, has the same tokens again, which are not reported twice.
class StepReporter {
 public:
  // `on_step` outlives the reporter. If it is empty, nothing is reported.
  explicit StepReporter(const OnStep& on_step) : on_step_(on_step) {}

  bool is_on() const { return on_step_ != nullptr; }
  // Reports the tokens of a forced prefix, after BeamSearch::Reset. Both functions stop the search
  // if on_step asks for it.
  void ReportPrefix(BeamSearch* search);
  // Reports the tokens of the last step.
  void ReportNewest(BeamSearch* search);

 private:
  // Calls on_step, unless the position has been reported in an earlier try.
  void Report(const Step& step);
  // Notes that all tokens of the first `positions` positions have been reported.
  void EndPosition(size_t positions, BeamSearch* search);

  const OnStep& on_step_;
  size_t reported_ = 0;                       // the number of positions that have been reported
  bool is_stopped_ = false;                   // on_step has asked for the end of the sentence
  std::vector<BeamSearch::NewToken> newest_;  // scratch
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_SCHEDULE_STEP_REPORTER_H_
