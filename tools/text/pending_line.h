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

// A line whose parts are being translated. Once they are submitted, the translators' callbacks have
// it: those of each translator come one at a time.
struct TextTranslator::Pending {
  // A part on its way through two models.
  struct PivotPart {
    nibu::internal::Request next;  // for the second model, without a source
    PivotSentence sentence = {};
    std::vector<std::vector<Hypothesis>> hypotheses = {};  // of the sentence's parts
    size_t missing = 0;
    absl::Status status = {};  // of the first one that failed
  };

  Request request;
  Done done;
  LineParts line;
  std::vector<PivotPart> pivots;  // with two models, one for each part
  std::vector<Ticket> tickets;    // Submit's until is_submitted, then Cancel's
  std::mutex mutex;               // guards what follows, and the last two fields of PivotPart
  bool is_submitted = false;      // all parts are
  size_t missing = 0;
  absl::Status status;            // of the first part that failed
  std::vector<Ticket> followers;  // of the second model
  bool is_cancelled = false;
};

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_PENDING_LINE_H_
