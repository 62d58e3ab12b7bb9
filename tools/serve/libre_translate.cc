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
#include "tools/serve/answers.h"

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

// Returns the parameter `name`, a number or the text of one, or 0 if it is missing.
absl::StatusOr<double> NumberOf(const Parameters& parameters, const char* name) {
  const Json* const value = parameters.Find(name);
  if (value == nullptr || value->is_null()) return 0;
  double number = 0;
  if (value->is_boolean()) {
    number = value->get<bool>() ? 1 : 0;
  } else if (value->is_number()) {
    number = value->get<double>();
  } else if (!value->is_string() || !absl::SimpleAtod(value->get<std::string>(), &number) ||
             !std::isfinite(number)) {
    return Invalid("Invalid request: ", name, " parameter is not a number");
  }
  return number;
}

size_t CountCharacters(absl::string_view text) {
  return static_cast<size_t>(absl::c_count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
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

absl::Status CheckLimits(const RequestLimits& limits, TranslateRequest* request) {
  const auto beyond = [](size_t size, size_t limit) {
    return Invalid("Invalid request: request (", size, ") exceeds text limit (", limit, ")");
  };
  if (request->texts.size() > limits.max_texts) {
    return beyond(request->texts.size(), limits.max_texts);
  }
  for (const std::string& text : request->texts) {
    const size_t characters = CountCharacters(text);
    if (characters > limits.max_characters) return beyond(characters, limits.max_characters);
    request->characters += characters;
  }
  return absl::OkStatus();
}

// Returns the languages that texts may be in, as LibreTranslate writes them, the most probable
// first; "en" with confidence 0 if none is found.
Json Detect(const std::vector<std::string>& texts, bool is_html, const Catalog& catalog) {
  // The detector looks at the first 32 KB of letters.
  constexpr size_t kMostBytes = 64 << 10;
  std::string all;
  for (const std::string& text : texts) {
    if (all.size() > kMostBytes) break;
    absl::StrAppend(&all, text, "\n");
  }
  const auto languages = catalog.detector().Detect(all, is_html ? Markup::kHtml : Markup::kNone);
  Json found = Json::array();
  if (languages.ok()) {
    for (const DetectedLanguage& language : *languages) {
      found.push_back(
          {{"language", language.code}, {"confidence", std::round(language.confidence * 100.0)}});
    }
  }
  if (found.empty()) found.push_back({{"language", "en"}, {"confidence", 0.0}});
  return found;
}

Json ListOf(const ServedLanguage& language) {
  return {{"code", language.code}, {"name", language.name}, {"targets", language.targets}};
}

}  // namespace

absl::StatusOr<TranslateRequest> ReadTranslateRequest(const Parameters& parameters,
                                                      const Catalog& catalog,
                                                      const RequestLimits& limits) {
  TranslateRequest request;
  NIBU_RETURN_IF_ERROR(ReadTexts(parameters, &request));
  NIBU_ASSIGN_OR_RETURN(std::string source, CodeOf(parameters, "source"));
  NIBU_ASSIGN_OR_RETURN(const std::string target, CodeOf(parameters, "target"));
  NIBU_ASSIGN_OR_RETURN(const double alternatives, NumberOf(parameters, "alternatives"));
  if (alternatives > limits.max_alternatives) {
    return Invalid("Invalid request: alternatives parameter must be <= ", limits.max_alternatives);
  }
  request.alternatives = static_cast<int>(std::max(alternatives, 0.0));
  NIBU_ASSIGN_OR_RETURN(request.timeout, NumberOf(parameters, "timeout"));
  NIBU_RETURN_IF_ERROR(CheckLimits(limits, &request));

  const Json* const format = parameters.Find("format");
  request.is_html = format != nullptr && *format == "html";
  bool is_told = true;
  if (source == "auto") {
    request.detected = Detect(request.texts, request.is_html, catalog)[0];
    source = request.detected["language"].get<std::string>();
    is_told = request.detected["confidence"] > 0;
  }
  const ServedLanguage* const from = catalog.FindLanguage(source);
  const ServedLanguage* const to = catalog.FindLanguage(target);
  if (from == nullptr && is_told) return Invalid(source, " is not supported");
  if (to == nullptr) return Invalid(target, " is not supported");
  if (!IsMissing(format) && *format != "text" && *format != "html") {
    const std::string name = format->is_string() ? format->get<std::string>() : QuotedJson(*format);
    return Invalid(name, " format is not supported");
  }
  request.target = to->code;
  if (from == nullptr) return request;
  request.source = from->code;
  if (from == to) return request;
  request.route = catalog.FindRoute(from->code, to->code);
  if (!request.route.has_value() && is_told) {
    return Invalid(to->name, " (", to->code, ") is not available as a target language from ",
                   from->name, " (", from->code, ")");
  }
  return request;
}

HttpAnswer TranslateAnswer(const TranslateRequest& request,
                           const std::vector<Translations>& translations) {
  Json texts = Json::array();
  Json alternatives = Json::array();
  Json detected = Json::array();
  for (const Translations& translation : translations) {
    texts.push_back(translation.at(0));
    // LibreTranslate has no alternatives for HTML.
    const bool has_others = translation.size() > 1 && !request.is_html;
    alternatives.push_back(has_others
                               ? Json(Translations(translation.begin() + 1, translation.end()))
                               : Json::array());
    detected.push_back(request.detected);
  }
  const auto shape = [&](Json&& list) { return request.is_list ? std::move(list) : list[0]; };
  Json answer = {{"translatedText", shape(std::move(texts))}};
  if (request.alternatives > 0) answer["alternatives"] = shape(std::move(alternatives));
  if (!request.detected.is_null()) answer["detectedLanguage"] = shape(std::move(detected));
  return JsonAnswer(answer);
}

HttpAnswer DetectAnswer(const Parameters& parameters, const Catalog& catalog,
                        const RequestLimits& limits) {
  TranslateRequest request;
  absl::Status status = ReadTexts(parameters, &request);
  if (status.ok()) status = CheckLimits(limits, &request);
  if (!status.ok()) return ErrorAnswer(400, std::string(status.message()));
  return JsonAnswer(Detect(request.texts, /*is_html=*/false, catalog));
}

HttpAnswer LanguagesAnswer(const Catalog& catalog) {
  Json languages = Json::array();
  for (const ServedLanguage& language : catalog.languages()) languages.push_back(ListOf(language));
  return JsonAnswer(languages);
}

HttpAnswer SettingsAnswer(const Catalog& catalog, const RequestLimits& limits, bool needs_key) {
  // The web page first shows this target: the first one that another language is translated into.
  const auto is_target = [&](const ServedLanguage& language) {
    return absl::c_any_of(catalog.languages(), [&](const ServedLanguage& source) {
      return &source != &language && absl::c_linear_search(source.targets, language.code);
    });
  };
  const auto& languages = catalog.languages();
  auto target = absl::c_find_if(languages, is_target);
  if (target == languages.end()) target = languages.begin();
  return JsonAnswer({{"apiKeys", needs_key},
                     {"charLimit", limits.max_characters},
                     {"filesTranslation", false},
                     {"frontendTimeout", 500},
                     {"keyRequired", needs_key},
                     {"language",
                      {{"source", {{"code", "auto"}, {"name", "Auto Detect"}}},
                       {"target", {{"code", target->code}, {"name", target->name}}}}},
                     {"suggestions", false},
                     {"supportedFilesFormat", Json::array()}});
}

HttpAnswer SpecAnswer() {
  static const auto& spec = *[] {
    auto* json = new Json(Json::parse(kSpec));
    (*json)["info"]["version"] = NIBU_VERSION_STRING;
    return json;
  }();
  return JsonAnswer(spec);
}

std::string ApiKeyOf(const Parameters& parameters) {
  const Json* const key = parameters.Find("api_key");
  return key != nullptr && key->is_string() ? key->get<std::string>() : "";
}

}  // namespace nibu::internal
