// Fills the page with languages, the text and its translation.

#include "tools/serve/page.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "engine/core/status_macros.h"
#include "tools/serve/answers.h"
#include "tools/serve/libre_translate.h"

namespace nibu::internal {
namespace {

constexpr absl::string_view kPage =
#include "tools/serve/page.inc"
    ;
constexpr absl::string_view kStyle =
#include "tools/serve/page_style.inc"
    ;
constexpr absl::string_view kProgram =
#include "tools/serve/page_program.inc"
    ;
constexpr absl::string_view kDocs =
#include "tools/serve/docs.inc"
    ;
constexpr absl::string_view kDocsProgram =
#include "tools/serve/docs_program.inc"
    ;

// What stands in the page.
struct PageContents {
  std::string source = "auto";
  std::string target;
  std::string text;
  std::string translation;
  std::string error;
  bool needs_key = false;
};

std::string LanguageOption(absl::string_view code, absl::string_view name, bool is_chosen) {
  return absl::StrCat("<option value=\"", HtmlEscaped(code), "\"", is_chosen ? " selected>" : ">",
                      HtmlEscaped(name), "</option>");
}

HttpAnswer FilledPage(const Catalog& catalog, PageContents page) {
  const auto has_target = [](const ServedLanguage& language) {
    return absl::c_any_of(language.targets,
                          [&](const std::string& code) { return code != language.code; });
  };
  std::string sources = LanguageOption("auto", "Detect language", page.source == "auto");
  std::string targets;
  for (const ServedLanguage& language : catalog.languages()) {
    if (has_target(language)) {
      sources += LanguageOption(language.code, language.name, language.code == page.source);
    }
    if (IsTarget(catalog, language)) {
      targets += LanguageOption(language.code, language.name, language.code == page.target);
    }
  }
  // In one pass, so that a text with such a mark in it stays as it is.
  return HtmlAnswer(absl::StrReplaceAll(kPage, {{"{{sources}}", sources},
                                                {"{{targets}}", targets},
                                                {"{{text}}", HtmlEscaped(page.text)},
                                                {"{{translation}}", HtmlEscaped(page.translation)},
                                                {"{{error}}", HtmlEscaped(page.error)},
                                                {"{{key}}", page.needs_key ? "" : "hidden"}}));
}

}  // namespace

HttpAnswer PageAnswer(const Catalog& catalog, bool needs_key) {
  PageContents page;
  page.needs_key = needs_key;
  return FilledPage(catalog, std::move(page));
}

HttpAnswer PageFileAnswer(absl::string_view path) {
  if (path == "/docs") return HtmlAnswer(std::string(kDocs));
  HttpAnswer answer;
  const bool is_style = path == "/page_style.css";
  answer.content_type = is_style ? "text/css" : "text/javascript";
  answer.body = std::string(is_style                     ? kStyle
                            : path == "/page_program.js" ? kProgram
                                                         : kDocsProgram);
  return answer;
}

absl::StatusOr<TranslateRequest> ReadPage(const HttpRequest& http, const Parameters& parameters,
                                          const RequestContext& context) {
  PageContents page;
  const auto text = [&](const char* name) {
    const nlohmann::json* const value = parameters.Find(name);
    return value != nullptr && value->is_string() ? value->get<std::string>() : "";
  };
  page.source = text("source");
  page.target = text("target");
  page.text = text("q");
  page.needs_key = !text("api_key").empty();
  Parameters same;
  same.is_form = parameters.is_form;
  same.values = {{"q", page.text}, {"source", page.source}, {"target", page.target}};
  NIBU_ASSIGN_OR_RETURN(TranslateRequest request, ReadLibreTranslate(http, same, context));
  request.write = [page, &catalog = context.catalog](
                      const TranslateRequest&, const std::vector<Translations>& translations) {
    PageContents filled = page;
    filled.translation = translations.empty() || translations[0].empty() ? "" : translations[0][0];
    return FilledPage(catalog, std::move(filled));
  };
  return request;
}

}  // namespace nibu::internal
