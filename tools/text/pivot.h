// Two models in a row: a sentence between them.
#ifndef NIBU_TOOLS_TEXT_PIVOT_H_
#define NIBU_TOOLS_TEXT_PIVOT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/search/beam_search.h"
#include "tools/text/join.h"
#include "tools/text/text_coder.h"
#include "tools/text/text_plan.h"

namespace nibu::internal {

// A sentence in the language between two models: the translation of the first one, as the second
// one reads it.
struct PivotSentence {
  std::vector<CodedText> parts;  // of so many pieces as the second model can take; none: no text
  // How much each piece (of all parts, without language tokens) has of each piece of the source.
  // Empty if the first hypothesis has no attention.
  AttentionRows sources;
  bool finished = true;
  bool repetition = false;
};

// Reads the first model's translation of `source`. `front` stands in front of the line for the
// second model (see LineParts::pivot_front).
absl::StatusOr<PivotSentence> ReadPivot(const PivotPlan& plan, const std::string& front,
                                        const CodedText& source, const Hypothesis& translation);

// Makes hypotheses of those that the second model has for each part. Their attention is that to
// the source: the product of both models' attention, in the form that the second model's has.
absl::StatusOr<std::vector<Hypothesis>> JoinPivot(
    const PivotPlan& plan, const CodedText& source, const PivotSentence& sentence,
    const std::vector<std::vector<Hypothesis>>& parts);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_PIVOT_H_
