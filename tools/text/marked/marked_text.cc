// Cuts and writes texts with annotations, and replaces their protected parts by names.
#include "tools/text/marked/marked_text.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/base/macros.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "tokenizer/unicode/capitals.h"
#include "tokenizer/unicode/characters.h"
#include "tools/text/marked/protect.h"

namespace nibu::internal {
namespace {

bool IsBlankAt(absl::string_view text, size_t i) {
  return i < text.size() && absl::ascii_isspace(text[i]);
}

bool IsBefore(const Annotation& x, const Annotation& y) { return x.span.begin < y.span.begin; }

// Returns whether spans are sorted, disjoint, and within a text of this size.
bool AreInOrder(absl::Span<const TextSpan> spans, size_t size) {
  size_t end = 0;
  for (const TextSpan& span : spans) {
    if (span.begin < end || span.end < span.begin) return false;
    end = span.end;
  }
  return end <= size;
}

// Returns whether no span begins or ends inside of a protected part, which would come out twice or
// in halves then. `spans` are in order.
bool CutsNoParts(absl::Span<const Annotation> annotations, absl::Span<const TextSpan> spans) {
  return absl::c_none_of(annotations, [&](const Annotation& each) {
    const auto& [begin, end] = each.span;
    const auto span = absl::c_partition_point(
        spans, [begin = begin](const TextSpan& other) { return other.end <= begin; });
    if (!each.replaces || span == spans.end()) return false;
    return span->end < end || (begin < span->begin && span->begin < end);
  });
}

// Returns whether a protected part acts as a word in its sentence: it has letters, digits, ASCII
// signs or an element that is not translated (U+FFFC). Emoji do not.
bool IsWord(absl::string_view part) {
  return HasWords(part) || absl::c_any_of(part, absl::ascii_isgraph) ||
         absl::StrContains(part, "\uFFFC");
}

// Returns whether a translation may render a word as the name: "Thomas" as "Tom", "Mary" as
// "Maria".
bool IsLike(absl::string_view word, absl::string_view name) {
  size_t same = 0;  // letters of the name that were found in the word, in order
  for (const char c : word) same += same < name.size() && c == name[same] ? 1 : 0;
  return same >= 3 && word[0] == name[0];
}

// Returns the names that do not occur in a text. Those that a translation of the text may contain
// for another reason come last: a part would be put in their place.
std::vector<absl::string_view> FreeNames(absl::string_view text,
                                         absl::Span<const std::string> names) {
  const std::string small = absl::AsciiStrToLower(text);
  std::vector<absl::string_view> free;
  absl::c_copy_if(names, std::back_inserter(free), [&](const std::string& name) {
    return !absl::StrContains(small, absl::AsciiStrToLower(name));  // nor in "tomatoes"
  });
  const std::vector<absl::string_view> words = absl::StrSplit(text, ' ');
  std::stable_partition(free.begin(), free.end(), [&](absl::string_view name) {
    return absl::c_none_of(words, [&](absl::string_view word) { return IsLike(word, name); });
  });
  return free;
}

}  // namespace

std::string PlaceValues(absl::string_view text, size_t count) {
  const std::vector<std::string> parts = absl::StrSplit(text, absl::MaxSplits(kValueEnd, count));
  std::string placed = parts.back();
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    absl::StrReplaceAll({{absl::StrCat(kValueMark, i, kValueMark), parts[i]}}, &placed);
  }
  return placed;
}

MarkedLine PlainLine(absl::string_view text) {
  return {{{"", {std::string(text)}}}, "", /*is_marked=*/false};
}

