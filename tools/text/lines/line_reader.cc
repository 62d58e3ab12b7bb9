// Implements the steps of line_reader.h: LineReader reads one line in the order of its functions.
#include "tools/text/lines/line_reader.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "engine/core/status_macros.h"
#include "tokenizer/subwords/long_input.h"
#include "tokenizer/unicode/characters.h"
#include "tools/text/lines/capitals.h"
#include "tools/text/lines/line_sections.h"
#include "tools/text/marked/tag_values.h"

namespace nibu::internal {
namespace {

// Returns a translation of `source` (a result of MaskProtected), or its beginning, as the model
// would write it: each protected part becomes its name, or nothing if it has none.
std::string MaskTarget(const MarkedText& source, std::string target) {
  for (const Annotation& annotation : source.annotations) {
    if (!annotation.replaces) continue;
    const TextSpan& name = annotation.span;
    absl::StrReplaceAll({{std::string(absl::StripAsciiWhitespace(annotation.before)),
                          source.text.substr(name.begin, name.end - name.begin)}},
                        &target);
  }
  return target;
}

// Returns whether names stand for parts of a result of MaskProtected.
bool HasNames(const MarkedText& marked) {
  return absl::c_any_of(marked.annotations, [](const Annotation& each) {
    return each.replaces && each.span.begin < each.span.end;
  });
}

// Reads one line. Refers to what it is made of, which must outlive it.
class LineReader {
 public:
  LineReader(const LinePlan& plan, const std::string& prefix,
             const std::optional<std::string>& target)
      : plan_(plan), prefix_(prefix), target_(target) {
    splits_ = plan_.splitter != nullptr;
    if (splits_) prefixes_ = plan_.prefix_splitter->Split(prefix_);
    if (splits_ && target_.has_value()) {
      marked_target_ = {*target_};
      ProtectParts(plan_, &marked_target_);
      targets_ = SplitBesideParts(*plan_.prefix_splitter, marked_target_);
    }
  }

  // A target that is scored sentence by sentence must have the line's sentences. If it has others,
  // its sentences without letters are joined with the one in front (JoinTargets); if there are
  // none, or it does not help, the line is read and scored as one sentence.
  absl::StatusOr<LineParts> Read(const MarkedLine& unread) {
    const MarkedLine line = target_.has_value() ? unread : ReadMarks(plan_, unread);
    NIBU_RETURN_IF_ERROR(ReadSegments(line));
    if (!TargetMatches() && JoinTargets()) NIBU_RETURN_IF_ERROR(ReadSegments(line));
    if (!TargetMatches()) {
      splits_ = false;
      NIBU_RETURN_IF_ERROR(ReadSegments(line));
      line_.scored_whole = !IsBlank(*target_);
    }
    line_.matches_target = splits_ && target_.has_value();
    return std::move(line_);
  }

 private:
  // Joins each sentence of the target that has no letters ("😀" of "Hallo! 😀") with the one in front
  // of it. Returns false if there are none.
  bool JoinTargets() {
    std::vector<TextSpan> joined;
    for (const TextSpan& span : targets_) {
      if (joined.empty() || HasLetters(Cut(marked_target_, {span})[0])) {
        joined.push_back(span);
      } else {
        joined.back().end = span.end;
      }
    }
    targets_.swap(joined);
    return targets_.size() < joined.size();
  }

  // Returns true if the target has as many sentences as the line, and the copied ones among them
  // are equal, or if no target is read sentence by sentence.
  bool TargetMatches() const {
    return !splits_ || !target_.has_value() || (matches_ && sentences_ == targets_.size());
  }

