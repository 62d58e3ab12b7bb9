// Hides capitals from the model, which was trained on text in sentence case.
#ifndef NIBU_TOOLS_TEXT_LINES_CAPITALS_H_
#define NIBU_TOOLS_TEXT_LINES_CAPITALS_H_

#include "tools/text/lines/line_plan.h"
#include "tools/text/marked/marked_text.h"

namespace nibu::internal {

// Rewrites the words of a sentence that are in capitals, and annotates them so that their
// translations come out in capitals. A sentence all in capitals gets sentence case. Words are
// rewritten where one of them, or of those beside it, has three letters or more and is one piece of
// the vocabulary in lower case ("NOT", "DO NOT", but neither "IT" nor "BMX"); in a sentence in
// capitals, fewer pieces than in capitals are enough. A word with fewer pieces in capitals stays
// ("USA"). Does nothing without Protected::kCapitals, and with a glossary, whose terms are found as
// they are written.
void ReadCapitals(const LinePlan& plan, MarkedText* sentence);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_LINES_CAPITALS_H_
