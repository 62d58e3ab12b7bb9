// Tests of the page's form, of /align, and of what a client may translate in a day.
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/tools/serve/service_under_test.h"

namespace nibu::internal {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(PageTest, FormsGetPages) {
  TestService service;
  const HttpAnswer page = service.Post(
      "/page", {{"q", "A dog runs. <i>{{error}}"}, {"source", "auto"}, {"target", "de"}});
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.content_type, "text/html; charset=utf-8");
  EXPECT_THAT(page.body, AllOf(HasSubstr(">\nA dog runs. &lt;i&gt;{{error}}</textarea>"),
                               HasSubstr("Ein Hund rennt."), HasSubstr("\"auto\" selected>"),
                               HasSubstr("\"de\" selected>"), Not(HasSubstr("{{text}}"))));
  for (const Json& odd : {Json({{"q", "a"}}), Json({{"q", 5}, {"source", "en"}, {"target", "<x>"}}),
                          Json({{"q", "a"}, {"source", "en"}, {"target", "<x>"}})}) {
    const HttpAnswer refused = service.Post("/page", odd);
    EXPECT_EQ(refused.status, 400);
    EXPECT_THAT(refused.body, AllOf(HasSubstr("<p role=\"alert\">"), Not(HasSubstr("<x>"))));
  }
}

TEST(PageTest, AlignsWords) {
  TestService service;
  const auto align = [&](const Json& q, const Json& translation) {
    return service.Post(
        "/align", {{"q", q}, {"source", "en"}, {"target", "de"}, {"translation", translation}});
  };
  EXPECT_EQ(Json::parse(align("A dog runs.", "Ein Hund rennt.").body),
            Json::parse("{\"alignment\":[[0,0],[1,1],[2,2]]}"));
  EXPECT_EQ(Json::parse(align("A dog runs.", "").body), Json::parse("{\"alignment\":[]}"));
  EXPECT_EQ(align("A dog.\nA cat.", "Ein Hund.").status, 400);
  EXPECT_EQ(align("A dog.", "Ein\nHund.").status, 400);
  EXPECT_EQ(align(Json::array({"A dog.", "A cat."}), "Ein Hund.").status, 400);
  EXPECT_EQ(align("", "Ein Hund.").status, 400);
  // More than the model has positions for.
  std::string longest;
  for (int i = 0; i < 3000; ++i) longest += "Hund ";
  EXPECT_EQ(align("A dog.", longest).status, 400);
  // A client that goes away, and the end of the server.
  HttpRequest request;
  request.method = "POST";
  request.path = "/align";
  request.content_type = "application/json";
  request.body = R"({"q": "A cat.", "source": "en", "target": "de", "translation": "Eine Katze."})";
  const auto pending = service.Send(request);
  pending->cancel();
  service.service().Drain();
  EXPECT_EQ(service.Await(service.Send(request)).status, 503);
}

TEST(PageTest, CharactersOfADay) {
  TestService service;
  service.service().access().Set({}, {0, 20}, {});
  const auto ask = [&](const std::string& path, const Json& json) {
    HttpRequest request;
    request.method = "POST";
    request.path = path;
    request.content_type = "application/json";
    request.body = json.dump();
    request.address = "1.1.1.1";
    return service.Await(service.Send(request));
  };
  const Json request = {{"q", "A dog runs."}, {"source", "en"}, {"target", "de"}};
  EXPECT_EQ(ask("/translate", request).status, 200);
  EXPECT_EQ(ask("/translate", request).status, 200);
  const HttpAnswer refused = ask("/translate", request);
  EXPECT_EQ(refused.status, 429);
  EXPECT_GT(refused.retry_after, 3600);
  EXPECT_EQ(Json::parse(refused.body)["error"], "Slowdown: 20 characters per 1 day");
  EXPECT_EQ(ask("/v2/translate", {{"text", {"A dog."}}, {"target_lang", "DE"}}).status, 456);
  EXPECT_EQ(service.Get("/languages").status, 200);
}

}  // namespace
}  // namespace nibu::internal
