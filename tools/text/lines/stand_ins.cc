// Compares the translations that were made with different names in place of protected parts.
#include "tools/text/lines/stand_ins.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "tools/text/marked/protect.h"

namespace nibu::internal {

bool TryStandIns(const LinePlan& plan, const LineParts& line, std::vector<Hypothesis> hypotheses,
                 LinePart* part) {
  StandInTrial& trial = *part->trial;
  std::vector<AlignedToken> aligned;
  const std::string target = ReadTarget(plan, *part, hypotheses[0], &aligned);
  Misplaced misplaced = FindMisplaced(part->marked, target, aligned);
  const size_t missing = misplaced.parts.size();
  const double score = hypotheses[0].log_prob /
                       static_cast<double>(std::max<size_t>(1, hypotheses[0].token_scores.size()));
  const int attempt = trial.attempts++;
  if (attempt == 0 || missing < trial.missing ||
      (missing == 0 && trial.missing == 0 && score > trial.score)) {
    trial.missing = missing;
    trial.score = score;
    trial.marked = part->marked;
    trial.source = part->source;
    trial.hypotheses = std::move(hypotheses);
  }
  // A placeholder at the end is a word of its sentence, and another language may have another
  // order.
  const bool ends_moved =
      attempt == 0 && missing == 0 && misplaced.moved.has_value() &&
      StandsApart(absl::StripAsciiWhitespace(part->marked.annotations[*misplaced.moved].before));
  if (ends_moved || (attempt < 2 && missing > 0)) {
    std::vector<std::string> names = plan.names;
    std::vector<size_t> left_out;
    if (ends_moved) {
      left_out = {*misplaced.moved};
      trial.attempts = 2;
    } else if (attempt == 0) {
      std::erase_if(names, [&](const std::string& name) {
        return absl::StrContains(part->marked.text, name);
      });
    } else {
      left_out = misplaced.parts;
    }
    MarkedText marked = MaskProtected(trial.sentence, names, left_out);
    const TextCoder::Line front = plan.coder.ParseLine(line.front, /*split=*/true);
    absl::StatusOr<EncodedText> source = plan.coder.Encode(front, marked.text);
    if (source.ok() && !source->own().empty() && source->pieces.size() <= plan.limit) {
      part->marked = std::move(marked);
      part->source = *std::move(source);
      return true;
    }
  }
  TakeBest(part);
  return false;
}

void TakeBest(LinePart* part) {
  StandInTrial& trial = *part->trial;
  part->marked = std::move(trial.marked);
  part->source = std::move(trial.source);
  part->hypotheses = std::move(trial.hypotheses);
}

}  // namespace nibu::internal
