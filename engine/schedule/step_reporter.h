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
  // `on_step` outlives the reporter; if it is empty, nothing is reported.
  explicit StepReporter(const OnStep& on_step) : on_step_(on_step) {}

  bool is_on() const { return on_step_ != nullptr; }
  // Reports the tokens of a forced prefix, after BeamSearch::Reset. Both functions stop the search
  // if on_step asks for it.
  void ReportPrefix(BeamSearch* search);
  // Reports the tokens of the last step.
  void ReportNewest(BeamSearch* search);

 private:
  void Report(const Step& step);
  // All tokens of the first `positions` positions have been reported.
  void EndPosition(size_t positions, BeamSearch* search);

  const OnStep& on_step_;
  size_t reported_ = 0;  // positions
  bool is_stopped_ = false;
  std::vector<BeamSearch::NewToken> newest_;  // scratch
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_SCHEDULE_STEP_REPORTER_H_