void ProtectSpans(absl::Span<const TextSpan> parts, MarkedText* marked) {
  std::vector<TextSpan> all(parts.begin(), parts.end());
  for (const Annotation& annotation : marked->annotations) {
    if (annotation.replaces) all.push_back(annotation.span);
  }
  absl::c_sort(all, [](const TextSpan& x, const TextSpan& y) { return x.begin < y.begin; });
  std::vector<TextSpan> whole;  // the parts; spans that overlap are one
  for (const TextSpan& part : all) {
    if (whole.empty() || whole.back().end <= part.begin) whole.push_back(part);
    whole.back().end = std::max(whole.back().end, part.end);
  }
  // Returns the part that a byte is in, or else the next part.
  const auto part_at = [&](size_t at) {
    return absl::c_partition_point(whole, [&](const TextSpan& part) { return part.end <= at; });
  };
  // Returns the part that a span lies in, or null.
  const auto part_around = [&](const TextSpan& span) {
    const auto part = part_at(span.begin);
    const bool is_inside =
        part != whole.end() && part->begin <= span.begin && span.end <= part->end;
    return is_inside ? &*part : nullptr;
  };
  MarkedText inside = {marked->text, {}, marked->markup, marked->entities, marked->references};
  std::vector<Annotation> outside;
  for (Annotation& annotation : marked->annotations) {
    auto& [begin, end] = annotation.span;
    const TextSpan* const part = part_around(annotation.span);
    const bool is_whole =  // has both tags, or needs none
        annotation.capitals || (!annotation.before.empty() && !annotation.after.empty());
    // Annotations in a part go into its text. A point at its beginning does not, nor does a lone
    // tag whose element covers all of the part: its other tag is elsewhere.
    if (part != nullptr && (annotation.replaces || part->begin < begin ||
                            (begin < end && (is_whole || end < part->end)))) {
      inside.annotations.push_back(std::move(annotation));
      continue;
    }
    // An end inside of a part moves behind it.
    for (size_t* at : {&begin, &end}) {
      const auto around = part_at(*at);
      if (around != whole.end() && around->begin < *at) *at = around->end;
    }
    outside.push_back(std::move(annotation));
  }
  if (marked->references.has_value()) {
    std::erase_if(*marked->references,
                  [&](const Annotation& c) { return part_around(c.span) != nullptr; });
  }
  // Each part's text is written with the annotations in it. CutAround returns it at odd indices.
  const std::vector<MarkedText> texts = CutAround(inside, whole);
  for (size_t i = 0; i < whole.size(); ++i) {
    outside.push_back({whole[i], Write(texts[2 * i + 1]), "", true});
  }
  absl::c_stable_sort(outside, IsBefore);
  marked->annotations = std::move(outside);
}

std::vector<MarkedText> Cut(const MarkedText& marked, absl::Span<const TextSpan> spans) {
  ABSL_ASSERT(!spans.empty() && AreInOrder(spans, marked.text.size()));
  ABSL_ASSERT(CutsNoParts(marked.annotations, spans));
  std::vector<MarkedText> texts;
  for (const auto& [begin, end] : spans) {
    texts.push_back({marked.text.substr(begin, end - begin), {}, marked.markup, marked.entities});
  }
  for (const Annotation& annotation : marked.annotations) {
    const TextSpan& all = annotation.span;
    const bool is_point = all.begin == all.end;
    // `open` is the first span that ends behind the annotation's begin; `close` is one behind the
    // last span that begins before its end.
    const auto open = absl::c_partition_point(spans, [&](const TextSpan& span) {
      return is_point ? span.end < all.begin : span.end <= all.begin;
    });
    const auto close =
        absl::c_partition_point(spans, [&](const TextSpan& span) { return span.begin < all.end; });
    const size_t first = std::min(spans.size() - 1, static_cast<size_t>(open - spans.begin()));
    const auto end = static_cast<size_t>(close - spans.begin());
    const size_t last = annotation.replaces || end <= first ? first : end - 1;
    // Visits the first and the last span, which get the opening and the closing tag. Those between
    // them get none, since each tag has to come out once.
    for (size_t i = first; i <= last; i += std::max<size_t>(1, last - first)) {
      Annotation& part = texts[i].annotations.emplace_back(annotation);
      for (size_t* at : {&part.span.begin, &part.span.end}) {
        *at = std::clamp(*at, spans[i].begin, spans[i].end) - spans[i].begin;
      }
      if (i != first) part.before.clear();
      if (i != last) part.after.clear();
    }
  }
  if (!marked.references.has_value()) return texts;
  std::vector<MarkedText> references = Cut({marked.text, *marked.references}, spans);
  for (size_t i = 0; i < texts.size(); ++i) {
    std::vector<Annotation>& own =
        texts[i].references.emplace(std::move(references[i].annotations));
    // A reference outside of all spans came out empty.
    std::erase_if(own, [](const Annotation& c) { return c.span.begin == c.span.end; });
  }
  return texts;
}

