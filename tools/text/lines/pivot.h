// Two models in a row: hands a sentence from the first to the second, and joins what the second one
// makes of it. Pure functions, which threads may call at the same time.
//
//   A [Z, S] = P [Z, T1] A1 [T1, S]      ReadPivot: PivotSentence::sources
//   B [T2, S] = A2 [T2, Z] A             JoinPivot: the attention of the result
//
// S pieces of the source, T1 tokens of the first model's translation, Z pieces of the same text as
// the second model reads it, T2 tokens of its translation. A1 and A2 are the models' attention. P
// has the share of each token in the bytes of each piece, since the two vocabularies differ.
#ifndef NIBU_TOOLS_TEXT_LINES_PIVOT_H_
#define NIBU_TOOLS_TEXT_LINES_PIVOT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/search/beam_search.h"
#include "tools/text/lines/join.h"
#include "tools/text/lines/line_plan.h"
#include "tools/text/model/text_coder.h"

namespace nibu::internal {

// A sentence in the language between two models: the translation of the first one, as the second
// one reads it.
struct PivotSentence {
  // The text, in parts that the second model can take; none if the text is blank.
  std::vector<EncodedText> parts;
  // [Z, S]: the weight of each source piece for each piece of all parts, without language tokens.
  // Empty if the first model's hypothesis has no attention.
  AttentionRows sources;
  bool finished = true;     // as the first model's hypothesis
  bool repetition = false;  // as the first model's hypothesis
};

// Reads the first model's translation of `source`. `front` stands in front of the line for the
// second model (see LineParts::pivot_front).
absl::StatusOr<PivotSentence> ReadPivot(const PivotPlan& plan, const std::string& front,
                                        const EncodedText& source, const Hypothesis& translation);

// Joins the hypotheses that the second model has for each part. Their attention is that to the
// pieces of `source`, with the special tokens of the second model's frame around them.
absl::StatusOr<std::vector<Hypothesis>> JoinPivot(
    const PivotPlan& plan, const EncodedText& source, const PivotSentence& sentence,
    const std::vector<std::vector<Hypothesis>>& parts);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_LINES_PIVOT_H_
