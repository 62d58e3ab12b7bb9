#include "tools/text/line_reader.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "engine/core/status_macros.h"
#include "tokenizer/characters.h"
#include "tokenizer/long_input.h"

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

// Parts of at most `limit` pieces each, cut at sentence or clause ends where possible; language
// tokens come first in every part. Where there are spans, what of the text each stands for.
std::vector<CodedText> CutPieces(const CodedText& coded, size_t limit, MarkedText marked,
                                 std::vector<MarkedText>* texts) {
  const size_t front = coded.front < limit ? coded.front : 0;
  const auto own = absl::MakeSpan(coded.pieces).subspan(front);
  std::vector<CodedText> parts;
  std::vector<TextSpan> cuts;
  for (const auto& [begin, end] : SplitPieces(own, limit - front)) {
    const auto copy = [&, from = begin, to = end](const auto& all, auto* part) {
      if (all.empty()) return;  // spans that were not asked for
      part->assign(all.begin(), all.begin() + static_cast<long>(front));
      part->insert(part->end(), all.begin() + static_cast<long>(front + from),
                   all.begin() + static_cast<long>(front + to));
    };
    CodedText& part = parts.emplace_back();
    part.front = front;
    copy(coded.pieces, &part.pieces);
    copy(coded.spans, &part.spans);
    const size_t at = front < part.spans.size() && !cuts.empty() ? part.spans[front].begin : 0;
    if (!cuts.empty()) cuts.back().end = at;
    cuts.push_back({at, marked.text.size()});
    for (TextSpan& span : part.spans) {
      span = {std::max(span.begin, at) - at, std::max(span.end, at) - at};
    }
  }
  *texts = Cut(marked, cuts);
  return parts;
}

}  // namespace

absl::Status LineReader::Read(const MarkedLine& line) {
  const bool splits = plan_.splitter != nullptr && !line_.is_whole;
  bool is_first = true;
  for (const MarkedLine::Segment& segment : line.segments) {
    line_.behind += segment.untouched;
    MarkedText text = segment.marked;
    if (is_first) {
      front_ = coder_.Understand(segment.marked.text, splits);
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
  if (plan_.protector != nullptr && !line_.is_scored) {
    AddParts(plan_.protector->Find(text.text), &text);
  }
  std::vector<TextSpan> spans;
  if (plan_.splitter != nullptr && !line_.is_whole && !front_.is_one) {
    spans = SplitBesideParts(*plan_.splitter, text);
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
  bool seeks_unknowns = plan_.options.protect.unknown && !line_.is_scored;
  while (true) {
    CodedText source;
    MarkedText marked;
    const bool carries = !sentence.carried.empty();
    if (!carries || !HasOnlyParts(sentence)) {
      if (carries) {
        std::vector<std::string> names = coder_.names();
        std::erase_if(names, [&](const auto& name) { return absl::StrContains(prefix_, name); });
        marked = WithNames(sentence, names);
      } else if (sentence.markup != Markup::kNone) {
        marked = sentence;
      }
      NIBU_ASSIGN_OR_RETURN(source, coder_.Code(front_, carries ? marked.text : sentence.text,
                                                plan_.options.tokenized, carries));
    }
    if (seeks_unknowns && coder_.HasUnknown(source.pieces)) {
      seeks_unknowns = false;
      NIBU_ASSIGN_OR_RETURN(const std::vector<TextSpan> unknowns, coder_.Unknowns(sentence.text));
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
  const bool too_long = source.pieces.size() > plan_.limit;
  result_.source_tokens += static_cast<int>(source.pieces.size());
  result_.too_long |= too_long;
  const LongInput then = plan_.options.long_input;
  if (too_long && (then == LongInput::kError || line_.is_scored)) {
    return absl::OutOfRangeError(absl::StrCat("a sentence of ", source.pieces.size(),
                                              " tokens is longer than max_input_length, ",
                                              plan_.limit));
  }
  std::vector<CodedText> parts;
  std::vector<MarkedText> texts;
  if (too_long && then == LongInput::kSplit) {
    parts = CutPieces(source, plan_.limit, std::move(marked), &texts);
  } else {
    const size_t kept = std::min(source.pieces.size(), plan_.limit);
    source.pieces.resize(kept);
    source.spans.resize(std::min(source.spans.size(), kept));
    source.front = std::min(source.front, kept);
    parts.push_back(std::move(source));
    texts.push_back(std::move(marked));
  }
  for (size_t i = 0; i < parts.size(); ++i) {
    line_.parts.push_back({std::exchange(line_.behind, ""), std::exchange(before, " "),
                           std::move(parts[i]), std::move(texts[i])});
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
