// Tests of LibreTranslate's interface, and of the order, the bounds and the ends of requests. The
// test's thread does what the network's thread does in the server.
// Threads: the thread sanitizer runs this file.
#include "tools/serve/service.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/paths.h"
#include "tests/tools/serve/service_under_test.h"

namespace nibu::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Json Request(const Json& q) { return {{"q", q}, {"source", "en"}, {"target", "de"}}; }

Json With(Json request, const char* name, const Json& value) {
  request[name] = value;
  return request;
}

TEST(ServiceTest, TranslatesAsTheLibraryDoes) {
  TestService service;
  const std::vector<std::string> lines = {"A man is riding a bicycle.", "", "Two dogs run. A cat.",
                                          " ", "😀"};
  ModelOptions options;
  options.compute_type = ComputeType::kFloat32;
  const auto plan =
      *service.translator().Prepare(*nibu::Model::Load(CaptionsModelPath(), options), {});
  std::vector<std::string> expected;
  const std::vector<Result> results = *service.translator().Translate(lines, plan);
  for (const Result& result : results) {
    expected.push_back(result.hypotheses[0].text);
  }
  // The lines are asked for as a list, one by one, and as the lines of one text.
  EXPECT_EQ(service.Ask(Request(lines))["translatedText"], expected);
  EXPECT_EQ(service.Ask(Request(lines[0])), Json({{"translatedText", expected[0]}}));
  const std::string text = absl::StrCat(lines[0], "\r\n\n", lines[2], "\n", lines[3]);
  EXPECT_EQ(service.Ask(Request(text))["translatedText"],
            absl::StrCat(expected[0], "\r\n\n", expected[2], "\n", expected[3]));
}

TEST(ServiceTest, KeepsTagsAndEntitiesOfHtml) {
  TestService service;
  service.service().cache().SetMaxBytes(1 << 20);
  const std::string html =
      "<p>A dog and a <b>cat</b>.</p>\n<p><span class=\"h-card\"><a href=\"https://x.y/@b\" "
      "class=\"u-url\">@<span>bob</span></a></span> Two men. <span translate=\"no\">:smile:"
      "</span></p>";
  const Json answer = service.Ask(With(Request(Json::array({html, "x &lt; y"})), "format", "html"));
  const std::string text = answer["translatedText"][0];
  EXPECT_THAT(text, HasSubstr("</b>"));
  EXPECT_THAT(text, HasSubstr("<a href=\"https://x.y/@b\" class=\"u-url\">@<span>"));
  EXPECT_THAT(text, HasSubstr("<span translate=\"no\">:smile:</span>"));
  EXPECT_THAT(text, HasSubstr("</p>\n<p>"));
  EXPECT_THAT(answer["translatedText"][1].get<std::string>(), HasSubstr("&lt;"));
  // The second answer comes from the cache.
  EXPECT_EQ(service.Ask(With(Request(html), "format", "html"))["translatedText"], text);
  EXPECT_EQ(service.service().jobs().counts().cached_units, 1u);
}

TEST(ServiceTest, DetectsLanguages) {
  TestService service;
  const Json one = service.Ask(With(Request("Two dogs run."), "source", "auto"));
  EXPECT_EQ(one["detectedLanguage"]["language"], "en");
  EXPECT_GT(one["detectedLanguage"]["confidence"], 50);
  const Json list =
      service.Ask(With(Request(Json::array({"Two dogs run.", "x"})), "source", "AUTO"));
  EXPECT_EQ(list["detectedLanguage"].size(), 2u);
  EXPECT_EQ(list["translatedText"].size(), 2u);
  const Json same = service.Ask(With(Request("Der Hund läuft über die Wiese."), "source", "auto"));
  EXPECT_EQ(same["translatedText"], "Der Hund läuft über die Wiese.");
  EXPECT_EQ(same["detectedLanguage"]["language"], "de");
  const Json none = service.Ask(With(Request("😀 !"), "source", "auto"));
  EXPECT_EQ(none, Json({{"translatedText", "😀 !"},
                        {"detectedLanguage", {{"language", "en"}, {"confidence", 0.0}}}}));
  HttpRequest detect;
  detect.method = "POST";
  detect.path = "/detect";
  detect.content_type = "application/x-www-form-urlencoded";
  detect.body = "q=Der+Hund+l%C3%A4uft.";
  const Json languages = Json::parse(service.Await(service.Send(detect)).body);
  EXPECT_EQ(languages[0]["language"], "de");
}

