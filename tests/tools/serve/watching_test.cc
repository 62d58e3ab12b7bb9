// Tests of what an operator sees: names of requests, the log, /metrics, and a prefix of paths.
#include <set>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/tools/serve/service_under_test.h"
#include "tools/serve/request_log.h"

namespace nibu::internal {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

HttpRequest Get(const std::string& path) {
  HttpRequest request;
  request.method = "GET";
  request.path = path;
  request.address = "1.1.1.1";
  return request;
}

TEST(RequestLogTest, KeepsNamesThatMayStandInALog) {
  for (const std::string given : {"a", "7b-ü1", "x y", "a\"b", "a\\b", "a\nb", ""}) {
    const bool is_kept = given == "a";
    EXPECT_EQ(RequestId(given) == given, is_kept) << given;
  }
  EXPECT_EQ(RequestId(std::string(128, 'x')), std::string(128, 'x'));
  EXPECT_LE(RequestId(std::string(129, 'x')).size(), 40u);
  std::set<std::string> names;
  for (int i = 0; i < 100; ++i) names.insert(RequestId(""));
  EXPECT_EQ(names.size(), 100u);
}

TEST(RequestLogTest, WritesWordsOrJson) {
  LogEntry entry;
  entry.id = "id1";
  entry.address = "1.2.3.4";
  entry.method = "P\xFFST";  // Any bytes may come as a method.
  entry.status = 404;
  entry.seconds = 0.25;
  EXPECT_THAT(LogLine(entry, LogFormat::kText),
              MatchesRegex("[-0-9T:]+Z 1.2.3.4 P.ST - 404 0.250s id=id1\n"));
  Json json = Json::parse(LogLine(entry, LogFormat::kJson));
  EXPECT_EQ(json["kind"], "request");
  EXPECT_EQ(json["method"], "P\uFFFDST");
  EXPECT_EQ(json.count("texts"), 0u);
  entry.path = "/translate";
  entry.source = "en";
  entry.target = "de";
  entry.texts = 2;
  entry.characters = 10;
  EXPECT_THAT(LogLine(entry, LogFormat::kText),
              HasSubstr(" /translate 404 0.250s en>de texts=2 characters=10 id=id1\n"));
  json = Json::parse(LogLine(entry, LogFormat::kJson));
  EXPECT_EQ(json["target"], "de");
  EXPECT_EQ(json["characters"], 10);
  EXPECT_EQ(json["seconds"], 0.25);
  json = Json::parse(LogMessage("warning", "a \"b\"\nc"));
  EXPECT_EQ(json["kind"], "warning");
  EXPECT_EQ(json["message"], "a \"b\"\nc");
}

TEST(WatchingTest, AnswersHaveTheNamesOfTheirRequests) {
  TestService service;
  HttpRequest request = Get("/languages");
  request.request_id = "from-the-proxy";
  EXPECT_EQ(service.Await(service.Send(request)).request_id, "from-the-proxy");
  request.path = "/nothing";
  EXPECT_EQ(service.Await(service.Send(request)).request_id, "from-the-proxy");
  EXPECT_NE(service.Get("/health").request_id, service.Get("/health").request_id);
}

TEST(WatchingTest, MetricsMayNeedATokenOrBeOff) {
  ServeOptions options;
  options.metrics_token = "secret";
  TestService service(options);
  HttpRequest request = Get("/metrics");
  EXPECT_EQ(service.Await(service.Send(request)).status, 401);
  request.authorization = "Bearer secret";
  EXPECT_EQ(service.Await(service.Send(request)).status, 200);
  request.authorization = "Bearer secrets";
  for (int i = 0; i < 59; ++i) EXPECT_EQ(service.Await(service.Send(request)).status, 401);
  EXPECT_EQ(service.Await(service.Send(request)).status, 429);
  request.authorization = "Bearer secret";
  EXPECT_EQ(service.Await(service.Send(request)).status, 200);
  for (const char* path : {"/metrics/", "//metrics", "/./metrics", "/%6detrics"}) {
    request.path = path;  // Proxies that hide /metrics know it as it is alone.
    EXPECT_EQ(service.Await(service.Send(request)).status, 404) << path;
  }
  request.path = "/metrics";
  options.metrics = false;
  service.service().SetOptions(options);
  EXPECT_EQ(service.Await(service.Send(request)).status, 404);
}

TEST(WatchingTest, TheOperatorsAddressHasFiguresAlone) {
  ServeOptions options;
  options.metrics_address = "127.0.0.1:9000";
  TestService service(options);
  service.service().SetReady();
  EXPECT_EQ(service.Get("/metrics").status, 404);
  EXPECT_EQ(service.Get("/ready").status, 200);
  for (const auto& [path, status] : {std::pair{"/metrics", 200},
                                     {"/ready", 200},
                                     {"/health", 200},
                                     {"/", 404},
                                     {"/languages", 404},
                                     {"/translate", 404}}) {
    HttpRequest request = Get(path);
    request.is_operators = true;
    EXPECT_EQ(service.Await(service.Send(request)).status, status) << path;
  }
}

TEST(WatchingTest, APrefixStandsInFrontOfPaths) {
  ServeOptions options;
  options.url_prefix = "/a/mt";
  TestService service(options);
  for (const auto& [path, status] : {std::pair{"/a/mt/", 200},
                                     {"/a/mt/languages", 200},
                                     {"/a/mt//health", 200},
                                     {"//a/mt/languages/", 200},
                                     {"/health", 200},
                                     {"/metrics", 200},
                                     {"/languages", 404},
                                     {"/", 404},
                                     {"/a", 404},
                                     {"/a/mtx", 404},
                                     {"/a/mt/metrics", 404},
                                     {"/a/mt/nothing", 404},
                                     {"/a/mt/page", 405}}) {
    EXPECT_EQ(service.Get(path).status, status) << path;
  }
  EXPECT_EQ(Json::parse(service.Get("/a/mt/spec").body)["basePath"], "/a/mt/");
  const HttpAnswer moved = service.Get("/a/mt?q=x");
  EXPECT_EQ(moved.status, 308);
  EXPECT_EQ(moved.location, "/a/mt/?q=x");
  EXPECT_EQ(service.Get("//a//mt").location, "/a/mt/");
  const HttpAnswer deepl = service.Post("/a/mt/v2/translate", {{"text", {"A dog."}}});
  EXPECT_EQ(deepl.status, 400);
  EXPECT_THAT(deepl.body, HasSubstr("\"message\""));
}

}  // namespace
}  // namespace nibu::internal
