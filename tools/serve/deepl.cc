// Reads requests of DeepL's interface, and writes the answers.

#include "tools/serve/deepl.h"

#include <set>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "tools/serve/answers.h"
#include "tools/serve/deepl_parameters.h"
#include "tools/serve/libre_translate.h"
#include "tools/serve/terms.h"

namespace nibu::internal {
namespace {

using Json = nlohmann::json;

// The target languages for which DeepL takes "more" and "less" as formality.
constexpr absl::string_view kFormal[] = {"de", "es", "fr", "it",    "ja",
                                         "nl", "pl", "pt", "pt-BR", "ru"};

bool IsTarget(const std::string& code, const Catalog& catalog) {
  return absl::c_any_of(catalog.languages(), [&](const ServedLanguage& source) {
    return source.code != code && absl::c_linear_search(source.targets, code);
  });
}

bool IsSource(const ServedLanguage& language) {
  return absl::c_any_of(language.targets,
                        [&](const std::string& target) { return target != language.code; });
}

std::string Upper(const std::string& code) { return absl::AsciiStrToUpper(code); }

// A language as DeepL lists it.
struct ListedLanguage {
  std::string code;
  std::string name;
  bool is_source;
  bool is_target;
  bool is_formal;
};

// Returns the languages. DeepL has variants of English and Portuguese as targets, and its clients
// refuse the languages themselves.
std::vector<ListedLanguage> ListLanguages(const Catalog& catalog) {
  std::vector<ListedLanguage> list;
  for (const ServedLanguage& language : catalog.languages()) {
    const std::string& code = language.code;
    const bool is_target = IsTarget(code, catalog);
    const bool is_formal = absl::c_linear_search(kFormal, code);
    list.push_back({code, language.name, IsSource(language), is_target, is_formal});
    if (!is_target) continue;
    if (code == "en") {
      list.push_back({"en-GB", "English (British)", false, true, is_formal});
      list.push_back({"en-US", "English (American)", false, true, is_formal});
    } else if (code == "pt") {
      list.push_back({"pt-PT", "Portuguese (European)", false, true, is_formal});
    }
  }
  return list;
}

bool HasVariants(const std::string& code) { return code == "en" || code == "pt"; }

// This attribute makes an element stay as it is.
constexpr absl::string_view kStays = " translate=\"no\"";

// Puts kStays behind each of these names where a tag begins with it, or takes it away again. In
// both cases one pass finds the tags, since texts may have very many.
std::string MarkIgnored(absl::string_view text, const std::set<std::string, std::less<>>& names,
                        bool is_marked) {
  std::string changed;
  size_t done = 0;
  for (size_t at = 0; (at = text.find('<', at)) != absl::string_view::npos;) {
    const size_t begin = ++at;
    at = std::min(text.find_first_of(" \t\r\n/>", begin), text.size());
    if (names.count(text.substr(begin, at - begin)) == 0) continue;
    absl::StrAppend(&changed, text.substr(done, at - done));
    done = at;
    if (!is_marked) {
      absl::StrAppend(&changed, kStays);
    } else if (absl::StartsWith(text.substr(at), kStays)) {
      done += kStays.size();
    }
  }
  return absl::StrCat(changed, text.substr(done));
}

// Returns the names of a parameter, which is a list or a text with commas.
absl::StatusOr<std::vector<std::string>> NamesOf(const Parameters& parameters, const char* name) {
  const Json* const value = parameters.Find(name);
  std::vector<std::string> names;
  if (value != nullptr && value->is_array()) {
    for (const Json& each : *value) {
      if (!each.is_string()) return OddValue(name);
      names.push_back(each.get<std::string>());
    }
  } else {
    NIBU_ASSIGN_OR_RETURN(const std::string text, TextOf(parameters, name));
    names = absl::StrSplit(text, ',', absl::SkipWhitespace());
  }
  for (std::string& each : names) absl::StripAsciiWhitespace(&each);
  std::erase(names, "");
  constexpr size_t kMostNames = 16;
  if (names.size() > kMostNames) return OddValue(name);
  return names;
}

// What the answer to a request depends on.
struct DeepLAnswer {
  bool shows_billed = false;
  std::string model_type;
  // Of texts that were read as paragraphs, the output ends with a line feed. True: so does the
  // text.
  std::vector<bool> ends_line;
  std::set<std::string, std::less<>> stay;  // the elements that MarkIgnored has marked
};

HttpAnswer WriteDeepL(const TranslateRequest& request, const std::vector<Translations>& texts,
                      const DeepLAnswer& wanted) {
  const std::vector<std::string> sources = request.sources();
  Json translations = Json::array();
  for (size_t i = 0; i < texts.size(); ++i) {
    absl::string_view text = texts[i].at(0);
    if (!wanted.ends_line.empty() && !wanted.ends_line[i]) absl::ConsumeSuffix(&text, "\n");
    Json& translation = translations.emplace_back(
        Json{{"detected_source_language", Upper(sources[i])},
             {"text", MarkIgnored(text, wanted.stay, /*is_marked=*/true)}});
    if (wanted.shows_billed) translation["billed_characters"] = request.characters[i];
    if (!wanted.model_type.empty()) translation["model_type_used"] = wanted.model_type;
  }
  return JsonAnswer({{"translations", std::move(translations)}});
}

// Checks what changes nothing.
absl::Status CheckOthers(const Parameters& parameters, const std::string& target) {
  NIBU_ASSIGN_OR_RETURN(
      const std::string formality,
      WordOf(parameters, "formality", {"default", "more", "less", "prefer_more", "prefer_less"}));
  if ((formality == "more" || formality == "less") && !absl::c_linear_search(kFormal, target)) {
    return Invalid("'formality' is not supported for given 'target_lang'.");
  }
  for (const char* flag : {"preserve_formatting", "outline_detection"}) {
    NIBU_RETURN_IF_ERROR(FlagOf(parameters, flag).status());
  }
  NIBU_RETURN_IF_ERROR(TextOf(parameters, "context").status());
  return WordOf(parameters, "tag_handling_version", {"v1", "v2"}).status();
}

}  // namespace

absl::StatusOr<TranslateRequest> ReadDeepL(const HttpRequest& http, const Parameters& parameters,
                                           const RequestContext& context) {
  const Json* const text = parameters.Find("text");
  const bool is_list = text != nullptr && text->is_array() && !text->empty();
  if (!is_list && (text == nullptr || !text->is_string())) {
    return Invalid("Parameter 'text' not specified.");
  }
  if (parameters.Find("target_lang") == nullptr) {
    return Invalid("Parameter 'target_lang' not specified.");
  }
  NIBU_ASSIGN_OR_RETURN(const std::string target,
                        LanguageOf(parameters, "target_lang", context.catalog));
  if (!IsTarget(target, context.catalog)) return OddValue("target_lang");
  NIBU_ASSIGN_OR_RETURN(std::string source, TextOf(parameters, "source_lang"));
  if (!source.empty()) {
    NIBU_ASSIGN_OR_RETURN(source, LanguageOf(parameters, "source_lang", context.catalog));
    if (!IsSource(*context.catalog.FindLanguage(source))) return OddValue("source_lang");
    const bool is_pair = source == target || context.catalog.FindRoute(source, target).has_value();
    if (!is_pair) return OddValue("target_lang");
  }
  NIBU_RETURN_IF_ERROR(CheckOthers(parameters, target));
  NIBU_ASSIGN_OR_RETURN(const std::string split,
                        WordOf(parameters, "split_sentences", {"0", "1", "nonewlines"}));
  NIBU_ASSIGN_OR_RETURN(const std::string tags,
                        WordOf(parameters, "tag_handling", {"html", "xml"}));
  NIBU_ASSIGN_OR_RETURN(const bool shows_billed, FlagOf(parameters, "show_billed_characters"));
  NIBU_ASSIGN_OR_RETURN(
      const std::string model_type,
      WordOf(parameters, "model_type",
             {"quality_optimized", "latency_optimized", "prefer_quality_optimized"}));
  NIBU_ASSIGN_OR_RETURN(const std::string glossary, TextOf(parameters, "glossary_id"));
  if (!glossary.empty() && source.empty()) {
    return Invalid("Use of a glossary requires the source_lang parameter to be specified");
  }

  // The rest is as for LibreTranslate.
  Parameters same;
  same.values = {{"q", is_list ? *text : Json::array({*text})},
                 {"source", source.empty() ? "auto" : source},
                 {"target", target},
                 {"format", tags.empty() ? "text" : "html"},
                 {"glossary", glossary}};
  for (const Json& each : same.values["q"]) {
    if (!each.is_string()) return OddValue("text");
  }
  NIBU_ASSIGN_OR_RETURN(const std::vector<std::string> ignored, NamesOf(parameters, "ignore_tags"));
  std::set<std::string, std::less<>> stay;
  if (!tags.empty()) stay.insert(ignored.begin(), ignored.end());
  NIBU_ASSIGN_OR_RETURN(TranslateRequest request, ReadLibreTranslate(http, same, context));
  if (!stay.empty()) {
    for (std::string& each : request.texts) each = MarkIgnored(each, stay, /*is_marked=*/false);
  }
  if (tags == "xml") request.choice.markup = Markup::kXml;
  if (split == "0") request.choice.split_sentences = false;
  DeepLAnswer wanted = {shows_billed, model_type.empty() ? "" : "quality_optimized", {}, stay};
  if (split == "nonewlines" && tags.empty()) {  // In documents, lines are joined anyway.
    request.choice.text = TextKind::kParagraphs;
    for (const std::string& each : request.texts) {
      wanted.ends_line.push_back(absl::EndsWith(each, "\n"));
    }
  }
  request.write = [wanted](const TranslateRequest& read, const std::vector<Translations>& texts) {
    return WriteDeepL(read, texts, wanted);
  };
  return request;
}

HttpAnswer DeepLLanguagesAnswer(const Parameters& parameters, const Catalog& catalog) {
  const auto type = WordOf(parameters, "type", {"source", "target"});
  if (!type.ok()) {
    return ErrorAnswer(400, "Parameter 'type' is invalid. 'source' and 'target' are valid values.");
  }
  Json languages = Json::array();
  for (const ListedLanguage& language : ListLanguages(catalog)) {
    Json listed = {{"language", Upper(language.code)}, {"name", language.name}};
    if (*type == "target") {
      if (!language.is_target || HasVariants(language.code)) continue;
      listed["supports_formality"] = language.is_formal;
    } else if (!language.is_source) {
      continue;
    }
    languages.push_back(std::move(listed));
  }
  return JsonAnswer(languages);
}

HttpAnswer DeepLLanguagesV3Answer(const Parameters& parameters, const Catalog& catalog,
                                  bool has_glossaries) {
  constexpr absl::string_view kResources[] = {
      "translate_text", "translate_document", "glossary",          "voice",
      "write",          "style_rules",        "translation_memory"};
  const auto resource = WordOf(parameters, "resource", kResources);
  if (!resource.ok()) return ErrorAnswer(400, std::string(resource.status().message()));
  if (resource->empty()) return ErrorAnswer(400, "Parameter 'resource' not specified.");
  Json languages = Json::array();
  const bool is_text = *resource == "translate_text";
  if (!is_text && !(*resource == "glossary" && has_glossaries)) return JsonAnswer(languages);
  const Json stable = {{"status", "stable"}};
  for (const ListedLanguage& language : ListLanguages(catalog)) {
    Json features = Json::object();
    if (is_text) features["tag_handling"] = stable;
    if (is_text && has_glossaries) features["glossary"] = stable;
    if (is_text && language.is_formal && language.is_target) features["formality"] = stable;
    languages.push_back({{"lang", language.code},
                         {"name", language.name},
                         {"status", "stable"},
                         {"usable_as_source", language.is_source},
                         {"usable_as_target", language.is_target},
                         {"features", std::move(features)}});
  }
  return JsonAnswer(languages);
}

HttpAnswer DeepLUsageAnswer(const Access::Characters& own, uint64_t all) {
  // DeepL's number for accounts without a limit.
  constexpr uint64_t kNoLimit = 1'000'000'000'000;
  if (own.most > 0) {
    return JsonAnswer({{"character_count", own.used}, {"character_limit", own.most}});
  }
  return JsonAnswer({{"character_count", all}, {"character_limit", kNoLimit}});
}

HttpAnswer DeepLGlossaryPairsAnswer(const Catalog& catalog, bool has_glossaries) {
  Json pairs = Json::array();
  for (const ServedLanguage& source : catalog.languages()) {
    for (const std::string& target : source.targets) {
      if (has_glossaries && target != source.code) {
        pairs.push_back({{"source_lang", absl::AsciiStrToLower(source.code)},
                         {"target_lang", absl::AsciiStrToLower(target)}});
      }
    }
  }
  return JsonAnswer({{"supported_languages", std::move(pairs)}});
}

}  // namespace nibu::internal
