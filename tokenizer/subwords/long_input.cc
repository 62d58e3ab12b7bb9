// Cuts a line of pieces at the best place before the limit: a sentence's end, a clause's, a word's.
#include "tokenizer/subwords/long_input.h"

#include <unicode/utf8.h>

#include <cstdint>

#include "absl/base/macros.h"
#include "absl/strings/match.h"
#include "tokenizer/unicode/characters.h"

namespace nibu::internal {
namespace {

// Marks of many scripts. No blank stands behind the wide ones, nor behind the others in East Asian
// text: SentencePiece's usual normalization turns wide commas into narrow ones.
constexpr std::u32string_view kSentenceEnds = U".!?\u2026\u0964\u061f\u06d4\u0589\u1362";
constexpr std::u32string_view kWideSentenceEnds = U"\u3002\uff01\uff1f\uff0e\uff61";
constexpr std::u32string_view kClauseEnds = U",;:\u060c\u061b\u2013\u2014";
constexpr std::u32string_view kWideClauseEnds = U"\u3001\uff0c\uff1b\uff1a\uff64";
// Marks that may follow the end of a sentence or clause, and belong to it.
constexpr std::u32string_view kClosing = U"\"')]\u201d\u2019\u00bb\u300d\u300f\uff09";

absl::string_view WithoutClosing(absl::string_view piece) {
  while (IsOneOf(LastCharacter(piece), kClosing)) {
    piece.remove_suffix(static_cast<size_t>(U8_LENGTH(LastCharacter(piece))));
  }
  return piece;
}

// Returns true for kana, CJK ideographs, Hangul, and wide and half-width forms.
bool IsEastAsian(int32_t c) {
  return (c >= 0x2e80 && c <= 0xd7ff) || (c >= 0xf900 && c <= 0xfaff) ||
         (c >= 0xff00 && c <= 0xffbf) || c >= 0x20000;
}

// The places where pieces may be cut, the worst first.
enum Cut { kAnywhere, kWord, kClause, kSentence };

// Returns which place is before pieces[i]. REQUIRES: i > 0.
Cut CutBefore(absl::Span<const std::string> pieces, size_t i) {
  ABSL_ASSERT(i > 0);
  const int32_t first = FirstCharacter(pieces[i]);
  if (IsOneOf(first, kClosing) || IsOneOf(first, kWideSentenceEnds) ||
      IsOneOf(first, kWideClauseEnds)) {
    return kAnywhere;
  }
  // Closing marks may be pieces of their own, rarely more than a few.
  size_t at = i - 1;
  absl::string_view before = WithoutClosing(pieces[at]);
  for (int n = 0; n < 4 && before.empty() && at > 0; ++n) before = WithoutClosing(pieces[--at]);
  const int32_t last = LastCharacter(before);
  const bool word = absl::StartsWith(pieces[i], kWordMark);
  const bool narrow = word || IsEastAsian(first);
  if (IsOneOf(last, kWideSentenceEnds) || (narrow && IsOneOf(last, kSentenceEnds))) {
    return kSentence;
  }
  if (IsOneOf(last, kWideClauseEnds) || (narrow && IsOneOf(last, kClauseEnds))) return kClause;
  return word ? kWord : kAnywhere;
}

}  // namespace

std::vector<std::pair<size_t, size_t>> SplitPieces(absl::Span<const std::string> pieces,
                                                   size_t limit) {
  ABSL_ASSERT(limit >= 1);
  std::vector<std::pair<size_t, size_t>> parts;
  size_t begin = 0;
  while (pieces.size() - begin > limit) {
    size_t end = begin + limit;
    Cut best = kAnywhere;
    // From the limit backwards, so that the last of equally good places is taken.
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

}  // namespace nibu::internal
