#include "tokenizer/long_input.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace nibu {
namespace {

constexpr absl::string_view kWordMark = "\u2581";

// Marks of many scripts. The wide ones stand without a blank behind them; so do the others in East
// Asian text (SentencePiece's usual normalization turns wide commas into narrow ones).
constexpr absl::string_view kSentenceEnds[] = {".",      "!",      "?",      "\u2026", "\u0964",
                                               "\u061f", "\u06d4", "\u0589", "\u1362"};
constexpr absl::string_view kWideSentenceEnds[] = {"\u3002", "\uff01", "\uff1f", "\uff0e",
                                                   "\uff61"};
constexpr absl::string_view kClauseEnds[] = {",", ";", ":", "\u060c", "\u061b", "\u2013", "\u2014"};
constexpr absl::string_view kWideClauseEnds[] = {"\u3001", "\uff0c", "\uff1b", "\uff1a", "\uff64"};
// May follow the end of a sentence or clause, and belong to it.
constexpr absl::string_view kClosing[] = {"\"",     "'",      ")",      "]",      "\u201d",
                                          "\u2019", "\u00bb", "\u300d", "\u300f", "\uff09"};

using Marks = absl::Span<const absl::string_view>;

bool EndsWithAny(absl::string_view text, Marks marks) {
  return std::any_of(marks.begin(), marks.end(),
                     [&](absl::string_view mark) { return absl::EndsWith(text, mark); });
}

bool StartsWithAny(absl::string_view text, Marks marks) {
  return std::any_of(marks.begin(), marks.end(),
                     [&](absl::string_view mark) { return absl::StartsWith(text, mark); });
}

absl::string_view WithoutClosing(absl::string_view piece) {
  for (bool changed = true; changed;) {
    changed = false;
    for (absl::string_view closing : kClosing) changed |= absl::ConsumeSuffix(&piece, closing);
  }
  return piece;
}

// Whether the first character is one of U+2E80 to U+D7FF (kana, CJK, Hangul), U+F900 to U+FAFF,
// U+FF00 to U+FFBF (wide and half-width forms) or from U+20000 on.
bool StartsEastAsian(absl::string_view text) {
  const auto byte = [&](size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const unsigned first = byte(0);
  const unsigned second = byte(1);
  if (first == 0xe2) return second >= 0xba;
  if (first == 0xef)
    return (second >= 0xa4 && second <= 0xab) || (second >= 0xbc && second <= 0xbe);
  return (first >= 0xe3 && first <= 0xed) || (first == 0xf0 && second >= 0xa0) || first > 0xf0;
}

// How good it is to cut before pieces[i], i > 0.
enum Cut { kAnywhere, kWord, kClause, kSentence };

Cut CutBefore(absl::Span<const std::string> pieces, size_t i) {
  const bool word = absl::StartsWith(pieces[i], kWordMark);
  if (!word && (StartsWithAny(pieces[i], kClosing) || StartsWithAny(pieces[i], kWideSentenceEnds) ||
                StartsWithAny(pieces[i], kWideClauseEnds))) {
    return kAnywhere;
  }
  // Closing marks may be pieces of their own, rarely more than a few.
  size_t at = i - 1;
  absl::string_view last = WithoutClosing(pieces[at]);
  for (int n = 0; n < 4 && last.empty() && at > 0; ++n) last = WithoutClosing(pieces[--at]);
  const bool narrow = word || StartsEastAsian(pieces[i]);
  if ((narrow && EndsWithAny(last, kSentenceEnds)) || EndsWithAny(last, kWideSentenceEnds)) {
    return kSentence;
  }
  if ((narrow && EndsWithAny(last, kClauseEnds)) || EndsWithAny(last, kWideClauseEnds)) {
    return kClause;
  }
  return word ? kWord : kAnywhere;
}

}  // namespace

std::vector<std::pair<size_t, size_t>> SplitPieces(absl::Span<const std::string> pieces,
                                                   size_t limit) {
  std::vector<std::pair<size_t, size_t>> parts;
  size_t begin = 0;
  while (pieces.size() - begin > limit) {
    size_t end = begin + limit;
    Cut best = kAnywhere;
    for (size_t i = begin + limit; i > begin && best != kSentence; --i) {
      const Cut cut = CutBefore(pieces, i);
      if (cut > best) {
        best = cut;
        end = i;
      }
    }
    parts.emplace_back(begin, end);
    begin = end;
  }
  if (begin < pieces.size()) parts.emplace_back(begin, pieces.size());
  return parts;
}

}  // namespace nibu