  // Fills line_ from the beginning. line_.behind collects the text that is not translated, until
  // AddPart moves it in front of the next part.
  absl::Status ReadSegments(const MarkedLine& line) {
    line_ = LineParts();
    matches_ = true;
    sentences_ = 0;
    line_.said = {plan_.source_numbers.get(), plan_.target_numbers.get()};
    line_.is_scored = target_.has_value();
    line_.is_marked = line.is_marked;
    for (const MarkedLine::Segment& segment : line.segments) {
      line_.behind += segment.untouched;
      line_.values += segment.is_value ? 1 : 0;
      MarkedText text = segment.marked;
      if (text.page != PageValue::kNone) {
        line_.behind += WritePageValue(text, plan_.target_language);
        continue;
      }
      // Step 1: what stands in front of the line is taken off its first segment.
      if (&segment == &line.segments.front()) {
        Front front = ReadFront(plan_, segment.marked.text, splits_);
        front_ = std::move(front.line);
        NIBU_RETURN_IF_ERROR(plan_.coder.CheckLanguageToken(front_.text));
        if (plan_.pivot != nullptr) {
          NIBU_RETURN_IF_ERROR(plan_.pivot->second.coder.CheckLanguageToken(front_.text));
        }
        line_.pivot_front = std::move(front.pivot);
        const size_t taken = text.text.size() - front_.text.size();
        line_.front = text.text.substr(0, taken);
        if (taken > 0) text = std::move(Cut(text, {{taken, text.text.size()}})[0]);
      }
      NIBU_RETURN_IF_ERROR(ReadText(std::move(text)));
    }
    line_.behind += line.untouched;
    if (!line_.parts.empty()) {
      SetPrefix(prefix_.size());  // the last sentence gets the rest of the prefix
    } else if (!IsBlank(line_.behind) && !IsBlank(prefix_)) {
      // Nothing is translated, e.g. of a line of emoji. The prefix still begins its translation.
      line_.behind = absl::StrCat(prefix_, " ", absl::StripLeadingAsciiWhitespace(line_.behind));
    }
    return absl::OkStatus();
  }

  // Reads a segment (steps 2 to 4).
  absl::Status ReadText(MarkedText text) {
    ProtectParts(plan_, &text);
    line_.has_messages |= absl::c_any_of(text.annotations, [](const Annotation& each) {
      return each.replaces && HasTexts(each.before);
    });
    std::vector<TextSpan> spans;
    if (splits_ && !front_.is_one) {
      spans = SplitBesideParts(*plan_.splitter, text);
    } else if (!IsBlank(text.text)) {
      spans = {{0, text.text.size()}};
    }
    // Sentences are at the odd indices of `texts`. The white space before a sentence is its part's
    // `before`, unless tags stand there: then it is copied with them.
    std::vector<MarkedText> texts = CutAround(text, spans);
    for (size_t i = 0;; i += 2) {
      std::string between = Write(texts[i]);
      const bool is_last = i + 1 == texts.size();
      if (is_last || !texts[i].annotations.empty()) line_.behind += std::exchange(between, "");
      if (is_last) return absl::OkStatus();
      NIBU_RETURN_IF_ERROR(ReadEdges(std::move(between), std::move(texts[i + 1])));
    }
  }

  // Copies the parts at the edges of a sentence that are no words of it, and reads the rest. A
  // target or prefix may have these parts, and is for the whole sentence.
  absl::Status ReadEdges(std::string before, MarkedText sentence) {
    const TextSpan own = WithoutEdges(sentence);
    const bool is_all = own.begin == 0 && own.end == sentence.text.size();
    if (is_all || line_.is_scored || !prefix_.empty()) {
      return ReadSentence(std::move(before), std::move(sentence));
    }
    std::vector<MarkedText> texts = CutAround(sentence, {own});
    if (own.begin > 0) {
      absl::StrAppend(&line_.behind, std::exchange(before, ""), Write(texts[0]));
    }
    NIBU_RETURN_IF_ERROR(ReadSentence(std::move(before), std::move(texts[1])));
    line_.behind += Write(texts[2]);
    return absl::OkStatus();
  }

