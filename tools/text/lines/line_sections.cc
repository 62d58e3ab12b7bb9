// Finds the places between tags and protected parts where a line may be cut.
#include "tools/text/lines/line_sections.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "tools/text/marked/markup.h"
#include "tools/text/marked/protect.h"

namespace nibu::internal {
namespace {

// Returns the spans that the protector finds in a text. It also searches the text between any two
// neighbouring tags on its own, since a tag is a border of a word, too. Spans may overlap.
std::vector<TextSpan> FindParts(const Protector& protector, const MarkedText& marked) {
  const absl::string_view text = marked.text;
  std::vector<TextSpan> parts = protector(text);
  std::set<size_t> borders;  // where tags are
  for (const Annotation& annotation : marked.annotations) {
    if (!annotation.replaces) borders.insert({annotation.span.begin, annotation.span.end});
  }
  if (borders.empty()) return parts;
  borders.insert(text.size());
  size_t begin = 0;
  for (const size_t end : borders) {
    const absl::string_view between = text.substr(begin, end - begin);
    for (const TextSpan& part : protector(between)) {
      if (IsEdgeSign(between.substr(part.begin, part.end - part.begin))) continue;
      parts.push_back({begin + part.begin, begin + part.end});
    }
    begin = end;
  }
  return parts;
}

// The sections of a segment: their spans, and what is between each of them and the one before it.
// See LineSection.
struct Sections {
  std::vector<TextSpan> spans = {{0, 0}};
  std::vector<std::optional<std::string>> between = {std::nullopt};
};

// Cuts a segment: see CutLine. White space between two sections is in none of them, unless tags or
// character references stand there, with which it is copied.
Sections CutSegment(const LinePlan& plan, const MarkedText& marked, size_t most) {
  MarkedText text = marked;
  ProtectParts(plan, &text);
  std::vector<size_t> begins;
  std::vector<size_t> ends;  // and points
  for (const Annotation& annotation : text.annotations) {
    const auto& [begin, end] = annotation.span;
    if (begin < end) begins.push_back(begin);
    ends.push_back(end);
  }
  for (const Annotation& reference : text.references.value_or(std::vector<Annotation>())) {
    begins.push_back(reference.span.begin);
  }
  absl::c_sort(begins);
  absl::c_sort(ends);
  // As in Cut, a tag is between `left` and `right` if it opens an element in [left, right), closes
  // one in (left, right], or is a point there.
  const auto has_tags = [&](size_t left, size_t right) {
    return absl::c_lower_bound(begins, left) != absl::c_lower_bound(begins, right) ||
           absl::c_upper_bound(ends, left) != absl::c_upper_bound(ends, right);
  };
  Sections sections;
  for (const TextSpan& sentence : SplitBesideParts(*plan.splitter, text)) {
    TextSpan& last = sections.spans.back();
    if (last.end > 0 && sentence.end - last.begin > most) {
      std::optional<std::string> between;
      if (has_tags(last.end, sentence.begin)) {
        last.end = sentence.begin;
      } else {
        between = text.text.substr(last.end, sentence.begin - last.end);
      }
      sections.between.push_back(std::move(between));
      sections.spans.push_back(sentence);
    } else {
      last.end = sentence.end;
    }
  }
  sections.spans.back().end = text.text.size();
  return sections;
}

// Puts a language token or instruction in front of a text.
void AddFront(const std::string& front, MarkedText* marked) {
  const auto shift = [&front](std::vector<Annotation>* annotations) {
    for (Annotation& each : *annotations) {
      each.span = {each.span.begin + front.size(), each.span.end + front.size()};
    }
  };
  marked->text.insert(0, front);
  shift(&marked->annotations);
  if (marked->references.has_value()) shift(&*marked->references);
}

}  // namespace

Front ReadFront(const LinePlan& plan, absl::string_view text, bool splits) {
  if (plan.pivot != nullptr) {
    const TextCoder::Line line = plan.pivot->second.coder.ParseLine(text, splits);
    const absl::string_view pivot = text.substr(0, text.size() - line.text.size());
    if (!pivot.empty()) return {{"", "", line.text}, std::string(pivot)};
  }
  return {plan.coder.ParseLine(text, splits), ""};
}

MarkedLine ReadMarks(const LinePlan& plan, const MarkedLine& line) {
  if (!plan.protect[Protected::kCodes]) return line;
  constexpr char kMarks[] = "\\<`*_~[%{\t";
  MarkedLine read = {{}, "", line.is_marked, line.ends_open};
  // The text behind the last segment so far is copied in front of the next one.
  for (const MarkedLine::Segment& segment : line.segments) {
    const MarkedText& marked = segment.marked;
    if (marked.markup != Markup::kNone || !marked.annotations.empty() ||
        marked.references.has_value() ||
        (marked.text.find_first_of(kMarks) == std::string::npos &&
         !absl::StrContains(marked.text, "   ")) ||
        !plan.coder.AddedTokens(marked.text).empty()) {  // to the model, "<term>" is a word
      read.segments.push_back(segment);
      read.segments.back().untouched.insert(0, std::exchange(read.untouched, ""));
      continue;
    }
    read.untouched += segment.untouched;
    MarkedLine inner = MarkupReader(Markup::kNone).Read(marked.text);
    for (MarkedLine::Segment& each : inner.segments) {
      read.segments.push_back(
          {std::exchange(read.untouched, "") + each.untouched, std::move(each.marked)});
    }
    read.untouched += inner.untouched;
  }
  read.untouched += line.untouched;
  return read;
}

void ProtectParts(const LinePlan& plan, MarkedText* text) {
  if (plan.protector == nullptr) return;
  std::vector<TextSpan> parts = FindParts(plan.protector, *text);
  // An added token is read whole, unless it is only a piece of a part ("{" of "{name}").
  const std::vector<TextSpan> added = plan.coder.AddedTokens(text->text);
  std::erase_if(parts, [&](const TextSpan& part) {
    return absl::c_any_of(added, [&](const TextSpan& token) {
      const bool encloses = part.begin <= token.begin && token.end <= part.end && part != token;
      return part.begin < token.end && token.begin < part.end && !encloses;
    });
  });
  ProtectSpans(parts, text);
}

std::vector<TextSpan> SplitBesideParts(const SentenceSplitter& splitter, const MarkedText& text) {
  std::vector<TextSpan> whole;
  auto part = text.annotations.begin();  // the first annotation that no sentence before `span` had
  for (TextSpan span : splitter.Split(WithoutPartsBetweenSentences(text))) {
    const size_t last = whole.empty() ? 0 : whole.back().end;
    // Widens the sentence so that the parts that it touches are whole.
    for (; part != text.annotations.end() && part->span.begin < span.end; ++part) {
      if (!part->replaces || part->span.end <= last) continue;
      span = {std::min(span.begin, part->span.begin), std::max(span.end, part->span.end)};
    }
    if (span.begin < last) {
      whole.back().end = std::max(last, span.end);
    } else {
      whole.push_back(span);
    }
  }
  return whole;
}

std::vector<LineSection> CutLine(const LinePlan& plan, const MarkedLine& unread, size_t most) {
  const MarkedLine line = ReadMarks(plan, unread);
  const auto is_value = [](const MarkedLine::Segment& segment) { return segment.is_value; };
  if (plan.splitter == nullptr || line.segments.empty() ||
      absl::c_any_of(line.segments, is_value)) {
    return {{line}};
  }
  const std::string& first = line.segments.front().marked.text;
  const Front front = ReadFront(plan, first, /*splits=*/true);
  if (front.line.is_one) return {{line}};
  const std::string repeated = first.substr(0, first.size() - front.line.text.size());
  const LineSection empty = {{{}, "", line.is_marked}};
  std::vector<LineSection> sections = {empty};
  size_t bytes = 0;  // of the text of the last section
  for (const MarkedLine::Segment& segment : line.segments) {
    const Sections cut = CutSegment(plan, segment.marked, most);
    std::vector<MarkedText> texts = Cut(segment.marked, cut.spans);
    for (size_t i = 0; i < texts.size(); ++i) {
      if (i > 0 || (bytes > 0 && bytes + texts[i].text.size() > most)) {
        sections.push_back(empty);
        sections.back().between = cut.between[i];
        AddFront(repeated, &texts[i]);
        bytes = 0;
      }
      bytes += texts[i].text.size();
      sections.back().line.segments.push_back(
          {i == 0 ? segment.untouched : "", std::move(texts[i])});
    }
  }
  sections.back().line.untouched = line.untouched;
  return sections;
}

}  // namespace nibu::internal
