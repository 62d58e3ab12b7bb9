// Implements PendingLine's functions for two models in a row, which hand the first model's
// translations to the second one.
#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

#include "engine/core/exception_status.h"
#include "tools/text/lines/pivot.h"
#include "tools/text/translator/pending_line.h"

namespace nibu::internal {

Request PendingLine::MakeFirstRequest(Request request) {
  const LinePlan& first = plan_->lines->pivot->first;
  Request& next = pivots_.emplace_back().next;
  next = std::move(request);
  next.continues = true;
  return {.source = std::move(next.source),
          .plan = first.searches[next.plan->options().return_attention][true],
          .priority = next.priority,
          .deadline = next.deadline,
          .key = next.key};
}

void PendingLine::Continue(size_t part, const Hypothesis& translation) {
  PivotPart& pivot = pivots_[part];
  absl::StatusOr<PivotSentence> read =
      ReadPivot(*plan_->lines->pivot, line_.pivot_front, line_.parts[part].source, translation);
  if (!read.ok()) return Take(part, read.status());
  pivot.sentence = *std::move(read);
  const size_t count = pivot.sentence.parts.size();
  try {
    pivot.hypotheses.resize(count);
  } catch (...) {
    return Take(part, StatusOfException());
  }
  // The extra one keeps the sentence open until all requests are submitted.
  pivot.missing = 1 + count;
  for (size_t i = 0; i < count; ++i) {
    const absl::Status status = SubmitPivot(part, i);
    if (!status.ok()) TakePivot(part, i, status);
  }
  TakePivot(part, count, std::vector<Hypothesis>());
}

absl::Status PendingLine::SubmitPivot(size_t part, size_t index) try {
  const LinePlan& plan = plan_->lines->pivot->second;
  const PivotPart& pivot = pivots_[part];
  Request request = pivot.next;
  request.source = plan.coder.Ids(pivot.sentence.parts[index].pieces);
  if (index > 0) {  // Prefix, constraints and alternatives belong to the sentence's first request.
    request.target_prefix.clear();
    request.max_length.reset();
    request.constraints.clear();
    request.plan = plan.searches[request.plan->options().return_attention][false];
  }
  return SubmitFollower(plan_->pivot_engine->translator.get(), std::move(request),
                        [self = shared_from_this(), part, index](uint64_t, Result r) {
                          self->TakePivot(part, index, std::move(r));
                        });
} catch (...) {
  return StatusOfException();
}

void PendingLine::TakePivot(size_t part, size_t index, Result result) {
  PivotPart& pivot = pivots_[part];
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    pivot.status.Update(result.status());
    if (result.ok() && index < pivot.hypotheses.size()) {
      pivot.hypotheses[index] = *std::move(result);
    }
    if (--pivot.missing > 0) return;
  }
  if (!pivot.status.ok()) return Take(part, pivot.status);
  Take(part,
       JoinPivot(*plan_->lines->pivot, line_.parts[part].source, pivot.sentence, pivot.hypotheses));
}

}  // namespace nibu::internal