  // Reads a sentence (step 5) that has the white space `before` in front of it.
  absl::Status ReadSentence(std::string before, MarkedText sentence) {
    if (prefix_.empty() && !line_.is_scored) ReadCapitals(plan_, &sentence);
    MarkedText marked;
    NIBU_ASSIGN_OR_RETURN(EncodedText source, Encode(sentence, &marked));
    if (plan_.protect[Protected::kUnknown] && plan_.coder.HasUnknown(source.pieces)) {
      NIBU_ASSIGN_OR_RETURN(const auto unknowns, plan_.coder.Unknowns(sentence.text));
      ProtectSpans(unknowns, &sentence);
      NIBU_ASSIGN_OR_RETURN(source, Encode(sentence, &marked));
    }
    if (!source.pieces.empty()) {
      const size_t newest = line_.parts.size();
      NIBU_RETURN_IF_ERROR(AddPart(std::move(before), std::move(source), std::move(marked)));
      LinePart& part = line_.parts[newest];
      const bool is_whole = line_.parts.size() == newest + 1 && !line_.too_long;
      const bool may_change =
          plan_.protect[Protected::kNumbers] && !FindAmounts(part.marked.text).empty();
      if (is_whole && prefix_.empty() && !line_.is_scored &&
          (may_change || HasNames(part.marked))) {
        part.trial = std::make_shared<StandInTrial>(StandInTrial{std::move(sentence)});
      }
      return absl::OkStatus();
    }
    // The sentence is copied. A target that is scored must have it, too.
    const std::string copied = Write(sentence);
    if (splits_ && target_.has_value()) {
      matches_ = matches_ && TakeTarget() == absl::StripAsciiWhitespace(copied);
    }
    line_.behind += before + copied;
    return absl::OkStatus();
  }

  // Returns the next sentence of a target that is read sentence by sentence, or an empty one.
  absl::string_view TakeTarget() {
    const size_t next = sentences_++;
    if (next >= targets_.size()) return {};
    return absl::string_view(*target_).substr(targets_[next].begin,
                                              targets_[next].end - targets_[next].begin);
  }

  // Returns the pieces of a sentence, and in `marked` its text as the model reads it. There are no
  // pieces if the sentence is blank, or is copied because it has no letters. A line that is not
  // split is copied only if it has annotations and is not scored.
  absl::StatusOr<EncodedText> Encode(const MarkedText& sentence, MarkedText* marked) const {
    // A name in the prefix would be taken for one that stands for a protected part.
    std::vector<std::string> names = plan_.names;
    std::erase_if(names, [&](const auto& name) { return absl::StrContains(prefix_, name); });
    *marked = MaskProtected(sentence, names);
    const bool may_stay =
        prefix_.empty() && (splits_ || (!sentence.annotations.empty() && !line_.is_scored));
    if (IsBlank(marked->text) || (may_stay && !HasLetters(sentence))) return EncodedText();
    return plan_.coder.Encode(front_, marked->text);
  }

  // Adds a sentence to the parts (step 6): all of it, its beginning, or as several parts.
  absl::Status AddPart(std::string before, EncodedText source, MarkedText marked) {
    const bool too_long = source.pieces.size() > plan_.limit;
    line_.source_tokens += static_cast<int>(source.pieces.size());
    line_.too_long |= too_long;
    const LongInput then = plan_.options.long_input;
    if (too_long && (then == LongInput::kError || line_.is_scored)) {
      return absl::OutOfRangeError(absl::StrCat("a sentence of ", source.pieces.size(),
                                                " tokens is longer than max_input_length, ",
                                                plan_.limit));
    }
    if (too_long && then == LongInput::kTruncate) {
      source.pieces.resize(plan_.limit);
      source.spans.resize(plan_.limit);
      source.front = std::min(source.front, plan_.limit);
    }
    const size_t first = line_.parts.size();
    for (LinePart& part : CutPieces(source, marked, plan_.limit)) {
      part.untouched = std::exchange(line_.behind, "");
      part.before = std::exchange(before, " ");  // a space joins the parts of a cut sentence
      line_.parts.push_back(std::move(part));
    }
    // Step 7: its translation begins with a sentence of the prefix, or is one of the target.
    newest_ = first;
    if (line_.is_scored) {
      LinePart& part = line_.parts[first];
      part.target = MaskTarget(part.marked, std::string(splits_ ? TakeTarget() : *target_));
    } else if (sentences_ < prefixes_.size()) {
      SetPrefix(prefixes_[sentences_++].end);
    }
    return absl::OkStatus();
  }

