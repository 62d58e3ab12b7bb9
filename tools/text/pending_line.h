// The state of a TextTranslator's request. Internal to TextTranslator.
#ifndef NIBU_TOOLS_TEXT_PENDING_LINE_H_
#define NIBU_TOOLS_TEXT_PENDING_LINE_H_

#include <cstddef>
#include <mutex>
#include <vector>

#include "absl/status/status.h"
#include "engine/request.h"
#include "tools/text/join.h"
#include "tools/text/pivot.h"
#include "tools/text/text_translator.h"

namespace nibu::internal {

// A line whose parts are being translated. Once they are submitted, the callbacks of the
// translators own it. The callbacks of one translator come one at a time.
struct TextTranslator::Pending {
  // A part of the line on its way through two models.
  struct PivotPart {
    nibu::internal::Request next;  // for the second model, without its source
    PivotSentence sentence = {};   // the translation of the first model
    std::vector<std::vector<Hypothesis>> hypotheses = {};  // for each part of `sentence`
    size_t missing = 0;  // parts of `sentence` without a result, and 1 until all are submitted
    absl::Status status = {};  // the first error of a part of `sentence`
  };

  Request request;
  Done done;
  LineParts line;
  std::vector<PivotPart> pivots;  // for each part, if there are two models
  std::vector<Ticket> tickets;    // only Submit uses them until is_submitted, then only Cancel
  std::mutex mutex;               // guards what follows, and the last two fields of PivotPart
  bool is_submitted = false;      // all parts are submitted
  size_t missing = 0;             // parts without a result
  absl::Status status;            // the first error of a part
  std::vector<Ticket> followers;  // the second model's requests
  bool is_cancelled = false;
};

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_PENDING_LINE_H_
