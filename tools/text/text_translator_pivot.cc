// Implements TextTranslator's functions for two models in a row, which hand the first model's
// translations to the second one.
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "engine/core/exception_status.h"
#include "engine/core/status_macros.h"
#include "tools/text/pending_line.h"
#include "tools/text/pivot.h"
#include "tools/text/text_translator.h"

namespace nibu::internal {

void TextTranslator::Continue(const std::shared_ptr<Pending>& pending, size_t part,
                              const Hypothesis& translation) {
  Pending::PivotPart& pivot = pending->pivots[part];
  absl::StatusOr<PivotSentence> read =
      ReadPivot(*pending->request.plan->pivot, pending->line.pivot_front,
                pending->line.parts[part].source, translation);
  if (!read.ok()) return Take(pending, part, read.status());
  pivot.sentence = *std::move(read);
  const size_t count = pivot.sentence.parts.size();
  try {
    pivot.hypotheses.resize(count);
  } catch (...) {
    return Take(pending, part, StatusOfException());
  }
  // The extra one keeps the sentence open until all requests are submitted.
  pivot.missing = 1 + count;
  for (size_t i = 0; i < count; ++i) {
    const absl::Status status = SubmitPivot(pending, part, i);
    if (!status.ok()) TakePivot(pending, part, i, status);
  }
  TakePivot(pending, part, count, std::vector<Hypothesis>());
}

absl::Status TextTranslator::SubmitPivot(const std::shared_ptr<Pending>& pending, size_t part,
                                         size_t index) try {
  const PivotPlan& plan = *pending->request.plan->pivot;
  const Pending::PivotPart& pivot = pending->pivots[part];
  nibu::internal::Request request = pivot.next;
  request.source = plan.second.coder.Ids(pivot.sentence.parts[index].pieces);
  if (index > 0) {  // Prefix, constraints and alternatives belong to the sentence's first request.
    request.target_prefix.clear();
    request.max_length.reset();
    request.constraints.clear();
    request.plan = plan.second.searches.For(request.plan->options().return_attention,
                                            /*has_alternatives=*/false);
  }
  {
    const std::lock_guard<std::mutex> lock(pending->mutex);
    pending->followers.reserve(pending->followers.size() + 1);  // Nothing throws after Submit.
  }
  NIBU_ASSIGN_OR_RETURN(
      const Ticket ticket,
      plan.translator->Submit(std::move(request), [this, pending, part, index](uint64_t, Result r) {
        TakePivot(pending, part, index, std::move(r));
      }));
  const std::lock_guard<std::mutex> lock(pending->mutex);
  pending->followers.push_back(ticket);
  if (pending->is_cancelled) plan.translator->Cancel(ticket);
  return absl::OkStatus();
} catch (...) {
  return StatusOfException();
}

void TextTranslator::TakePivot(const std::shared_ptr<Pending>& pending, size_t part, size_t index,
                               Result result) {
  Pending::PivotPart& pivot = pending->pivots[part];
  {
    const std::lock_guard<std::mutex> lock(pending->mutex);
    pivot.status.Update(result.status());
    if (result.ok() && index < pivot.hypotheses.size()) {
      pivot.hypotheses[index] = *std::move(result);
    }
    if (--pivot.missing > 0) return;
  }
  if (!pivot.status.ok()) return Take(pending, part, pivot.status);
  Take(pending, part,
       JoinPivot(*pending->request.plan->pivot, pending->line.parts[part].source, pivot.sentence,
                 pivot.hypotheses));
}

}  // namespace nibu::internal
