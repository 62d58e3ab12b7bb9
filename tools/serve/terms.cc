// Reads glossaries and texts that stay as they are from parameters.

#include "tools/serve/terms.h"

#include <re2/re2.h>

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "models/files/json.h"
#include "tools/cli/json_request.h"
#include "tools/serve/glossaries.h"

namespace nibu::internal {
namespace {

using Json = nlohmann::json;

// Reads terms in JSON.
absl::Status ReadGlossary(const Json& value, std::vector<GlossaryEntry>* glossary) {
  const auto is_whole = [](const GlossaryEntry& entry) {
    return !entry.source.empty() && !entry.target.empty();
  };
  if (ReadGlossaryEntries(value, glossary) && absl::c_all_of(*glossary, is_whole)) {
    return absl::OkStatus();
  }
  return Invalid(
      "Invalid request: glossary parameter is neither a name nor terms, as in {\"dog\": \"Hund\"}");
}

absl::StatusOr<std::vector<std::string>> ReadTexts(const Json& value) {
  if (value.is_string()) {
    return std::vector<std::string>(
        absl::StrSplit(value.get<std::string>(), '\n', absl::SkipWhitespace()));
  }
  std::vector<std::string> texts;
  for (const Json& text : value) {
    if (!value.is_array() || !text.is_string()) {
      return Invalid("Invalid request: do_not_translate parameter is not a list of texts");
    }
    texts.push_back(text.get<std::string>());
  }
  return texts;
}

bool IsWord(char byte) { return absl::ascii_isalnum(static_cast<unsigned char>(byte)); }

}  // namespace

std::string PatternOf(std::vector<std::string> texts) {
  for (std::string& text : texts) absl::StripAsciiWhitespace(&text);
  std::erase(texts, "");
  // The first of several texts that match counts, so that the longer ones must come first.
  std::sort(texts.begin(), texts.end(), [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() > b.size() : a < b;
  });
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  return absl::StrJoin(texts, "|", [](std::string* out, const std::string& text) {
    absl::StrAppend(out, IsWord(text.front()) ? "\\b" : "", RE2::QuoteMeta(text),
                    IsWord(text.back()) ? "\\b" : "");
  });
}

absl::StatusOr<std::shared_ptr<const Terms>> ReadTerms(const Parameters& parameters,
                                                       const std::string& source,
                                                       const std::string& target,
                                                       const RequestContext& context) {
  const auto given = [&](const char* name) -> const Json& {
    static const auto& none = *new Json("");
    const Json* const value = parameters.Find(name);
    return value == nullptr || value->is_null() ? none : *value;
  };
  const auto too_many = [] {
    return Invalid("Invalid request: more than ", kMostTerms, " terms or ", kMostTermBytes,
                   " bytes of them in glossary and do_not_translate");
  };
  const Json& glossary = given("glossary");
  const bool is_own =
      !glossary.is_string() || absl::StrContains(glossary.get_ref<const std::string&>(), '\t');
  Terms terms;
  if (!is_own) {
    const auto name = glossary.get<std::string>();
    if (!name.empty()) {
      const StoredGlossary* const stored = context.glossaries.Find(name);
      if (stored == nullptr) return absl::NotFoundError("Glossary not found");
      terms = *stored->terms;
    }
  } else if (is_own && JsonText(glossary).size() > 2 * kMostTermBytes) {
    return too_many();
  } else if (glossary.is_string()) {
    NIBU_ASSIGN_OR_RETURN(terms.glossary, ParseGlossary(glossary.get<std::string>()));
    terms.key = glossary.get<std::string>();
  } else {
    NIBU_RETURN_IF_ERROR(ReadGlossary(glossary, &terms.glossary));
    terms.key = JsonText(glossary);
  }
  const bool is_other = !terms.source.empty() && (terms.source != source || terms.target != target);
  if (is_other) {
    return Invalid("Invalid request: the glossary is for the languages ", terms.source, " and ",
                   terms.target);
  }
  NIBU_ASSIGN_OR_RETURN(std::vector<std::string> texts, ReadTexts(given("do_not_translate")));
  const size_t count = (is_own ? terms.glossary.size() : 0) + texts.size();
  terms.protect_pattern = PatternOf(std::move(texts));
  const size_t bytes = (is_own ? terms.key.size() : 0) + terms.protect_pattern.size();
  if (count > kMostTerms || bytes > kMostTermBytes) return too_many();
  if (terms.glossary.empty() && terms.protect_pattern.empty()) return nullptr;
  // The pattern has no line break that is not behind a backslash.
  terms.key = absl::StrCat(terms.protect_pattern, "\n\n", terms.key);
  return std::make_shared<const Terms>(std::move(terms));
}

}  // namespace nibu::internal
