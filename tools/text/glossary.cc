#include "tools/text/glossary.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "models/files/errors.h"
#include "tokenizer/characters.h"

namespace nibu {

void Glossary::Add(const std::string& source, std::vector<int> target) {
  phrases_[source.size()][source].push_back(std::move(target));
}

std::vector<Constraint> Glossary::Find(absl::string_view sentence) const {
  std::vector<Constraint> found;
  for (size_t at = 0; at < sentence.size() && found.size() < kMostConstraints;) {
    size_t taken = 1;
    const bool may_begin = IsWordBorder(sentence, at);
    for (const auto& [length, phrases] : phrases_) {
      if (!may_begin || length > sentence.size() - at) continue;
      const auto phrase = phrases.find(sentence.substr(at, length));
      if (phrase == phrases.end() || !IsWordBorder(sentence, at + length)) continue;
      found.push_back(phrase->second);
      taken = length;
      break;
    }
    at += taken;
  }
  return found;
}

absl::StatusOr<std::vector<GlossaryEntry>> ParseGlossary(absl::string_view text) {
  std::vector<GlossaryEntry> entries;
  size_t number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    if (absl::EndsWith(line, "\r")) line.remove_suffix(1);
    if (absl::StripAsciiWhitespace(line).empty() || line[0] == '#') continue;
    std::vector<absl::string_view> parts = absl::StrSplit(line, '\t');
    for (absl::string_view& part : parts) part = absl::StripAsciiWhitespace(part);
    if (parts.size() != 2 || parts[0].empty() || parts[1].empty()) {
      return Invalid("line ", number, " must be a source phrase, a tab and a target phrase");
    }
    entries.push_back({std::string(parts[0]), std::string(parts[1])});
  }
  return entries;
}

}  // namespace nibu