TEST(ServiceTest, Alternatives) {
  TestService service;
  const Json one = service.Ask(With(Request("A dog runs."), "alternatives", 3));
  const std::vector<std::string> others = one["alternatives"];
  EXPECT_FALSE(others.empty());
  EXPECT_LE(others.size(), 3u);
  for (const std::string& other : others) {
    EXPECT_NE(Json(other), one["translatedText"]);
    EXPECT_EQ(std::count(others.begin(), others.end(), other), 1);
  }
  const Json list = service.Ask(With(Request(Json::array({"A dog.", "?"})), "alternatives", "2"));
  EXPECT_EQ(list["alternatives"].size(), 2u);
  EXPECT_EQ(service.Ask(With(Request("A dog."), "alternatives", 0)).count("alternatives"), 0u);
  const Json html = service.Ask(With(With(Request("A dog."), "alternatives", 1), "format", "html"));
  EXPECT_EQ(html["alternatives"], Json::array());
}

// The errors are worded and ordered as LibreTranslate's.
TEST(ServiceTest, SaysWhatIsWrong) {
  ServiceOptions options;
  options.request.max_texts = 2;
  options.request.max_characters = 10;
  TestService service(options);
  Json all = {{"q", ""}, {"alternatives", "x"}, {"format", "pdf"}};
  for (const Json& missing : {Json(), Json(""), Json::array(), Json(false), Json(0)}) {
    all["q"] = missing;
    EXPECT_EQ(service.ErrorOf(all), "Invalid request: missing q parameter");
  }
  for (const Json& wrong : {Json(1), Json({{"a", 1}}), Json::array({"a", nullptr})}) {
    all["q"] = wrong;
    EXPECT_EQ(service.ErrorOf(all),
              "Invalid request: q parameter is not a text or a list of texts");
  }
  all["q"] = {"a", "b", "c"};
  EXPECT_EQ(service.ErrorOf(all), "Invalid request: missing source parameter");
  all["source"] = "ZZ";
  EXPECT_EQ(service.ErrorOf(all), "Invalid request: missing target parameter");
  all["target"] = "yy";
  EXPECT_EQ(service.ErrorOf(all), "Invalid request: alternatives parameter is not a number");
  all["alternatives"] = 11;
  EXPECT_EQ(service.ErrorOf(all), "Invalid request: alternatives parameter must be <= 10");
  all["alternatives"] = -1;
  EXPECT_EQ(service.ErrorOf(all), "Invalid request: request (3) exceeds text limit (2)");
  all["q"] = {"a", "ääääääääääb"};
  EXPECT_EQ(service.ErrorOf(all), "Invalid request: request (11) exceeds text limit (10)");
  all["q"] = "a";
  EXPECT_EQ(service.ErrorOf(all), "zz is not supported");
  all["source"] = "de";
  EXPECT_EQ(service.ErrorOf(all), "yy is not supported");
  all["target"] = "en";
  EXPECT_EQ(service.ErrorOf(all), "pdf format is not supported");
  all["format"] = "text";
  EXPECT_EQ(service.ErrorOf(all),
            "English (en) is not available as a target language from German (de)");
  all["target"] = "DE";
  EXPECT_EQ(service.Ask(all), Json({{"translatedText", "a"}}));
  EXPECT_EQ(service.Ask(Json::array())["error"], "Invalid JSON format");
}

TEST(ServiceTest, PathsAndMethods) {
  TestService service;
  EXPECT_EQ(service.Get("/health").body, "{\"status\":\"ok\"}\n");
  EXPECT_EQ(service.Get("/ready").status, 503);
  service.service().SetReady();
  EXPECT_EQ(service.Get("/ready").status, 200);
  EXPECT_EQ(service.Get("/nothing").status, 404);
  const HttpAnswer wrong = service.Get("/translate");
  EXPECT_EQ(wrong.status, 405);
  EXPECT_EQ(wrong.allow, "OPTIONS, POST");
  EXPECT_EQ(service.Get("/translate", "OPTIONS").status, 200);
  EXPECT_EQ(service.Get("/suggest", "POST").body,
            "{\"error\":\"Suggestions are disabled on this server.\"}\n");
  EXPECT_EQ(service.Get("/translate_file", "POST").status, 403);
  EXPECT_EQ(service.Get("/languages").body,
            "[{\"code\":\"en\",\"name\":\"English\",\"targets\":[\"de\",\"en\"]},"
            "{\"code\":\"de\",\"name\":\"German\",\"targets\":[\"de\"]}]\n");
  EXPECT_EQ(Json::parse(service.Get("/spec").body)["paths"].size(), 7u);
  const Json settings = Json::parse(service.Get("/frontend/settings").body);
  EXPECT_EQ(settings["language"]["target"]["code"], "de");
  service.service().Drain();
  EXPECT_EQ(service.Get("/ready").status, 503);
  EXPECT_EQ(service.Get("/health").status, 200);
  EXPECT_EQ(service.Ask(Request("a"))["status"], 503);
}

