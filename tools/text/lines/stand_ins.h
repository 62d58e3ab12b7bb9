// Tries other names in place of a sentence's protected parts where a translation has lost one, and
// protects its numbers where a translation has changed one.
#ifndef NIBU_TOOLS_TEXT_LINES_STAND_INS_H_
#define NIBU_TOOLS_TEXT_LINES_STAND_INS_H_

#include <vector>

#include "engine/search/beam_search.h"
#include "tools/text/lines/join.h"
#include "tools/text/lines/line_plan.h"

namespace nibu::internal {

// Takes the translations of a part with a trial. Returns true if the part is to be translated once
// more, as `source` and `marked` then say:
// 1. with other names, if a name is missing in the best translation, or occurs several times; with
//    names in place of its numbers, amounts and times, if these differ from the source's;
// 2. without the parts whose names are missing again, or without the numbers that changed again; or
//    without the user's name or URL at the end of the sentence, if its stand-in has moved away from
//    the end ("Ich bin Tom müde").
// Otherwise `hypotheses` are those of the best attempt: with the fewest names lost and numbers
// changed and, of the attempts with and without a part at the end, with the greater log-probability
// for each token.
bool TryStandIns(const LinePlan& plan, const LineParts& line, std::vector<Hypothesis> hypotheses,
                 LinePart* part);

// Ends a trial with the best attempt so far. REQUIRES: TryStandIns has returned true.
void TakeBest(LinePart* part);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_LINES_STAND_INS_H_
