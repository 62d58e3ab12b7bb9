// Parses glossaries and finds their phrases in sentences.
#include "tools/text/lines/glossary.h"

#include <utility>

#include "absl/base/macros.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "engine/core/errors.h"
#include "engine/core/exception_status.h"
#include "tokenizer/unicode/characters.h"

namespace nibu::internal {

void Glossary::Add(const std::string& source, std::vector<int> target) {
  ABSL_ASSERT(!source.empty() && !target.empty());
  phrases_[source.size()][source].push_back(std::move(target));
}

std::vector<Constraint> Glossary::Find(absl::string_view sentence) const {
  std::vector<Constraint> found;
  for (size_t at = 0; at < sentence.size() && found.size() < kMostConstraints;) {
    const size_t begin = at++;
    if (!IsWordBorder(sentence, begin)) continue;
    for (const auto& [length, phrases] : phrases_) {
      const auto phrase = phrases.find(sentence.substr(begin, length));
      if (phrase == phrases.end() || !IsWordBorder(sentence, begin + length)) continue;
      found.push_back(phrase->second);
      at = begin + length;
      break;
    }
  }
  return found;
}

}  // namespace nibu::internal

namespace nibu {

absl::StatusOr<std::vector<GlossaryEntry>> ParseGlossary(absl::string_view text) try {
  std::vector<GlossaryEntry> entries;
  size_t number = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    if (absl::StripAsciiWhitespace(line).empty() || line[0] == '#') continue;
    std::vector<absl::string_view> parts = absl::StrSplit(line, '\t');
    for (absl::string_view& part : parts) part = absl::StripAsciiWhitespace(part);
    if (parts.size() != 2 || parts[0].empty() || parts[1].empty()) {
      return internal::Invalid("line ", number,
                               " must be a source phrase, a tab and a target phrase");
    }
    entries.push_back({std::string(parts[0]), std::string(parts[1])});
  }
  return entries;
} catch (...) {
  return internal::StatusOfException();
}

}  // namespace nibu
