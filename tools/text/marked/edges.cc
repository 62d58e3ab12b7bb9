// Finds the protected parts at the edges of a sentence that are no words of it.
//
// Models were trained on sentences, in which a name in front is the subject: of "Tom I am tired"
// they make "Tom ist müde". What shows that a part is no word is the same in all languages with
// capitals: a sentence begins behind it, or has ended in front of it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "tokenizer/unicode/characters.h"
#include "tokenizer/unicode/typesetting.h"
#include "tools/text/marked/marked_text.h"
#include "tools/text/marked/protect.h"

namespace nibu::internal {
namespace {

// Returns what follows the signs and white space that a text begins with.
absl::string_view BehindSigns(absl::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    const int32_t character = NextCharacter(text, &at);
    if (HasWords(text.substr(begin, at - begin)) || character < 0) return text.substr(begin);
  }
  return {};
}

// Returns whether a part in front of `behind` is a word of the sentence that begins with it.
bool IsWordInFront(absl::string_view part, absl::string_view behind) {
  const StandIn stand_in = StandInFor(part, behind);
  const absl::string_view words = BehindSigns(behind);
  const absl::string_view signs = behind.substr(0, behind.size() - words.size());
  if (stand_in == StandIn::kNone || absl::StrContains(signs, ':')) return false;
  if (stand_in == StandIn::kNumber || absl::StrContains(signs, ',')) return true;
  if (signs.empty()) return !BeginsCapital(words);  // a program puts a blank behind "{0}You"
  if (BeginsSmall(words) || BeginsCapital(words)) return BeginsSmall(words);
  // In a script without capitals, an address or name of a user may stand in front of a sentence.
  return !StandsApart(part);
}

bool EndsSentence(absl::string_view text) {
  return IsOneOf(LastCharacter(text), U".!?:…。！？：।؟|·");
}

bool StandsForNothing(const Annotation& part) {
  return StandInFor(part.before, "") == StandIn::kNone;
}

}  // namespace

std::string WithoutPartsBetweenSentences(const MarkedText& text) {
  std::string rest = text.text;
  const absl::string_view all = text.text;
  for (size_t first = 0, last = 0; first < text.annotations.size(); first = last) {
    // A run of parts with nothing but white space between them
    const size_t begin = text.annotations[first].span.begin;
    size_t end = begin;
    bool stand_apart = true;
    for (last = first; last < text.annotations.size(); ++last) {
      const Annotation& part = text.annotations[last];
      if (part.span.begin > end) break;
      stand_apart =
          stand_apart && part.replaces &&
          (StandsForNothing(part) || StandsApart(absl::StripAsciiWhitespace(part.before)));
      end = std::max(end, part.span.end);
      end += BlankPrefix(all.substr(end));
    }
    if (stand_apart && BeginsCapital(all.substr(end)) &&
        EndsSentence(absl::StripTrailingAsciiWhitespace(all.substr(0, begin)))) {
      std::fill(rest.begin() + static_cast<long>(begin), rest.begin() + static_cast<long>(end),
                ' ');
    }
  }
  return rest;
}

TextSpan WithoutEdges(const MarkedText& sentence) {
  const absl::string_view text = sentence.text;
  std::vector<const Annotation*> parts;
  for (const Annotation& each : sentence.annotations) {
    if (each.replaces) parts.push_back(&each);
  }
  TextSpan rest = {0, text.size()};
  // Parts with nothing but white space between them are a run, of which the last one decides. If it
  // is a word of the sentence, only parts that never are one are cut off.
  size_t first = 0;  // the first part that is not cut off
  size_t end = 0;    // behind the run
  size_t run = 0;
  for (; run < parts.size() && parts[run]->span.begin == end; ++run) {
    end = parts[run]->span.end + BlankPrefix(text.substr(parts[run]->span.end));
  }
  const bool is_word =
      run > 0 && IsWordInFront(parts[run - 1]->before, text.substr(parts[run - 1]->span.end));
  for (; first < run && (!is_word || StandsForNothing(*parts[first])); ++first) {
    const size_t behind = parts[first]->span.end;
    rest.begin = behind + BlankPrefix(text.substr(behind));
  }
  if (first == run && text.substr(rest.begin, 1) == ":") {
    rest.begin += 1 + BlankPrefix(text.substr(rest.begin + 1));
  }
  // Does the same at the end.
  size_t begin = text.size();
  size_t last = parts.size();  // behind the last part that is not cut off
  for (run = last; run > first && parts[run - 1]->span.end == begin; --run) {
    begin = absl::StripTrailingAsciiWhitespace(text.substr(0, parts[run - 1]->span.begin)).size();
  }
  const bool is_end = run < last && begin > rest.begin && begin < parts[run]->span.begin &&
                      EndsSentence(text.substr(0, begin));
  for (; last > run && (is_end || StandsForNothing(*parts[last - 1])); --last) {
    rest.end =
        absl::StripTrailingAsciiWhitespace(text.substr(0, parts[last - 1]->span.begin)).size();
  }
  if (first == 0 && last == parts.size()) return rest;
  return rest.begin < rest.end && HasLetters(Cut(sentence, {rest})[0]) ? rest
                                                                       : TextSpan{0, text.size()};
}

}  // namespace nibu::internal
