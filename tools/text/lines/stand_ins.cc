// Compares the translations of a sentence that were made with different protected parts, or names
// in their places.
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

namespace {

// Protects the numbers of a sentence. A sentence with more of them than there are names for stays.
void ProtectAmounts(const LinePlan& plan, MarkedText* sentence) {
  const std::vector<TextSpan> amounts = FindAmounts(sentence->text);
  const auto names = absl::c_count_if(
      plan.names, [](const std::string& name) { return absl::ascii_isdigit(name[0]); });
  if (amounts.size() <= static_cast<size_t>(names)) ProtectSpans(amounts, sentence);
}

// Returns the protected numbers of a sentence, as numbers of annotations.
std::vector<size_t> NumbersOf(const MarkedText& sentence) {
  std::vector<size_t> numbers;
  for (size_t i = 0; i < sentence.annotations.size(); ++i) {
    const Annotation& part = sentence.annotations[i];
    if (part.replaces && StandInFor(part.before, "") == StandIn::kNumber) numbers.push_back(i);
  }
  return numbers;
}

}  // namespace

bool TryStandIns(const LinePlan& plan, const LineParts& line, std::vector<Hypothesis> hypotheses,
                 LinePart* part) {
  StandInTrial& trial = *part->trial;
  std::vector<AlignedToken> aligned;
  const std::string target = ReadTarget(plan, *part, hypotheses[0], &aligned);
  Misplaced misplaced = FindMisplaced(part->marked, target, aligned);
  const bool changes =
      plan.protect[Protected::kNumbers] && !HasSameNumbers(part->marked.text, target, line.said);
  const size_t wrong = misplaced.parts.size() + (changes ? 1 : 0);
  const double score = hypotheses[0].log_prob /
                       static_cast<double>(std::max<size_t>(1, hypotheses[0].token_scores.size()));
  const int attempt = trial.attempts++;
  if (attempt == 0 || wrong < trial.wrong ||
      (wrong == 0 && trial.wrong == 0 && score > trial.score)) {
    trial.wrong = wrong;
    trial.score = score;
    trial.marked = part->marked;
    trial.source = part->source;
    trial.hypotheses = std::move(hypotheses);
  }
  // A placeholder at the end is a word of its sentence, and another language may have another
  // order.
  const bool ends_moved =
      attempt == 0 && wrong == 0 && misplaced.moved.has_value() &&
      StandsApart(absl::StripAsciiWhitespace(part->marked.annotations[*misplaced.moved].before));
  if (ends_moved || (attempt < 2 && wrong > 0)) {
    std::vector<std::string> names = plan.names;
    std::vector<size_t> left_out;
    if (ends_moved) {
      left_out = {*misplaced.moved};
      trial.attempts = 2;
    } else if (attempt > 0) {
      left_out = misplaced.parts.empty() ? NumbersOf(trial.sentence) : misplaced.parts;
    } else {
      if (changes) ProtectAmounts(plan, &trial.sentence);
      std::erase_if(names, [&](const std::string& name) {
        return !misplaced.parts.empty() && absl::StrContains(part->marked.text, name);
      });
    }
    MarkedText marked = MaskProtected(trial.sentence, names, left_out);
    const TextCoder::Line front = plan.coder.ParseLine(line.front, /*split=*/true);
    absl::StatusOr<EncodedText> source = plan.coder.Encode(front, marked.text);
    if (source.ok() && !source->own().empty() && source->pieces.size() <= plan.limit &&
        marked.text != part->marked.text) {
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
