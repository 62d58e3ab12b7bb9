#include "tokenizer/long_input.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"

namespace nibu {
namespace {

constexpr absl::string_view kWordMark = "\u2581";

// Marks of many scripts. The first kind ends a word too; the full-width ones of the second kind
// stand without a blank behind them.
constexpr absl::string_view kSentenceEnds[] = {".",      "!",      "?",      "\u2026", "\u0964",
                                               "\u061f", "\u06d4", "\u0589", "\u1362"};
constexpr absl::string_view kWideSentenceEnds[] = {"\u3002", "\uff01", "\uff1f", "\uff0e"};
constexpr absl::string_view kClauseEnds[] = {",", ";", ":", "\u060c", "\u061b", "\u2013", "\u2014"};
constexpr absl::string_view kWideClauseEnds[] = {"\u3001", "\uff0c", "\uff1b", "\uff1a"};
// May follow a sentence's end.
constexpr absl::string_view kClosing[] = {"\"",     "'",      ")",      "]",      "\u201d",
                                          "\u2019", "\u00bb", "\u300d", "\u300f", "\uff09"};

bool EndsWithAny(absl::string_view text, absl::Span<const absl::string_view> endings) {
  return std::any_of(endings.begin(), endings.end(),
                     [&](absl::string_view ending) { return absl::EndsWith(text, ending); });
}

absl::string_view WithoutClosing(absl::string_view piece) {
  bool changed = true;
  while (changed) {
    changed = false;
    for (absl::string_view closing : kClosing) {
      if (piece.size() > closing.size() && absl::EndsWith(piece, closing)) {
        piece.remove_suffix(closing.size());
        changed = true;
      }
    }
  }
  return piece;
}

// How good it is to cut before pieces[i], i > 0.
enum Cut { kAnywhere, kWord, kClause, kSentence };

Cut CutBefore(absl::Span<const std::string> pieces, size_t i) {
  const bool word = absl::StartsWith(pieces[i], kWordMark);
  absl::string_view last = WithoutClosing(pieces[i - 1]);
  // A closing mark that is a piece of its own.
  if (i >= 2 && EndsWithAny(last, kClosing)) last = pieces[i - 2];
  if ((word && EndsWithAny(last, kSentenceEnds)) || EndsWithAny(last, kWideSentenceEnds)) {
    return kSentence;
  }
  if ((word && EndsWithAny(last, kClauseEnds)) || EndsWithAny(last, kWideClauseEnds)) {
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
    for (size_t i = begin + limit; i > begin; --i) {
      const Cut cut = CutBefore(pieces, i);
      if (cut <= best) continue;
      // A word's start is good anywhere; the others are not worth a tiny part.
      if (cut != kWord && best != kAnywhere && i - begin < (limit + 1) / 2) continue;
      best = cut;
      end = i;
      if (best == kSentence) break;
    }
    parts.emplace_back(begin, end);
    begin = end;
  }
  if (begin < pieces.size()) parts.emplace_back(begin, pieces.size());
  return parts;
}

}  // namespace nibu
