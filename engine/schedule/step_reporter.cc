// Reports tokens to Request::on_step and stops the search when it asks for that.
#include "engine/schedule/step_reporter.h"

#include <algorithm>

namespace nibu::internal {

void StepReporter::ReportPrefix(BeamSearch* search) {
  if (!is_on()) return;
  const SearchTask& task = search->task();
  const auto hypotheses = static_cast<size_t>(task.options().branches());
  for (size_t i = 0; i < task.forced(); ++i) {
    const bool is_last = search->done() && i + 1 == task.forced();
    for (size_t h = 0; h < hypotheses; ++h) Report({h, i, task.prefix[i], 0, is_last});
    EndPosition(i + 1, search);
  }
}

void StepReporter::ReportNewest(BeamSearch* search) {
  if (!is_on()) return;
  search->NewTokens(&newest_);
  const size_t position = static_cast<size_t>(search->length()) - 1;
  for (const BeamSearch::NewToken& newest : newest_) {
    Report({newest.branch, position, newest.token.token, newest.token.log_prob, newest.is_last});
  }
  EndPosition(position + 1, search);
}

void StepReporter::Report(const Step& step) {
  if (is_stopped_ || step.position < reported_) return;
  try {
    is_stopped_ = on_step_(step);
  } catch (...) {
    is_stopped_ = true;
  }
}

// A sentence that was stopped and is decoded again is stopped at the same position.
void StepReporter::EndPosition(size_t positions, BeamSearch* search) {
  reported_ = std::max(reported_, positions);
  if (is_stopped_ && positions == reported_) search->Stop();
}

}  // namespace nibu::internal
