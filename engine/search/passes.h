// Decides whether a sentence is decoded again, with what was learned from the last pass.
//
//  * If the best hypothesis does not meet all constraints, those that it misses are dropped and the
//    sentence is decoded again: a search that waits for a phrase in vain runs on beyond its end.
//  * OnRepetition::kRetry: if the best hypothesis repeats itself (see HasLoop), a second pass
//    forbids repeated 3-grams. A third pass scores the second's result without that rule, so that
//    the two can be compared; the better one by constraints met, then by score, is taken.
#ifndef NIBU_ENGINE_SEARCH_PASSES_H_
#define NIBU_ENGINE_SEARCH_PASSES_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "engine/search/hypothesis.h"
#include "engine/search/search_task.h"

namespace nibu::internal {

// Not thread-safe. It cannot be moved, since its tasks point into it.
class Passes {
 public:
  // `task`: the task of the first pass.
  explicit Passes(const SearchTask& task) : prefix_(task.prefix), task_(task) {}
  Passes(const Passes&) = delete;
  Passes& operator=(const Passes&) = delete;

  // The task of the pass that comes next. Valid until the next call of NeedsAnotherPass.
  const SearchTask& task() const { return task_; }

  // Accepts the hypotheses that a pass has found, best first, and returns whether another pass is
  // needed. If it throws std::bad_alloc, it has not changed anything.
  bool NeedsAnotherPass(std::vector<Hypothesis> found);

  // Returns the hypotheses of the sentence, once no other pass is needed.
  std::vector<Hypothesis> TakeResult() { return std::move(result_); }

 private:
  enum class Stage : uint8_t { kSearch, kWithoutRepetition, kScore };

  // Drops the constraints that are not in `met` and returns whether there were any.
  bool DropMissedConstraints(ConstraintSet met);
  // Begins the pass that scores `found`.
  void BeginScoring(std::vector<Hypothesis> found);
  // Gives the hypothesis the scores of the pass that scored it, as a search would have given them.
  void Rescore(std::vector<float> scores, Hypothesis* hypothesis) const;

  const absl::Span<const int> prefix_;
  SearchTask task_;
  Stage stage_ = Stage::kSearch;
  std::vector<Constraint> constraints_;         // those left, once some have been dropped
  std::vector<int> target_;                     // the tokens that the last pass scores
  std::vector<Hypothesis> result_;              // of the first pass; in the end, the better ones
  std::vector<Hypothesis> without_repetition_;  // of the second pass
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_SEARCH_PASSES_H_
