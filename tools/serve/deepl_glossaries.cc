// Reads and writes glossaries as DeepL's clients send and expect them.

#include <ctime>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "tools/serve/answers.h"
#include "tools/serve/deepl.h"
#include "tools/serve/deepl_parameters.h"

namespace nibu::internal {
namespace {

using Json = nlohmann::json;

// Splits a line of CSV, as RFC 4180 has it. Fields have no line breaks.
std::vector<std::string> SplitCsv(absl::string_view line) {
  std::vector<std::string> fields(1);
  bool is_quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"' && is_quoted && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += line[i++];
    } else if (line[i] == '"') {
      is_quoted = !is_quoted;
    } else if (line[i] == ',' && !is_quoted) {
      fields.emplace_back();
    } else {
      fields.back() += line[i];
    }
  }
  return fields;
}

// Reads the entries of a glossary. A source phrase may stand there once.
absl::StatusOr<std::vector<GlossaryEntry>> ReadEntries(absl::string_view text, bool is_csv) {
  std::vector<GlossaryEntry> entries;
  std::set<std::string> sources;
  for (const absl::string_view line : absl::StrSplit(text, absl::ByAnyChar("\r\n"))) {
    if (absl::StripAsciiWhitespace(line).empty()) continue;
    std::vector<std::string> fields =
        is_csv ? SplitCsv(line) : std::vector<std::string>(absl::StrSplit(line, '\t'));
    for (std::string& field : fields) {
      absl::StripAsciiWhitespace(&field);
      if (absl::StrContains(field, '\t')) fields.clear();
      if (fields.empty()) break;
    }
    // In CSV the languages may follow.
    const bool is_entry = fields.size() == 2 || (is_csv && fields.size() == 4);
    if (!is_entry || fields[0].empty() || fields[1].empty()) {
      return Invalid("Invalid glossary entries provided: entry ", entries.size() + 1,
                     " is not a source and a target phrase");
    }
    if (!sources.insert(fields[0]).second) {
      return Invalid("Invalid glossary entries provided: entry ", entries.size() + 1,
                     " has the source phrase of another one");
    }
    entries.push_back({fields[0], fields[1]});
  }
  if (entries.empty()) return Invalid("Invalid glossary entries provided: there are none");
  return entries;
}

}  // namespace

Json DeepLGlossaryInfo(const std::string& id, const StoredGlossary& glossary) {
  std::tm utc{};
  gmtime_r(&glossary.created, &utc);
  char created[40];
  // deepl-python needs the fraction.
  std::strftime(created, sizeof(created), "%Y-%m-%dT%H:%M:%S.000000Z", &utc);
  return {{"glossary_id", id},
          {"name", glossary.name},
          {"ready", true},
          {"source_lang", absl::AsciiStrToLower(glossary.terms->source)},
          {"target_lang", absl::AsciiStrToLower(glossary.terms->target)},
          {"creation_time", created},
          {"entry_count", glossary.terms->glossary.size()}};
}

HttpAnswer DeepLGlossaryAnswer(const std::string& id, bool wants_entries,
                               const Glossaries& glossaries) {
  if (id.empty()) {
    Json list = Json::array();
    for (const auto& [each, glossary] : glossaries.all()) {
      if (glossary.has_languages()) list.push_back(DeepLGlossaryInfo(each, glossary));
    }
    return JsonAnswer({{"glossaries", std::move(list)}});
  }
  const StoredGlossary* const glossary = glossaries.Find(id);
  if (glossary == nullptr || !glossary->has_languages()) {
    return ErrorAnswer(404, "Glossary not found");
  }
  if (!wants_entries) return JsonAnswer(DeepLGlossaryInfo(id, *glossary));
  HttpAnswer answer;
  answer.content_type = "text/tab-separated-values; charset=UTF-8";
  answer.body = GlossaryText(glossary->terms->glossary);
  return answer;
}

absl::StatusOr<NewGlossary> ReadDeepLGlossary(const Parameters& parameters,
                                              const Catalog& catalog) {
  NewGlossary glossary;
  constexpr size_t kMostName = 1024;
  NIBU_ASSIGN_OR_RETURN(glossary.name, TextOf(parameters, "name"));
  absl::StripAsciiWhitespace(&glossary.name);
  const bool is_line = absl::c_none_of(glossary.name, [](char byte) {
    return absl::ascii_iscntrl(static_cast<unsigned char>(byte));
  });
  if (glossary.name.empty() || glossary.name.size() > kMostName || !is_line) {
    return Invalid("Missing or invalid argument: name");
  }
  NIBU_ASSIGN_OR_RETURN(glossary.terms.source, LanguageOf(parameters, "source_lang", catalog));
  NIBU_ASSIGN_OR_RETURN(glossary.terms.target, LanguageOf(parameters, "target_lang", catalog));
  if (!catalog.FindRoute(glossary.terms.source, glossary.terms.target).has_value()) {
    return Invalid("Unsupported glossary source and target language pair");
  }
  NIBU_ASSIGN_OR_RETURN(const std::string format,
                        WordOf(parameters, "entries_format", {"tsv", "csv"}));
  if (format.empty()) return Invalid("Missing or invalid argument: entries_format");
  NIBU_ASSIGN_OR_RETURN(const std::string entries, TextOf(parameters, "entries"));
  if (entries.size() > Glossaries::kMostBytes) {
    return absl::OutOfRangeError("the glossary is too large");
  }
  NIBU_ASSIGN_OR_RETURN(glossary.terms.glossary, ReadEntries(entries, format == "csv"));
  return glossary;
}

}  // namespace nibu::internal
