// Decides by the numbers of pieces which words the model knows in lower case.
#include "tools/text/lines/capitals.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "tokenizer/unicode/capitals.h"
#include "tokenizer/unicode/characters.h"

namespace nibu::internal {
namespace {

absl::string_view At(absl::string_view text, const TextSpan& span) {
  return text.substr(span.begin, span.end - span.begin);
}

// Returns the number of pieces that a word has. One with unknown characters has too many.
size_t Pieces(const LinePlan& plan, absl::string_view word) {
  constexpr size_t kTooMany = 1000;
  const auto coded = plan.coder.Encode({}, word);
  return coded.ok() && !plan.coder.HasUnknown(coded->pieces) ? coded->pieces.size() : kTooMany;
}

// Returns the text with only its first letter in capitals.
std::string Title(std::string lower, const std::string& language) {
  size_t first = 0;
  NextCharacter(lower, &first);
  return ToUpper(lower.substr(0, first), language) + lower.substr(first);
}

// Returns a word in lower case, or with a capital if the model knows it rather so ("Boston").
std::string LowerCase(const LinePlan& plan, absl::string_view capitals) {
  std::string lower = ToLower(capitals, plan.source_language);
  std::string title = Title(lower, plan.source_language);
  return Pieces(plan, title) < Pieces(plan, lower) ? title : lower;
}

// Returns whether the model knows a word in another case: as one piece or, in a sentence in
// capitals, with fewer pieces. Acronyms have fewer pieces in lower case, too ("aclu").
bool IsKnown(const LinePlan& plan, absl::string_view capitals, bool is_all) {
  const size_t pieces = Pieces(plan, LowerCase(plan, capitals));
  return pieces == 1 || (is_all && pieces < Pieces(plan, capitals));
}

bool IsLetter(absl::string_view word) {
  size_t first = 0;
  NextCharacter(word, &first);
  return first == word.size();
}

// Returns whether a word is so short that it is often an abbreviation that looks like another word
// ("US", "IT").
bool IsShort(absl::string_view word) { return word.size() < 3; }

// Drops the words in which an annotation begins or ends, and those in protected parts.
void DropCut(const MarkedText& text, std::vector<TextSpan>* words) {
  std::vector<size_t> borders;
  std::vector<TextSpan> parts;  // sorted and disjoint
  for (const Annotation& each : text.annotations) {
    borders.insert(borders.end(), {each.span.begin, each.span.end});
    if (each.replaces) parts.push_back(each.span);
  }
  absl::c_sort(borders);
  std::erase_if(*words, [&](const TextSpan& word) {
    const auto border = absl::c_upper_bound(borders, word.begin);
    const auto part = absl::c_partition_point(
        parts, [&](const TextSpan& each) { return each.end <= word.begin; });
    return (border != borders.end() && *border < word.end) ||
           (part != parts.end() && part->begin < word.end);
  });
}

// Returns how a word of a run that the model knows is rewritten; the same bytes: not at all.
std::string Rewritten(const LinePlan& plan, absl::string_view capitals, bool is_all) {
  std::string lower = LowerCase(plan, capitals);
  // A letter alone may have its capital for another reason: "A dog", "I".
  const bool stays = capitals == "I" || (!is_all && IsLetter(capitals)) ||
                     Pieces(plan, lower) > Pieces(plan, capitals);
  // Spans stay as they are, and Write makes the same capitals of it.
  const bool is_same =
      lower.size() == capitals.size() && ToUpper(lower, plan.source_language) == capitals;
  return stays || !is_same ? std::string(capitals) : lower;
}

void Annotate(const std::vector<TextSpan>& spans, const std::string& language,
              MarkedText* sentence) {
  const bool is_all = spans[0].end - spans[0].begin == sentence->text.size();
  for (const TextSpan& span : spans) {
    sentence->annotations.push_back({span, "", "", false, language});
  }
  // Where annotations begin together, that of the whole sentence is the outermost, and that of a
  // word the innermost.
  absl::c_stable_sort(sentence->annotations, [&](const Annotation& a, const Annotation& b) {
    return std::pair(a.span.begin, is_all && !a.capitals) <
           std::pair(b.span.begin, is_all && !b.capitals);
  });
}

}  // namespace

void ReadCapitals(const LinePlan& plan, MarkedText* sentence) {
  if (!plan.protect[Protected::kCapitals] || !plan.glossary.empty()) return;
  const std::string text = sentence->text;
  std::vector<TextSpan> words = CapitalWords(text);
  if (absl::c_all_of(words, [&](const TextSpan& word) { return IsShort(At(text, word)); })) return;
  DropCut(*sentence, &words);
  const bool is_all = !HasSmallLetters(MaskProtected(*sentence, {}).text);
  const bool may_join = sentence->annotations.empty();  // else words may be in different elements
  std::vector<TextSpan> changed;
  for (auto begin = words.begin(); begin != words.end();) {
    // Words with only white space between them are a run; all of a sentence in capitals is one.
    auto end = std::next(begin);
    while (end != words.end() && (is_all || IsBlank(At(text, {std::prev(end)->end, end->begin})))) {
      ++end;
    }
    const bool is_known = std::any_of(begin, end, [&](const TextSpan& word) {
      return !IsShort(At(text, word)) && IsKnown(plan, At(text, word), is_all);
    });
    for (auto word = begin; is_known && word != end; ++word) {
      const std::string rewritten = Rewritten(plan, At(text, *word), is_all);
      if (rewritten == At(text, *word)) continue;
      sentence->text.replace(word->begin, rewritten.size(), rewritten);
      if (may_join && word != begin && !changed.empty() &&
          changed.back().end == std::prev(word)->end) {
        changed.back().end = word->end;
      } else {
        changed.push_back(*word);
      }
    }
    begin = end;
  }
  if (changed.empty()) return;
  if (is_all) {
    // The first word of the sentence begins with a capital.
    const TextSpan first = words.front();
    const std::string word(At(sentence->text, first));
    const std::string title = Title(word, plan.source_language);
    if (HasSmallLetters(word) && title.size() == word.size()) {
      sentence->text.replace(first.begin, title.size(), title);
    }
    changed.assign(1, {0, text.size()});
  }
  Annotate(changed, plan.target_language, sentence);
}

}  // namespace nibu::internal
