// Reads requests of LibreTranslate's interface, and writes the answers.

#include "tools/serve/libre_translate.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "models/files/json.h"
#include "nibu/version.h"
#include "tokenizer/unicode/characters.h"
#include "tools/serve/answers.h"
#include "tools/serve/source_language.h"
#include "tools/serve/terms.h"

namespace nibu::internal {
namespace {

using Json = nlohmann::json;

constexpr char kSpec[] =
#include "tools/serve/spec.inc"
    ;

// Returns whether Python takes a value for false, which is how LibreTranslate finds missing ones.
bool IsMissing(const Json* value) {
  if (value == nullptr || value->is_null() || *value == false || *value == 0) return true;
  if (const auto* text = value->get_ptr<const std::string*>()) return text->empty();
  return value->is_structured() && value->empty();
}

// Returns the parameter `name` in lower case. It must be there, and a text.
absl::StatusOr<std::string> CodeOf(const Parameters& parameters, const char* name) {
  const Json* const value = parameters.Find(name);
  if (IsMissing(value)) return Invalid("Invalid request: missing ", name, " parameter");
  if (!value->is_string()) return Invalid("Invalid request: ", name, " parameter is not a text");
  return absl::AsciiStrToLower(value->get<std::string>());
}

// Returns the parameter `name`, a number or the text of one, or 0 if it is missing. It must not be
// negative.
absl::StatusOr<double> NumberOf(const Parameters& parameters, const char* name) {
  const Json* const value = parameters.Find(name);
  if (value == nullptr || value->is_null()) return 0;
  double number = 0;
  if (value->is_number()) {
    number = value->get<double>();
  } else if (!value->is_string() || !absl::SimpleAtod(value->get<std::string>(), &number) ||
             !std::isfinite(number)) {
    return Invalid("Invalid request: ", name, " parameter is not a number");
  }
  if (number < 0) return Invalid("Invalid request: ", name, " parameter must be >= 0");
  return number;
}

// Counts the characters of a text. Bytes that are not UTF-8 count as the U+FFFD that would replace
// them do.
size_t CountCharacters(absl::string_view text) {
  size_t count = 0;
  for (size_t i = 0; i < text.size(); ++count) {
    // Most bytes are ASCII, for which the call would take too long: a request may have megabytes.
    if (static_cast<unsigned char>(text[i]) < 0x80) {
      ++i;
    } else {
      NextCharacter(text, &i);
    }
  }
  return count;
}

// Reads the texts of "q". In texts from forms, line ends become LF, and those at the end are
// removed.
absl::Status ReadTexts(const Parameters& parameters, TranslateRequest* request) {
  const Json* const q = parameters.Find("q");
  if (IsMissing(q)) return Invalid("Invalid request: missing q parameter");
  request->is_list = q->is_array();
  for (const Json& text : request->is_list ? *q : Json::array({*q})) {
    if (!text.is_string()) {
      return Invalid("Invalid request: q parameter is not a text or a list of texts");
    }
    request->texts.push_back(text.get<std::string>());
  }
  if (parameters.is_form) {
    std::string& text = request->texts[0];
    absl::StrReplaceAll({{"\r\n", "\n"}, {"\r", "\n"}}, &text);
    text = std::string(absl::StripSuffix(text, "\n"));
  }
  return absl::OkStatus();
}

absl::Status CheckLimits(const ServeOptions& options, TranslateRequest* request) {
  const auto beyond = [](size_t size, size_t limit) {
    return absl::OutOfRangeError(
        absl::StrCat("Invalid request: request (", size, ") exceeds text limit (", limit, ")"));
  };
  const auto max_texts = static_cast<size_t>(options.max_texts);
  const auto max_characters = static_cast<size_t>(options.max_characters);
  if (request->texts.size() > max_texts) return beyond(request->texts.size(), max_texts);
  for (const std::string& text : request->texts) {
    const size_t characters = CountCharacters(text);
    if (characters > max_characters) return beyond(characters, max_characters);
    request->characters.push_back(characters);
  }
  return absl::OkStatus();
}

// Adds a text to the group of its source language. `is_told`: the language is known, so that it is
// an error if no model translates it.
absl::Status AddToGroup(size_t text, const std::string& source, bool is_told,
                        const Catalog& catalog, TranslateRequest* request) {
  const auto is_same = [&](const TextGroup& group) { return group.source == source; };
  auto group = absl::c_find_if(request->groups, is_same);
  if (group == request->groups.end()) {
    group = request->groups.insert(group, {source, {}, catalog.FindRoute(source, request->target)});
  }
  group->texts.push_back(text);
  if (!is_told || source == request->target || group->route.has_value()) return absl::OkStatus();
  return Invalid(LanguageName(request->target), " (", request->target,
                 ") is not available as a target language from ", LanguageName(source), " (",
                 source, ")");
}

// Puts each text into the group of the language that is detected. Of all texts together, some
// 128 KB are looked at, since the network's thread waits for this; what short texts leave of that
// is for the others. Of HTML, enough is looked at to get behind a link with its attributes.
absl::Status AddDetected(const Catalog& catalog, TranslateRequest* request) {
  const bool is_html = request->choice.markup != Markup::kNone;
  const size_t least = is_html ? 512 : 64;
  size_t left = 128 << 10;
  for (size_t i = 0; i < request->texts.size(); ++i) {
    const size_t most = std::max(least, left / (request->texts.size() - i));
    const absl::string_view text = absl::string_view(request->texts[i]).substr(0, most);
    left -= std::min(left, text.size());
    Json& detected =
        request->detected.emplace_back(ChooseSource(text, is_html, request->target, catalog));
    NIBU_RETURN_IF_ERROR(
        AddToGroup(i, detected["language"], detected["confidence"] > 0, catalog, request));
  }
  return absl::OkStatus();
}

Json ListOf(const ServedLanguage& language) {
  return {{"code", language.code}, {"name", language.name}, {"targets", language.targets}};
}

}  // namespace

absl::StatusOr<TranslateRequest> ReadLibreTranslate(const HttpRequest& http,
                                                    const Parameters& parameters,
                                                    const RequestContext& context) {
  const Catalog& catalog = context.catalog;
  const ServeOptions& options = context.options;
  TranslateRequest request;
  request.write = TranslateAnswer;
  NIBU_RETURN_IF_ERROR(ReadTexts(parameters, &request));
  NIBU_ASSIGN_OR_RETURN(std::string source, CodeOf(parameters, "source"));
  NIBU_ASSIGN_OR_RETURN(const std::string target, CodeOf(parameters, "target"));
  NIBU_ASSIGN_OR_RETURN(const double alternatives, NumberOf(parameters, "alternatives"));
  if (alternatives > options.max_alternatives) {
    return Invalid("Invalid request: alternatives parameter must be <= ", options.max_alternatives);
  }
  request.choice.alternatives = static_cast<int>(alternatives);
  if (request.choice.alternatives != alternatives) {
    return Invalid("Invalid request: alternatives parameter is not a whole number");
  }
  NIBU_ASSIGN_OR_RETURN(request.timeout, NumberOf(parameters, "timeout"));
  NIBU_RETURN_IF_ERROR(CheckLimits(options, &request));

  const Json* const format = parameters.Find("format");
  if (format != nullptr && *format == "html") {
    request.choice.markup = Markup::kHtml;
    request.choice.text = TextKind::kDocument;
  }
  const bool is_auto = source == "auto";
  const ServedLanguage* const from = is_auto ? nullptr : catalog.FindLanguage(source);
  const ServedLanguage* const to = catalog.FindLanguage(target);
  if (from == nullptr && !is_auto) return Invalid(source, " is not supported");
  if (to == nullptr) return Invalid(target, " is not supported");
  if (!IsMissing(format) && *format != "text" && *format != "html") {
    const std::string name = format->is_string() ? format->get<std::string>() : QuotedJson(*format);
    return Invalid(name, " format is not supported");
  }
  request.target = to->code;
  NIBU_ASSIGN_OR_RETURN(request.choice.terms,
                        ReadTerms(parameters, is_auto ? "" : from->code, to->code, context));
  if (is_auto) {
    NIBU_RETURN_IF_ERROR(AddDetected(catalog, &request));
    return request;
  }
  for (size_t i = 0; i < request.texts.size(); ++i) {
    NIBU_RETURN_IF_ERROR(AddToGroup(i, from->code, /*is_told=*/true, catalog, &request));
  }
  return request;
}

HttpAnswer TranslateAnswer(const TranslateRequest& request,
                           const std::vector<Translations>& translations) {
  Json texts = Json::array();
  Json alternatives = Json::array();
  for (const Translations& translation : translations) {
    texts.push_back(translation.at(0));
    // LibreTranslate has no alternatives for HTML.
    const bool has_others = translation.size() > 1 && request.choice.text != TextKind::kDocument;
    alternatives.push_back(has_others
                               ? Json(Translations(translation.begin() + 1, translation.end()))
                               : Json::array());
  }
  const auto shape = [&](Json&& list) { return request.is_list ? std::move(list) : list[0]; };
  Json answer = {{"translatedText", shape(std::move(texts))}};
  if (request.choice.alternatives > 0) answer["alternatives"] = shape(std::move(alternatives));
  if (!request.detected.empty()) answer["detectedLanguage"] = shape(Json(request.detected));
  return JsonAnswer(answer);
}

HttpAnswer DetectAnswer(const Parameters& parameters, const Catalog& catalog,
                        const ServeOptions& options) {
  TranslateRequest request;
  absl::Status status = ReadTexts(parameters, &request);
  if (status.ok()) status = CheckLimits(options, &request);
  if (!status.ok()) return ErrorAnswer(400, std::string(status.message()));
  // The detector looks at the first 32 KB of letters.
  constexpr size_t kMostBytes = 64 << 10;
  std::string all;
  for (const std::string& text : request.texts) {
    if (all.size() > kMostBytes) break;
    absl::StrAppend(&all, text, "\n");
  }
  return JsonAnswer(DetectLanguages(all, /*is_html=*/false, catalog));
}

HttpAnswer LanguagesAnswer(const Catalog& catalog) {
  Json languages = Json::array();
  for (const ServedLanguage& language : catalog.languages()) languages.push_back(ListOf(language));
  return JsonAnswer(languages);
}

bool IsTarget(const Catalog& catalog, const ServedLanguage& language) {
  return absl::c_any_of(catalog.languages(), [&](const ServedLanguage& source) {
    return &source != &language && absl::c_linear_search(source.targets, language.code);
  });
}

HttpAnswer SettingsAnswer(const Catalog& catalog, const ServeOptions& options, bool needs_key) {
  // The web page first shows this target: the first one that another language is translated into.
  const auto& languages = catalog.languages();
  auto target = absl::c_find_if(
      languages, [&](const ServedLanguage& language) { return IsTarget(catalog, language); });
  if (target == languages.end()) target = languages.begin();
  return JsonAnswer({{"apiKeys", needs_key},
                     {"charLimit", options.max_characters},
                     {"filesTranslation", true},
                     {"frontendTimeout", 500},
                     {"keyRequired", needs_key},
                     {"language",
                      {{"source", {{"code", "auto"}, {"name", "Auto Detect"}}},
                       {"target", {{"code", target->code}, {"name", target->name}}}}},
                     {"suggestions", false},
                     {"supportedFilesFormat", {".txt", ".html", ".srt"}}});
}

HttpAnswer SpecAnswer(const std::string& url_prefix) {
  static const auto& spec = *[] {
    auto* json = new Json(Json::parse(kSpec));
    (*json)["info"]["version"] = NIBU_VERSION_STRING;
    // These errors come from HTTP's own layer, the limits and the queue, whatever the path is.
    const std::pair<const char*, const char*> errors[] = {
        {"413", "The body, or what it asks for, is too large."},
        {"415", "The body has a content encoding."},
        {"429", "The client has asked too often, or for too many characters."},
        {"431", "The head is too large."},
        {"503", "The server has too much to do; Retry-After says when to come back."},
        {"504", "The request's time has passed."}};
    for (auto& [path, operations] : (*json)["paths"].items()) {
      if (!operations.contains("post")) continue;
      for (const auto& [status, when] : errors) {
        auto& answer = operations["post"]["responses"][status];
        if (answer.is_null())
          answer = {{"description", when}, {"schema", {{"$ref", "#/definitions/Error"}}}};
      }
    }
    return json;
  }();
  Json own = spec;
  own["basePath"] = absl::StrCat(url_prefix, "/");
  if (!url_prefix.empty()) own["paths"].erase("/metrics");  // It has no prefix.
  return JsonAnswer(own);
}

absl::StatusOr<std::string> ApiKeyOf(const Parameters& parameters) {
  for (const char* name : {"api_key", "auth_key", "token"}) {
    const Json* const key = parameters.Find(name);
    if (IsMissing(key)) continue;
    if (!key->is_string()) return Invalid("Invalid request: ", name, " parameter is not a text");
    return key->get<std::string>();
  }
  return "";
}

}  // namespace nibu::internal
