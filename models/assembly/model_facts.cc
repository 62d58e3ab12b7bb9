// Looks for facts in the fields of JSON and YAML, and in the lines of texts.
#include "models/assembly/model_facts.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "models/files/file_bytes.h"
#include "models/files/json.h"
#include "models/files/yaml.h"

namespace nibu::internal {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostText = 1 << 20;  // bytes that are read of a file
constexpr size_t kMostFact = 200;      // bytes of a fact

// Adds a fact, unless it is known already.
void Add(const char* fact, std::string text, ModelFacts* facts) {
  text.resize(std::min(text.size(), kMostFact));
  text = PrintableLine(text);
  absl::StripAsciiWhitespace(&text);
  if (!text.empty()) facts->try_emplace(fact, text);
}

void AddFields(const absl::StatusOr<Json>& json, ModelFacts* facts) {
  static constexpr std::pair<const char*, const char*> kFields[] = {
      {"license_name", "license"},  // where license is "other"
      {"license", "license"},
      {"language", "languages"},
      {"source_lang", "source_language"},
      {"target_lang", "target_language"},
      {"from_code", "source_language"},
      {"to_code", "target_language"},
      {"sourceLanguage", "source_language"},
      {"targetLanguage", "target_language"},
      {"package_version", "package_version"},
      {"argos_version", "argos_version"}};
  if (!json.ok() || !json->is_object()) return;
  for (const auto& [field, fact] : kFields) {
    const auto it = json->find(field);
    std::vector<std::string> words;
    for (const Json& value : it == json->end() ? Json::array() : it->is_array() ? *it : Json{*it}) {
      if (value.is_string()) words.push_back(value);
    }
    Add(fact, absl::StrJoin(words, ", "), facts);
  }
}

// Adds the first line that has "licen" or stands below a heading that has it. Rows of three and
// more cells do not count: they speak of data. With `said`, the text itself is a licence, and its
// first line counts.
void AddLicense(absl::string_view text, bool said, ModelFacts* facts) {
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    const absl::string_view bare = absl::StripAsciiWhitespace(line);
    const bool speaks = absl::StrContains(absl::AsciiStrToLower(bare), "licen");
    if (bare.empty() || std::count(bare.begin(), bare.end(), '|') > 3) continue;
    if (bare[0] != '#' && (said || speaks)) {
      return Add("license", absl::StrReplaceAll(bare, {{"**", ""}}), facts);
    }
    said = said || speaks;
  }
}

}  // namespace

ModelFacts ReadModelFacts(const Folder& folder) {
  ModelFacts facts;
  const auto text = [&](const char* name) {
    const auto file = folder.Open(name);
    return file.ok() ? absl::StrReplaceAll((*file)->bytes().substr(0, kMostText), {{"\r\n", "\n"}})
                     : std::string();
  };
  for (const char* name : {"metadata.json", "tokenizer_config.json", "config.json"}) {
    AddFields(ParseJson(text(name), name), &facts);
  }
  const std::string readme = "\n" + text("README.md");
  const std::vector<absl::string_view> parts = absl::StrSplit(readme, absl::MaxSplits("\n---", 2));
  const bool has_front = parts.size() == 3 && parts[0].empty();
  if (has_front) AddFields(ParseYaml(parts[1], "README.md"), &facts);
  AddLicense(has_front ? parts[2] : readme, false, &facts);
  AddLicense(text("LICENSE"), true, &facts);
  return facts;
}

}  // namespace nibu::internal