// While all translations are held, the server answers everything else. Requests that were refused
// or cancelled take no more time.
TEST(ServiceTest, AnswersWhileTranslationsWait) {
  ServiceOptions options;
  options.jobs.max_requests = 2;
  TestService service(options);
  service.Hold();
  const auto first = service.SendJson(Request("a"));
  const auto second = service.SendJson(Request("b"));
  std::vector<HeldUnit> held = service.TakeHeld(2);
  const auto third = service.SendJson(Request("c"));
  ASSERT_TRUE(third->answer.has_value());
  EXPECT_EQ(third->answer->status, 503);
  EXPECT_GE(third->answer->retry_after, 1);
  EXPECT_EQ(service.Get("/health").status, 200);
  EXPECT_THAT(service.Get("/metrics").body, HasSubstr("nibu_queue_requests 2\n"));
  first->cancel();
  EXPECT_EQ(first->answer->status, 499);
  const auto fourth = service.SendJson(Request("d"));
  EXPECT_FALSE(fourth->answer.has_value());
  held.push_back(service.TakeHeld(1)[0]);
  for (const HeldUnit& unit : held) unit.Finish();
  EXPECT_EQ(Json::parse(service.Await(second).body)["translatedText"], "<b>");
  EXPECT_EQ(Json::parse(service.Await(fourth).body)["translatedText"], "<d>");
  const JobCounts& counts = service.service().jobs().counts();
  EXPECT_EQ(counts.accepted, 3u);
  EXPECT_EQ(counts.refused, 1u);
  EXPECT_EQ(counts.cancelled, 1u);
  EXPECT_EQ(service.service().jobs().waiting(), 0u);
  EXPECT_EQ(service.service().jobs().waiting_characters(), 0u);
}

TEST(ServiceTest, BoundsTheCharactersThatWait) {
  ServiceOptions options;
  options.jobs.max_characters = 10;
  TestService service(options);
  service.Hold();
  // A request that is alone may have more characters than the limit.
  const auto large = service.SendJson(Request("more than ten"));
  EXPECT_FALSE(large->answer.has_value());
  EXPECT_EQ(service.SendJson(Request("a"))->answer->status, 503);
  service.TakeHeld(1)[0].Finish();
  EXPECT_EQ(service.Await(large).status, 200);
  EXPECT_FALSE(service.SendJson(Request("a"))->answer.has_value());
  service.TakeHeld(1);
}

// Returns the beginnings of the units in the order in which they would be decoded.
std::vector<std::string> ByPriority(std::vector<HeldUnit> units) {
  std::stable_sort(units.begin(), units.end(),
                   [](const auto& a, const auto& b) { return a.priority > b.priority; });
  std::vector<std::string> sources;
  for (const HeldUnit& unit : units) sources.push_back(unit.source.substr(0, 3));
  return sources;
}

TEST(ServiceTest, ShortTextsPassLongOnesAndClientsShare) {
  TestService service;
  service.Hold();
  const auto line = [](char name, size_t size) {
    return absl::StrCat(std::string(1, name), "1 ", std::string(size, 'x'));
  };
  // One client sends a long document and then a short text.
  const auto document = service.SendJson(
      Request(absl::StrCat(line('a', 5000), "\n", line('b', 5000), "\n", line('c', 5000))),
      "1.1.1.1");
  const auto reply = service.SendJson(Request(line('d', 100)), "1.1.1.1");
  EXPECT_THAT(ByPriority(service.TakeHeld(4)), ElementsAre("d1 ", "a1 ", "b1 ", "c1 "));
  document->cancel();
  reply->cancel();
  // A client has sent many requests before another one sends a single one.
  std::vector<std::shared_ptr<TestService::Pending>> many;
  for (int i = 0; i < 8; ++i)
    many.push_back(service.SendJson(Request(line('e', 3000 + i)), "1.1.1.1"));
  many.push_back(service.SendJson(Request(line('f', 3000)), "2.2.2.2"));
  const std::vector<std::string> order = ByPriority(service.TakeHeld(9));
  EXPECT_LE(std::find(order.begin(), order.end(), "f1 ") - order.begin(), 1);
  for (const auto& each : many) each->cancel();
}

