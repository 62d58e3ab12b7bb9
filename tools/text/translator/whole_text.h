// Whole texts, whose units are translated one by one.
#ifndef NIBU_TOOLS_TEXT_TRANSLATOR_WHOLE_TEXT_H_
#define NIBU_TOOLS_TEXT_TRANSLATOR_WHOLE_TEXT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "nibu/result.h"
#include "nibu/text.h"
#include "tools/text/lines/line_plan.h"

namespace nibu {

struct WholeText {
  std::vector<TextUnit> units;
  std::vector<size_t> same;  // For each unit, the first unit with the same text.
  bool ends_line = false;    // The last line has an end.
  bool ends_open = false;    // See TextReader::is_open.
  std::string language;      // See Result::source_language.
};

// Joins the results of a text's units to one: see Translator::Submit. A unit that has the text of
// another one, or none, has no result of its own. Returns ResourceExhausted if the attention of all
// tokens to all tokens of the source takes too much memory.
absl::StatusOr<Result> JoinUnits(const WholeText& text, std::vector<Result> results,
                                 const internal::LinePlan& plan);

}  // namespace nibu

#endif  // NIBU_TOOLS_TEXT_TRANSLATOR_WHOLE_TEXT_H_