std::vector<MarkedText> CutAround(const MarkedText& marked, absl::Span<const TextSpan> spans) {
  std::vector<TextSpan> cuts;
  size_t end = 0;
  for (const TextSpan& span : spans) {
    cuts.push_back({end, span.begin});
    cuts.push_back(span);
    end = span.end;
  }
  cuts.push_back({end, marked.text.size()});
  return Cut(marked, cuts);
}

bool NeedsAlignment(const MarkedText& marked) {
  return !marked.annotations.empty() ||
         (marked.markup != Markup::kNone && absl::StrContains(marked.text, "\u00a0"));
}

bool HasLetters(const MarkedText& marked) { return HasLetters(MaskProtected(marked, {}).text); }

std::string Write(const MarkedText& marked) {
  // A text that was read from markup is written without escaping, its references as they were.
  if (marked.references.has_value()) {
    MarkedText read = {marked.text};
    absl::c_merge(marked.annotations, *marked.references, std::back_inserter(read.annotations),
                  IsBefore);
    return Write(read);
  }
  std::string out;
  size_t written = 0;
  // A `<` at the end of what is written must not make a tag together with the text behind it.
  const auto add_text = [&](absl::string_view text) {
    const bool is_marked = marked.markup != Markup::kNone && out.ends_with('<') && !text.empty();
    if (is_marked && (absl::ascii_isalpha(text[0]) || absl::StrContains("!?/", text[0]))) {
      out.replace(out.size() - 1, 1, "&lt;");
    }
    absl::StrAppend(&out, text);
  };
  std::vector<const Annotation*> open;
  const Annotation* capitals = nullptr;  // the outermost open one that is written in capitals
  const auto write_up_to = [&](size_t at) {
    if (at <= written) return;
    std::string part = marked.text.substr(written, at - written);
    if (capitals != nullptr) part = ToUpper(part, *capitals->capitals);
    add_text(EscapeText(marked.markup, marked.entities, part));
    written = at;
  };
  // Writes the text up to `at`, and the closing tags of the elements that end there or before.
  const auto close_up_to = [&](size_t at) {
    for (; !open.empty() && open.back()->span.end <= at; open.pop_back()) {
      write_up_to(open.back()->span.end);
      out += open.back()->after;
      if (open.back() == capitals) capitals = nullptr;
    }
    write_up_to(at);
  };
  for (const Annotation& annotation : marked.annotations) {
    close_up_to(annotation.span.begin);
    if (annotation.replaces) {
      add_text(annotation.before);
      written = std::max(written, annotation.span.end);
    } else {
      out += annotation.before;
    }
    open.push_back(&annotation);
    if (capitals == nullptr && annotation.capitals.has_value()) capitals = &annotation;
  }
  close_up_to(marked.text.size());
  return out;
}

Annotation AsPoint(absl::string_view text, Annotation annotation) {
  const TextSpan span = annotation.span;
  std::string& end = annotation.after.empty() ? annotation.before : annotation.after;
  if (IsBlankAt(text, span.end)) end += ' ';
  if (span.begin > 0 && IsBlankAt(text, span.begin - 1)) annotation.before.insert(0, 1, ' ');
  annotation.span.end = span.begin;
  return annotation;
}

