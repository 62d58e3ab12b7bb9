// Decides when a beam search ends, by the rules of nibu, Marian or Hugging Face (SearchCompat).
//
//  * nibu, and CTranslate2: the next best continuation takes the place of one that has ended. The
//    sentence stops in the step in which round(beam_size * patience) hypotheses have finished, or,
//    without length, word and coverage penalties, once the best continuation of a step has ended
//    and num_hypotheses have finished. At step max_length, each of the best `beam` continuations
//    is finished as it is.
//  * Marian: nothing takes the place of a continuation that has ended, so the beam shrinks. The
//    sentence stops when the beam is empty.
//  * Hugging Face: the sentence stops when beam_size hypotheses have finished and, unless
//    early_stopping is set, the worst of the best beam_size of them scores no less than the best
//    open one would now. If it has not stopped at step max_length, the open ones are finished, too.
#ifndef NIBU_ENGINE_SEARCH_STOP_RULE_H_
#define NIBU_ENGINE_SEARCH_STOP_RULE_H_

#include <memory>

#include "engine/search/beam.h"
#include "engine/search/decoding_options.h"

namespace nibu::internal {

// Immutable; threads may share it.
class StopRule {
 public:
  // `options` outlive the rule.
  static std::unique_ptr<const StopRule> Make(const DecodingOptions& options);
  virtual ~StopRule() = default;

  // Returns whether greedy search ends at the first end token, so that it needs only the best
  // continuation.
  virtual bool ends_greedy_at_once() const = 0;
  // Returns whether the next best continuation takes the place of one that has ended.
  virtual bool refills_beam() const = 0;
  // Returns whether step max_length finishes the best continuations as they are. Otherwise the step
  // is one like all others, after which the open hypotheses are finished unless the sentence is
  // done.
  virtual bool finishes_continuations() const = 0;
  // Returns whether the sentence is done after a step. `length`: tokens of each open hypothesis.
  virtual bool IsDone(const Beam& beam, int length) const = 0;
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_SEARCH_STOP_RULE_H_