  // Gives the prefix up to byte `end` to the newest sentence. The sentence that got the prefix in
  // front of it is complete then: its whole translation is given.
  void SetPrefix(size_t end) {
    const auto prefix = absl::string_view(prefix_).substr(prefix_end_, end - prefix_end_);
    prefix_end_ = end;
    if (IsBlank(prefix)) return;
    if (has_prefix_) line_.parts[line_.expanded].is_given = newest_ != line_.expanded;
    has_prefix_ = true;
    LinePart& part = line_.parts[newest_];
    part.prefix += MaskTarget(part.marked, std::string(prefix));
    absl::StripLeadingAsciiWhitespace(&part.prefix);
    line_.expanded = newest_;
  }

  const LinePlan& plan_;
  const std::string& prefix_;
  const std::optional<std::string>& target_;
  bool splits_ = false;             // the line is split into sentences
  std::vector<TextSpan> prefixes_;  // sentences of prefix_
  MarkedText marked_target_;        // target_ with its protected parts
  std::vector<TextSpan> targets_;   // sentences of target_
  bool matches_ = true;             // the copied sentences so far are in the target, too
  size_t sentences_ = 0;            // number of prefixes_ or targets_ that sentences have got
  size_t prefix_end_ = 0;           // bytes of prefix_ that sentences have got
  bool has_prefix_ = false;         // some sentence has got a part of prefix_
  size_t newest_ = 0;               // the first part of the newest sentence
  TextCoder::Line front_;           // language token or instruction, which holds for all segments
  LineParts line_;                  // the result so far
};

}  // namespace

std::vector<LinePart> CutPieces(const EncodedText& coded, const MarkedText& marked, size_t limit) {
  if (coded.pieces.size() <= limit) return {{"", "", coded, marked}};
  const size_t front = coded.front < limit ? coded.front : 0;
  const auto own = absl::MakeSpan(coded.pieces).subspan(front);
  std::vector<LinePart> parts;
  std::vector<TextSpan> cuts;
  // A part is the pieces [begin, end) behind the language tokens. Its text begins at byte `at`,
  // where its first piece does, and ends where the next part begins. A name whose pieces were cut
  // is all in the text of the first of them.
  auto name = marked.annotations.begin();
  for (const auto& [begin, end] : SplitPieces(own, limit - front)) {
    size_t at = begin > 0 ? coded.spans[front + begin].begin : 0;
    while (name != marked.annotations.end() && (!name->replaces || name->span.end <= at)) ++name;
    if (name != marked.annotations.end() && name->span.begin < at) at = name->span.end;
    if (!cuts.empty()) cuts.back().end = at;
    cuts.push_back({at, marked.text.size()});
    EncodedText& part = parts.emplace_back().source;
    part.front = front;
    for (size_t i = 0; i < front + end - begin; ++i) {
      const size_t from = i < front ? i : begin + i;
      part.pieces.push_back(coded.pieces[from]);
      const TextSpan& span = coded.spans[from];
      part.spans.push_back({std::max(span.begin, at) - at, std::max(span.end, at) - at});
    }
  }
  std::vector<MarkedText> texts = Cut(marked, cuts);
  for (size_t i = 0; i < parts.size(); ++i) parts[i].marked = std::move(texts[i]);
  return parts;
}

absl::StatusOr<LineParts> ReadLine(const LinePlan& plan, const MarkedLine& line,
                                   const std::string& target_prefix,
                                   const std::optional<std::string>& target) {
  return LineReader(plan, target_prefix, target).Read(line);
}

}  // namespace nibu::internal
