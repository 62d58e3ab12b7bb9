#include "tools/text/line_reader.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "engine/core/status_macros.h"
#include "tokenizer/blank.h"
#include "tools/text/stand_in.h"

namespace nibu {
namespace {

// Sentences, none of which ends inside of a protected part.
std::vector<TextSpan> SplitBesideParts(const SentenceSplitter& splitter, const MarkedText& text) {
  if (text.carried.empty()) return splitter.Split(text.text);
  std::vector<bool> is_inside(text.text.size() + 1);
  for (const Carried& carried : text.carried) {
    for (size_t at = carried.span.begin + 1; carried.replaces && at < carried.span.end; ++at) {
      is_inside[at] = true;
    }
  }
  std::vector<TextSpan> whole;
  for (const TextSpan& span : splitter.Split(text.text)) {
    if (!whole.empty() && is_inside[whole.back().end]) {
      whole.back().end = span.end;
    } else {
      whole.push_back(span);
    }
  }
  return whole;
}

// The text that each of the parts of a long one stands for; their spans become those of it.
std::vector<MarkedText> CutAlong(const MarkedText& text, const TextCoder& coder,
                                 std::vector<CodedText>* parts) {
  std::vector<TextSpan> cuts;
  cuts.reserve(parts->size());
  for (const CodedText& part : *parts) {
    const size_t front = part.pieces.size() - coder.WithoutLanguage(part.pieces).size();
    const size_t begin = front < part.spans.size() ? part.spans[front].begin : text.text.size();
    if (!cuts.empty()) cuts.back().end = begin;
    cuts.push_back({cuts.empty() ? 0 : begin, text.text.size()});
  }
  for (size_t i = 0; i < cuts.size(); ++i) {
    for (TextSpan& span : (*parts)[i].spans) {
      span = {std::max(span.begin, cuts[i].begin) - cuts[i].begin,
              std::max(span.end, cuts[i].begin) - cuts[i].begin};
    }
  }
  return Cut(text, cuts);
}

}  // namespace

absl::Status LineReader::Read(const MarkedLine& line) {
  bool is_first = true;
  for (const MarkedLine::Segment& segment : line.segments) {
    line_.behind += segment.untouched;
    MarkedText text = segment.marked;
    if (is_first) {
      front_ = reading_.coder.Understand(segment.marked.text, reading_.splitter != nullptr);
      const size_t taken = text.text.size() - front_.text.size();
      if (taken > 0) text = std::move(Cut(text, {{taken, text.text.size()}})[0]);
      is_first = false;
    }
    NIBU_RETURN_IF_ERROR(ReadText(std::move(text)));
  }
  line_.behind += line.untouched;
  return absl::OkStatus();
}

absl::Status LineReader::ReadText(MarkedText text) {
  if (reading_.protector != nullptr) AddParts(reading_.protector->Find(text.text), &text);
  std::vector<TextSpan> spans;
  if (reading_.splitter != nullptr && !front_.is_one) {
    spans = SplitBesideParts(*reading_.splitter, text);
  } else if (!IsBlank(text.text)) {
    spans = {{0, text.text.size()}};
  }
  std::vector<TextSpan> cuts;  // what is in front of each, in turn with them; and behind the last
  size_t end = 0;
  for (const TextSpan& span : spans) {
    cuts.push_back({end, span.begin});
    cuts.push_back(span);
    end = span.end;
  }
  cuts.push_back({end, text.text.size()});
  std::vector<MarkedText> texts = Cut(text, cuts);
  for (size_t i = 0; i < texts.size(); i += 2) {
    std::string between = Write(texts[i]);
    if (!texts[i].carried.empty()) line_.behind += std::exchange(between, "");
    if (i + 1 == texts.size()) {
      line_.behind += between;
    } else {
      NIBU_RETURN_IF_ERROR(ReadSentence(std::move(between), std::move(texts[i + 1])));
    }
  }
  return absl::OkStatus();
}

absl::Status LineReader::ReadSentence(std::string before, MarkedText sentence) {
  const TextCoder& coder = reading_.coder;
  bool seeks_unknowns = reading_.protects_unknown;
  while (true) {
    CodedText source;
    MarkedText marked;
    if (sentence.carried.empty()) {
      NIBU_ASSIGN_OR_RETURN(source.pieces,
                            coder.Pieces(front_, sentence.text, reading_.options.tokenized));
      if (sentence.markup != Markup::kNone) marked = sentence;
    } else if (!HasOnlyParts(sentence)) {
      std::vector<std::string> names = coder.names();
      std::erase_if(
          names, [&](const std::string& name) { return absl::StrContains(reading_.prefix, name); });
      marked = WithNames(sentence, names);
      NIBU_ASSIGN_OR_RETURN(source, coder.Code(front_, marked.text));
    }
    if (seeks_unknowns && coder.HasUnknown(source.pieces)) {
      seeks_unknowns = false;
      NIBU_ASSIGN_OR_RETURN(const std::vector<TextSpan> unknowns, coder.Unknowns(sentence.text));
      AddParts(unknowns, &sentence);
      continue;
    }
    if (!source.pieces.empty()) {
      return AddPart(std::move(before), std::move(source), std::move(marked));
    }
    line_.behind += before + Write(sentence);
    return absl::OkStatus();
  }
}

absl::Status LineReader::AddPart(std::string before, CodedText source, MarkedText marked) {
  const bool too_long = source.pieces.size() > reading_.limit;
  result_.source_tokens += static_cast<int>(source.pieces.size());
  result_.too_long |= too_long;
  const LongInput then = reading_.options.long_input;
  if (too_long && (then == LongInput::kError || line_.is_scored)) {
    return absl::OutOfRangeError(absl::StrCat("a sentence of ", source.pieces.size(),
                                              " tokens is longer than max_input_length, ",
                                              reading_.limit));
  }
  std::vector<CodedText> parts;
  std::vector<MarkedText> texts;
  if (too_long && then == LongInput::kSplit) {
    parts = reading_.coder.Cut(source, reading_.limit);
    if (!marked.carried.empty()) texts = CutAlong(marked, reading_.coder, &parts);
    texts.resize(parts.size(), {"", {}, marked.markup, marked.entities});
  } else {
    const size_t kept = std::min(source.pieces.size(), reading_.limit);
    source.pieces.resize(kept);
    source.spans.resize(std::min(source.spans.size(), kept));
    parts.push_back(std::move(source));
    texts.push_back(std::move(marked));
  }
  for (size_t i = 0; i < parts.size(); ++i) {
    LinePart& part = line_.parts.emplace_back();
    part.untouched = std::exchange(line_.behind, "");
    part.before = std::exchange(before, " ");
    part.source = std::move(parts[i]);
    part.marked = std::move(texts[i]);
  }
  return absl::OkStatus();
}

std::string PrefixWithNames(const MarkedText& source, std::string prefix) {
  for (const Carried& carried : source.carried) {
    if (!carried.replaces) continue;
    const TextSpan& name = carried.span;
    absl::StrReplaceAll({{std::string(absl::StripAsciiWhitespace(carried.before)),
                          source.text.substr(name.begin, name.end - name.begin)}},
                        &prefix);
  }
  return prefix;
}

}  // namespace nibu