MarkedText MaskProtected(const MarkedText& marked, absl::Span<const std::string> names,
                         absl::Span<const size_t> left_out) {
  ABSL_ASSERT(absl::c_is_sorted(marked.annotations, IsBefore));
  const absl::string_view text = marked.text;
  const auto is_point = [](const Annotation& each) {
    return !each.replaces && each.span.begin == each.span.end;
  };
  const bool has_parts =
      absl::c_any_of(marked.annotations, [](const Annotation& c) { return c.replaces; });
  auto free = has_parts ? FreeNames(text, names) : std::vector<absl::string_view>();
  MarkedText result = {"", {}, marked.markup, marked.entities};
  std::vector<size_t> to(text.size() + 1);  // for each position of `text`, that in result.text
  std::vector<size_t> sizes;                // bytes of each part's name; 0 if it was taken out
  size_t read = 0;
  const auto copy_up_to = [&](size_t end) {
    while (read < end) {
      result.text += text[read++];
      to[read] = result.text.size();
    }
  };
  // First, the parts are replaced by names or taken out, and `to` is filled. White space beside a
  // point goes as it does beside a part that is taken out.
  for (const Annotation& annotation : marked.annotations) {
    if (!annotation.replaces && !is_point(annotation)) continue;
    const TextSpan from = annotation.span;
    copy_up_to(from.begin);
    size_t begin = result.text.size();
    size_t behind = from.end;
    size_t size = 0;
    const auto number = static_cast<size_t>(&annotation - marked.annotations.data());
    const StandIn stand_in = is_point(annotation) || absl::c_linear_search(left_out, number)
                                 ? StandIn::kNone
                                 : StandInFor(annotation.before, text.substr(from.end));
    const auto fits = [&](absl::string_view name) {
      return absl::ascii_isdigit(name[0]) == (stand_in == StandIn::kNumber);
    };
    const auto found = stand_in == StandIn::kNone ? free.end() : absl::c_find_if(free, fits);
    if (found != free.end() && IsWord(text.substr(from.begin, from.end - from.begin))) {
      const absl::string_view name = *found;
      free.erase(found);
      size = name.size();
      absl::StrAppend(&result.text, name);
      // The name must be a word of its own, even if the part touched a word.
      if (!IsWordBorder(result.text, begin)) result.text.insert(begin++, 1, ' ');
      if (!IsWordBorder(absl::StrCat(name, text.substr(from.end, 4)), name.size())) {
        result.text += ' ';
      }
    } else if (begin == 0 || IsBlankAt(result.text, begin - 1)) {
      // White space stands on both sides of the part that is taken out. One side is enough, and
      // in front of a closing sign none is needed.
      while (IsBlankAt(text, behind)) ++behind;
      if (behind == text.size() || absl::StrContains(".,:;!?)]}", text[behind])) {
        absl::StripTrailingAsciiWhitespace(&result.text);
        begin = result.text.size();
        for (size_t at = from.begin; at > 0 && to[at - 1] > begin; --at) to[at - 1] = begin;
      }
    }
    to[from.begin] = begin;
    while (read < behind) to[++read] = begin + size;
    if (annotation.replaces) sizes.push_back(size);
  }
  copy_up_to(text.size());
  // Then the annotations move to the new positions. Those that are left without text become points.
  result.annotations.reserve(marked.annotations.size());
  auto size = sizes.begin();
  for (const Annotation& annotation : marked.annotations) {
    TextSpan span = {to[annotation.span.begin], to[annotation.span.end]};
    if (annotation.replaces) span.end = span.begin + *size++;
    result.annotations.push_back(span.begin < span.end ? annotation : AsPoint(text, annotation));
    result.annotations.back().span = span;
  }
  return result;
}

}  // namespace nibu::internal
