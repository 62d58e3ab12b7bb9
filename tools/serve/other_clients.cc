// Reads each shape as LibreTranslate's request, and writes the answer in the client's shape.

#include "tools/serve/other_clients.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "tools/serve/libre_translate.h"

namespace nibu::internal {
namespace {

using Json = nlohmann::json;

constexpr char kNoText[] = "";
// The parameters that all shapes may have.
constexpr const char* kOthers[] = {"glossary", "do_not_translate", "timeout"};

bool IsLibreTranslate(const Parameters& parameters) { return parameters.Find("q") != nullptr; }
bool IsDeepLX(const Parameters& parameters) {
  return !IsLibreTranslate(parameters) && parameters.Find("text") != nullptr;
}
bool IsNllbServe(const Parameters& parameters) {
  return !IsLibreTranslate(parameters) && parameters.Find("source") != nullptr &&
         (parameters.Find("src_lang") != nullptr || parameters.Find("tgt_lang") != nullptr);
}

// Returns a parameter, or `missing` if it is missing or empty.
Json ValueOf(const Parameters& parameters, const char* name, const Json& missing) {
  const Json* const value = parameters.Find(name);
  return value == nullptr || value->is_null() || *value == kNoText ? missing : *value;
}

// Reads a request with texts and languages under their own names as LibreTranslate's. The languages
// stand in "source" and "target" then.
absl::StatusOr<TranslateRequest> ReadAs(const HttpRequest& http, const Parameters& parameters,
                                        Json texts, Json source, Json target, const char* format,
                                        const RequestContext& context) {
  Parameters same;
  same.values = {{"q", std::move(texts)},
                 {"source", std::move(source)},
                 {"target", std::move(target)},
                 {"format", format}};
  for (const char* name : kOthers) same.values[name] = ValueOf(parameters, name, nullptr);
  return ReadLibreTranslate(http, same, context);
}

absl::StatusOr<TranslateRequest> ReadDeepLX(const HttpRequest& http, const Parameters& parameters,
                                            const RequestContext& context) {
  const Json& text = *parameters.Find("text");
  const Json tags = ValueOf(parameters, "tag_handling", "");
  const bool is_text = tags == kNoText;
  if (!is_text && tags != "html" && tags != "xml") {
    return Invalid("Invalid tag_handling value. Allowed values are 'html' and 'xml'.");
  }
  if (text.is_array() && text.size() != 1) return Invalid("text must be one text");
  const Json target = ValueOf(parameters, "target_lang", "");
  NIBU_ASSIGN_OR_RETURN(
      TranslateRequest request,
      ReadAs(http, parameters, text.is_array() && text.size() == 1 ? text[0] : text,
             ValueOf(parameters, "source_lang", "auto"), target, is_text ? "text" : "html",
             context));
  if (tags == "xml") request.choice.markup = Markup::kXml;
  request.write = [](const TranslateRequest& read, const std::vector<Translations>& texts) {
    return JsonAnswer({{"code", 200},
                       {"id", 0},
                       {"data", texts[0].at(0)},
                       {"alternatives", Json::array()},
                       {"source_lang", absl::AsciiStrToUpper(read.sources()[0])},
                       {"target_lang", absl::AsciiStrToUpper(read.target)},
                       {"method", "Free"}});
  };
  return request;
}

absl::StatusOr<TranslateRequest> ReadNllbServe(const HttpRequest& http,
                                               const Parameters& parameters,
                                               const RequestContext& context) {
  const Json& source = *parameters.Find("source");
  Json texts = source.is_array() ? source : Json::array({source});
  const Json from = ValueOf(parameters, "src_lang", "auto");
  const Json to = ValueOf(parameters, "tgt_lang", "");
  NIBU_ASSIGN_OR_RETURN(TranslateRequest request,
                        ReadAs(http, parameters, texts, from, to, "text", context));
  request.write = [texts = std::move(texts), from, to](const TranslateRequest&,
                                                       const std::vector<Translations>& found) {
    Json translations = Json::array();
    for (const Translations& each : found) translations.push_back(each.at(0));
    return JsonAnswer({{"source", texts},
                       {"translation", std::move(translations)},
                       {"src_lang", from},
                       {"tgt_lang", to}});
  };
  return request;
}

}  // namespace

absl::StatusOr<TranslateRequest> ReadImmersive(const HttpRequest& http,
                                               const Parameters& parameters,
                                               const RequestContext& context) {
  const Json texts = ValueOf(parameters, "text_list", nullptr);
  if (!texts.is_array()) return Invalid("Invalid request: text_list parameter is not a list");
  NIBU_ASSIGN_OR_RETURN(TranslateRequest request,
                        ReadAs(http, parameters, texts, ValueOf(parameters, "source_lang", "auto"),
                               ValueOf(parameters, "target_lang", ""), "text", context));
  request.write = [](const TranslateRequest& read, const std::vector<Translations>& found) {
    const std::vector<std::string> sources = read.sources();
    Json translations = Json::array();
    for (size_t i = 0; i < found.size(); ++i) {
      translations.push_back({{"detected_source_lang", sources[i]}, {"text", found[i].at(0)}});
    }
    return JsonAnswer({{"translations", std::move(translations)}});
  };
  return request;
}

absl::StatusOr<TranslateRequest> ReadTranslate(const HttpRequest& http,
                                               const Parameters& parameters,
                                               const RequestContext& context) {
  if (IsDeepLX(parameters)) return ReadDeepLX(http, parameters, context);
  if (IsNllbServe(parameters)) return ReadNllbServe(http, parameters, context);
  return ReadLibreTranslate(http, parameters, context);
}

ErrorForm ErrorFormOf(const Parameters& parameters) {
  return IsDeepLX(parameters) ? ErrorForm::kDeepLX : ErrorForm::kLibreTranslate;
}

absl::StatusOr<TranslateRequest> ReadMarian(const HttpRequest& http, const Parameters& parameters,
                                            const RequestContext& context) {
  const auto& model = *context.catalog.models().front();
  const std::string source = model.sources.begin()->first;
  const auto target =
      absl::c_find_if(model.targets, [&](const auto& each) { return each.first != source; });
  const std::string other = target == model.targets.end() ? source : target->first;
  // A list of one text, since a text alone must not be empty.
  const std::string lines(absl::StripSuffix(http.body, "\n"));
  NIBU_ASSIGN_OR_RETURN(
      TranslateRequest request,
      ReadAs(http, parameters, Json::array({lines}), ValueOf(parameters, "source", source),
             ValueOf(parameters, "target", other), "text", context));
  request.write = [](const TranslateRequest&, const std::vector<Translations>& found) {
    // Bytes that are not UTF-8 may come in a binary message, but must not stand in one of text.
    const std::string json =
        Json(found[0].at(0)).dump(-1, ' ', false, Json::error_handler_t::replace);
    HttpAnswer answer;
    answer.body = absl::StrCat(Json::parse(json).get_ref<const std::string&>(), "\n");
    return answer;
  };
  return request;
}

}  // namespace nibu::internal