// Later requests of others cannot keep a long one waiting for ever.
TEST(ServiceTest, NobodyWaitsForEver) {
  TestService service;
  service.Hold();
  const auto document = service.SendJson(Request(std::string(20'000, 'x')), "1.1.1.1");
  const HeldUnit waiting = service.TakeHeld(1)[0];
  int passed = 0;
  while (true) {
    const auto other =
        service.SendJson(Request(absl::StrCat(passed, std::string(1000, 'y'))), "2.2.2.2");
    const HeldUnit unit = service.TakeHeld(1)[0];
    if (unit.priority < waiting.priority) break;
    ASSERT_LT(++passed, 30);
    unit.Finish();
    service.Await(other);
  }
  EXPECT_GT(passed, 10);
}

TEST(ServiceTest, RequestsEndInTime) {
  TestService service;
  EXPECT_EQ(service.Ask(With(Request("A dog."), "timeout", 1e-6))["status"], 504);
  EXPECT_EQ(service.Ask(With(Request("A dog."), "timeout", 100)).count("status"), 0u);
  EXPECT_EQ(service.ErrorOf(With(Request("A dog."), "timeout", "soon")),
            "Invalid request: timeout parameter is not a number");
}

TEST(ServiceTest, RequestsEndInTimeWhateverTheyWaitFor) {
  TestService service;
  service.Hold();
  const auto late = service.SendJson(With(Request("a"), "timeout", 0.01));
  const auto other = service.SendJson(Request("b"));
  const std::vector<HeldUnit> held = service.TakeHeld(2);
  service.service().jobs().EndLate(std::chrono::steady_clock::now() + std::chrono::seconds(1));
  EXPECT_EQ(late->answer->status, 504);
  EXPECT_FALSE(other->answer.has_value());
  // Its client goes away after that, but a request ends only once.
  late->cancel();
  EXPECT_EQ(late->answer->status, 504);
  EXPECT_EQ(service.service().jobs().counts().cancelled, 0u);
  for (const HeldUnit& unit : held) unit.Finish();
  EXPECT_EQ(service.Await(other).status, 200);
}

TEST(ServiceTest, BlankLinesAreCopied) {
  TestService service;
  service.Hold();
  const std::string blanks(50'000, '\n');
  const auto pending =
      service.SendJson(Request(Json::array({"\n \r\na\n\t\n" + blanks + "b", blanks, "", "\r"})));
  for (const HeldUnit& unit : service.TakeHeld(2)) unit.Finish();
  EXPECT_EQ(Json::parse(service.Await(pending).body)["translatedText"],
            Json::array({"\n \r\n<a>\n\t\n" + blanks + "<b>", blanks, "", "\r"}));
}

TEST(ServiceTest, CachedLinesAreNotTranslatedAgain) {
  TestService service;
  service.service().cache().SetMaxBytes(1 << 20);
  service.Hold();
  const auto first = service.SendJson(Request("a\nb"));
  for (const HeldUnit& unit : service.TakeHeld(2)) {
    if (unit.source == "a") unit.Finish();  // The client does not wait for "b".
  }
  service.RunUntil([&] { return service.service().cache().bytes() > 0; });
  first->cancel();
  const auto again = service.SendJson(Request("a\nb"));
  const std::vector<HeldUnit> rest = service.TakeHeld(1);
  ASSERT_EQ(rest.size(), 1u);
  EXPECT_EQ(rest[0].source, "b");
  rest[0].Finish();
  EXPECT_EQ(Json::parse(service.Await(again).body)["translatedText"], "<a>\n<b>");
  // Requests with other options have other entries in the cache.
  const auto other = service.SendJson(With(Request("a"), "alternatives", 2));
  EXPECT_EQ(service.TakeHeld(1)[0].source, "a");
  other->cancel();
}

TEST(ServiceTest, ModelsComeAndGo) {
  TestService service;
  const auto back = With(With(Request("Ein Mann fährt Fahrrad."), "source", "de"), "target", "en");
  StoreOptions one;
  one.max_models = 1;
  service.Offer({CaptionsModelPath(), TestdataPath("de-en")}, one);
  const Json forth = service.Ask(Request("A dog."));
  EXPECT_THAT(service.Ask(back)["translatedText"].get<std::string>(), HasSubstr("man"));
  EXPECT_EQ(service.Ask(Request("A dog.")), forth);
  // A request that has begun is finished by its model, even if the catalog has another one by then.
  service.Hold();
  const auto begun = service.SendJson(Request("x"));
  const std::vector<HeldUnit> held = service.TakeHeld(1);
  service.Offer({TestdataPath("de-en")});
  EXPECT_EQ(service.ErrorOf(Request("y")),
            "German (de) is not available as a target language from English (en)");
  held[0].Finish();
  EXPECT_EQ(service.Await(begun).status, 200);
}

// A model that cannot be loaded fails only its own requests.
TEST(ServiceTest, AModelThatCannotBeLoaded) {
  TestService service;
  service.Offer({CaptionsModelPath(), absl::StrCat("en-fr=", TestdataPath("de-en"))}, [] {
    StoreOptions options;
    options.model.shortlist = "/no/such/file";
    return options;
  }());
  const Json failed = service.Ask(With(Request("A dog."), "target", "fr"));
  EXPECT_EQ(failed["status"], 500);
  EXPECT_EQ(failed["error"], "the translation failed; the server's log says why");
  EXPECT_EQ(service.Get("/health").status, 200);
}

}  // namespace
}  // namespace nibu::internal
