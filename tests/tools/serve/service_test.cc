// Tests of LibreTranslate's interface, and of the order, the bounds and the ends of requests. The
// test's thread does what the network's thread does in the server.
// Threads: the thread sanitizer runs this file.
#include "tools/serve/service.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
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

// A list may have texts in several languages. Those in the target language come back as they are.
TEST(ServiceTest, DetectsEachTextOfAList) {
  TestService service;
  service.Offer({CaptionsModelPath(), TestdataPath("de-en")});
  const Json texts = {"Ein Mann fährt mit seinem Fahrrad durch die Stadt.",
                      "A man is riding his bicycle through the city.", "😀",
                      "Zwei Hunde laufen zusammen über die grüne Wiese."};
  Json request = {{"q", texts}, {"source", "auto"}, {"target", "de"}};
  const Json into_german = service.Ask(request);
  EXPECT_EQ(into_german["translatedText"][0], texts[0]);
  EXPECT_THAT(into_german["translatedText"][1].get<std::string>(), HasSubstr("Fahrrad"));
  EXPECT_EQ(into_german["translatedText"][3], texts[3]);
  std::vector<std::string> languages;
  for (const Json& detected : into_german["detectedLanguage"]) {
    languages.push_back(detected["language"]);
  }
  EXPECT_THAT(languages, ElementsAre("de", "en", "en", "de"));
  EXPECT_EQ(into_german["detectedLanguage"][2]["confidence"], 0.0);
  request["target"] = "en";
  const Json into_english = service.Ask(request);
  EXPECT_THAT(into_english["translatedText"][0].get<std::string>(), HasSubstr("man"));
  EXPECT_EQ(into_english["translatedText"][1], texts[1]);
  EXPECT_EQ(into_english["translatedText"][2], texts[2]);
  EXPECT_THAT(into_english["translatedText"][3].get<std::string>(), HasSubstr("dogs"));
}

// Texts in several languages are several jobs, which are accepted, cancelled and fail together. The
// queue has room for one request.
TEST(ServiceTest, AListInSeveralLanguagesIsOneRequest) {
  const std::string path = TestdataPath("de-en");
  ServeOptions options;
  options.max_queue = 1;
  TestService service(options);
  service.Offer({absl::StrCat("en-fr=", path), absl::StrCat("de-fr=", path)});
  service.Hold();
  const Json texts = {"A man is riding his bicycle through the city.",
                      "Ein Mann fährt mit seinem Fahrrad durch die Stadt.",
                      "Two dogs are running through the park."};
  const Json request = {{"q", texts}, {"source", "auto"}, {"target", "fr"}};
  auto pending = service.SendJson(request);
  for (const HeldUnit& unit : service.TakeHeld(3)) {
    EXPECT_FALSE(pending->answer.has_value());
    unit.Finish();
  }
  const Json answer = Json::parse(service.Await(pending).body);
  for (size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(answer["translatedText"][i], absl::StrCat("<", texts[i].get<std::string>(), ">"));
  }
  pending = service.SendJson(request);
  service.TakeHeld(3);
  pending->cancel();
  EXPECT_EQ(pending->answer->status, 499);
  EXPECT_EQ(service.service().jobs().waiting(), 0u);
  const auto other = service.SendJson(With(Request("a"), "target", "fr"), "2.2.2.2");
  EXPECT_EQ(service.SendJson(request)->answer->status, 503);
  EXPECT_EQ(service.service().jobs().waiting(), 1u);
  other->cancel();
  // Their time passes together, and the answer is one.
  pending = service.SendJson(With(request, "timeout", 10));
  service.TakeHeld(3);
  service.service().jobs().EndLate(std::chrono::steady_clock::now() + std::chrono::seconds(20));
  EXPECT_EQ(pending->answer->status, 504);
  EXPECT_EQ(service.service().jobs().waiting(), 0u);
}

// "Hello" is German with a confidence of 51, if the choice is between German and English.
TEST(ServiceTest, AShortTextIsSeldomInTheTargetLanguage) {
  TestService service;
  const auto ask = [&](const std::string& q, const char* format = "text") {
    return service.Ask(With({{"q", q}, {"source", "auto"}, {"target", "de"}}, "format", format));
  };
  for (const char* text : {"Hello", "Hello!", "Dog", "<b>Hello</b>"}) {
    const Json answer = ask(text, text[0] == '<' ? "html" : "text");
    EXPECT_EQ(answer["detectedLanguage"]["language"], "en") << text;
    EXPECT_LE(answer["detectedLanguage"]["confidence"], 90) << text;
    EXPECT_NE(answer["translatedText"], text);
  }
  // More letters, or a higher confidence, are enough.
  for (const char* text : {"Der Hund läuft über die Wiese.", "Größe über Straße"}) {
    const Json answer = ask(text);
    EXPECT_EQ(answer["translatedText"], text);
    EXPECT_EQ(answer["detectedLanguage"]["language"], "de");
  }
}

TEST(ServiceTest, AlternativesDifferFromTheTranslation) {
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
  ServeOptions options;
  options.max_texts = 2;
  options.max_characters = 10;
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
  all["alternatives"] = nullptr;
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

// An odd value of any parameter is an error that names the parameter.
TEST(ServiceTest, NamesTheParameterThatIsOdd) {
  TestService service;
  const Json request = Request("a");
  for (const char* name : {"alternatives", "timeout"}) {
    for (const Json& odd :
         {Json("x"), Json("nan"), Json("NaN"), Json("inf"), Json("-inf"), Json(""), Json("1 2"),
          Json(true), Json::array(), Json::array({1}), Json::object()}) {
      EXPECT_EQ(service.ErrorOf(With(request, name, odd)),
                absl::StrCat("Invalid request: ", name, " parameter is not a number"));
    }
    for (const Json& odd : {Json(-1), Json("-0.5"), Json(-1e300)}) {
      EXPECT_EQ(service.ErrorOf(With(request, name, odd)),
                absl::StrCat("Invalid request: ", name, " parameter must be >= 0"));
    }
  }
  for (const Json& odd : {Json(1.5), Json("0.5"), Json(1e-300)}) {
    EXPECT_EQ(service.ErrorOf(With(request, "alternatives", odd)),
              "Invalid request: alternatives parameter is not a whole number");
  }
  for (const Json& odd : {Json(1e300), Json("1e300"), Json(10.5), Json(UINT64_MAX)}) {
    EXPECT_EQ(service.ErrorOf(With(request, "alternatives", odd)),
              "Invalid request: alternatives parameter must be <= 10");
  }
  for (const char* name : {"source", "target", "api_key"}) {
    for (const Json& odd : {Json(5), Json(true), Json::array({"de"}), Json({{"de", 1}})}) {
      EXPECT_EQ(service.ErrorOf(With(request, name, odd)),
                absl::StrCat("Invalid request: ", name, " parameter is not a text"));
    }
  }
  EXPECT_EQ(service.ErrorOf(With(request, "format", 5)), "5 format is not supported");
  EXPECT_EQ(service.ErrorOf(With(request, "format", true)), "true format is not supported");
  EXPECT_EQ(service.Ask(With(request, "api_key", nullptr)).count("error"), 0u);
  EXPECT_EQ(service.Ask(With(request, "alternatives", "2.0")).count("alternatives"), 1u);
}

// Bytes that are not UTF-8 count as the U+FFFD that would replace them do.
TEST(ServiceTest, CountsBytesThatAreNotUtf8) {
  ServeOptions options;
  options.max_characters = 2;
  TestService service(options);
  const auto error = [&](const std::string& q) {
    HttpRequest request;
    request.method = "POST";
    request.path = "/detect";
    request.content_type = "application/x-www-form-urlencoded";
    request.body = "q=" + q;
    return Json::parse(service.Await(service.Send(request)).body);
  };
  const std::pair<const char*, int> cases[] = {{"%80%BF%A0", 3},
                                               {"%FF%FE%C0", 3},
                                               {"%C3a%E2%82b%F0%9F%98", 5},
                                               {"%ED%A0%80", 3},
                                               {"%E0%80%80", 3},
                                               {"%F0%9F%98%80ab", 3},
                                               {"%F5%80%80%80", 4},
                                               {"%E2%82%AC%E2%82%AC%E2", 3}};
  for (const auto& [q, characters] : cases) {
    EXPECT_EQ(error(q), Json({{"error", absl::StrCat("Invalid request: request (", characters,
                                                     ") exceeds text limit (2)")}}))
        << q;
  }
  EXPECT_TRUE(error("%C3%A4%E2%82").is_array());
}

TEST(ServiceTest, PathsAndMethods) {
  TestService service;
  EXPECT_EQ(service.Get("/health").body, "{\"status\":\"ok\"}\n");
  EXPECT_EQ(service.Get("/ready").status, 503);
  service.service().SetReady();
  EXPECT_EQ(service.Get("/ready").status, 200);
  for (const char* path : {"/health/", "//health", "///health//"}) {
    EXPECT_EQ(service.Get(path).status, 200) << path;
  }
  EXPECT_EQ(service.Get("//frontend//settings/").status, 200);
  EXPECT_EQ(service.Get("/translate/", "OPTIONS").status, 200);
  for (const char* path : {"/nothing", "/health/x", "/frontend", "/heal/th", "/page/x"}) {
    EXPECT_EQ(service.Get(path).status, 404) << path;
  }
  for (const char* path : {"", "/", "//", "/docs"}) {
    EXPECT_EQ(service.Get(path).status, 200) << path;
    EXPECT_EQ(service.Get(path).content_type, "text/html; charset=utf-8") << path;
  }
  EXPECT_EQ(service.Get("/page").status, 405);
  EXPECT_EQ(service.Get("/align").status, 405);
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
  EXPECT_EQ(Json::parse(service.Get("/spec").body)["paths"].size(), 23u);
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
  ServeOptions options;
  options.max_queue = 2;
  TestService service(options);
  service.Hold();
  const auto first = service.SendJson(Request("a"), "1.1.1.1");
  const auto second = service.SendJson(Request("b"), "2.2.2.2");
  std::vector<HeldUnit> held = service.TakeHeld(2);
  const auto third = service.SendJson(Request("c"), "3.3.3.3");
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
  ServeOptions options;
  options.max_queue_characters = 10;
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

// A client holds at most as much of the queue as it leaves free, in requests and in characters.
// What it has beyond that is refused, and others are not. Behind a trusted proxy without
// X-Forwarded-For there may be many clients, so only the limit itself counts.
TEST(ServiceTest, AClientLeavesRoomForOthers) {
  ServeOptions options;
  options.max_queue = 8;
  options.max_queue_characters = 2000;
  TestService service(options);
  service.service().access().Set({}, {}, {"9.9.9.9"});
  service.Hold();
  std::vector<std::shared_ptr<TestService::Pending>> under_way;
  const auto accepted = [&](const std::string& address, size_t size) {
    under_way.push_back(service.SendJson(Request(std::string(size, 'x')), address));
    const bool is_accepted = !under_way.back()->answer.has_value();
    if (!is_accepted) {
      EXPECT_EQ(under_way.back()->answer->status, 503);
      EXPECT_GE(under_way.back()->answer->retry_after, 1);
    }
    return is_accepted;
  };
  const auto end_all = [&] {
    for (const auto& each : under_way) {
      if (!each->answer.has_value()) each->cancel();
    }
    under_way.clear();
    EXPECT_EQ(service.service().jobs().waiting(), 0u);
  };
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(accepted("1.1.1.1", 1)) << i;
  EXPECT_FALSE(accepted("1.1.1.1", 1));
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(accepted("2.2.2.2", 1)) << i;
  EXPECT_FALSE(accepted("2.2.2.2", 1));
  EXPECT_TRUE(accepted("3.3.3.3", 1));
  end_all();
  for (int i = 0; i < 8; ++i) EXPECT_TRUE(accepted("9.9.9.9", 1)) << i;
  EXPECT_FALSE(accepted("9.9.9.9", 1));
  end_all();
  // A request counts as half of the characters at most, so that the largest one is taken, too.
  EXPECT_TRUE(accepted("1.1.1.1", 5000));
  EXPECT_FALSE(accepted("1.1.1.1", 1));
  EXPECT_FALSE(accepted("2.2.2.2", 501));
  EXPECT_TRUE(accepted("2.2.2.2", 500));
  EXPECT_TRUE(accepted("3.3.3.3", 250));
  end_all();
}

// Requests that have ended, in whatever way, leave nothing: neither their texts nor the plan,
// which would keep a model that has been replaced.
TEST(ServiceTest, RequestsThatHaveEndedLeaveNothing) {
  TestService service;
  service.Hold();
  const auto good = service.SendJson(Request("a\nb"), "1.1.1.1");
  const auto bad = service.SendJson(Request("c"), "2.2.2.2");
  const auto gone = service.SendJson(Request("d"), "3.3.3.3");
  std::weak_ptr<const nibu::Plan> plan;
  for (const HeldUnit& unit : service.TakeHeld(4)) {
    plan = unit.plan;
    if (unit.source == "c") {
      unit.done(0, absl::InternalError("c"));
    } else if (unit.source != "d") {
      unit.Finish();
    }
  }
  EXPECT_EQ(service.Await(good).status, 200);
  EXPECT_EQ(service.Await(bad).status, 500);
  gone->cancel();
  EXPECT_FALSE(plan.expired());  // The store has it.
  service.Offer({TestdataPath("de-en")});
  // The connection forgets how to cancel a request once it has been answered.
  for (const auto& each : {good, bad, gone}) each->cancel = nullptr;
  // The feed's thread may still hold a text for a moment.
  for (int i = 0; i < 10'000 && !plan.expired(); ++i) {
    service.RunWaiting();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_TRUE(plan.expired());
}

// While nothing has been measured, a low speed is assumed; what has been translated of a request no
// longer counts.
TEST(ServiceTest, TheTimeToWaitIsThatOfTheQueue) {
  TestService service;
  service.Hold();
  EXPECT_EQ(service.service().jobs().SecondsToWait(), 1);
  const auto pending = service.SendJson(
      Request(absl::StrCat(std::string(20'000, 'a'), "\n", std::string(9'999, 'b'))));
  EXPECT_EQ(service.service().jobs().SecondsToWait(), 30);
  EXPECT_EQ(service.service().jobs().waiting_characters(), 30'000u);
  service.TakeHeld(2)[0].Finish();
  service.RunUntil([&] { return service.service().jobs().waiting_characters() == 10'000; });
  EXPECT_LT(service.service().jobs().SecondsToWait(), 30);
  pending->cancel();
  EXPECT_EQ(service.service().jobs().waiting_characters(), 0u);
}

// However many lines and blocks its texts have, a request has no more units than the feed may have.
TEST(ServiceTest, ManyShortLinesAreFewUnitsAtATime) {
  TestService service;
  service.Hold();
  std::string lines;
  std::string blocks;
  for (int i = 0; i < 50'000; ++i) {
    lines += "a\n";
    if (i < 10'000) blocks += "<p>a</p>";
  }
  const auto plain = service.SendJson(Request(Json::array({lines, lines, lines, lines})));
  const auto page = service.SendJson(With(Request(blocks), "format", "html"), "2.2.2.2");
  EXPECT_EQ(service.TakeHeld(TextFeed::kMostUnits).size(), TextFeed::kMostUnits);
  EXPECT_EQ(service.service().jobs().feed().units(), TextFeed::kMostUnits);
  plain->cancel();
  page->cancel();
  EXPECT_EQ(service.service().jobs().feed().units(), 0u);
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

// A request may shorten the time that the server gives to each, but not lengthen it.
TEST(ServiceTest, TheServersTimeIsTheLongest) {
  ServeOptions options;
  options.request_timeout = 100;
  TestService service(options);
  service.Hold();
  const auto longer = service.SendJson(With(Request("a"), "timeout", 1000));
  const auto shorter = service.SendJson(With(Request("b"), "timeout", "10"));
  const std::vector<HeldUnit> held = service.TakeHeld(2);
  const auto now = std::chrono::steady_clock::now();
  service.service().jobs().EndLate(now + std::chrono::seconds(50));
  EXPECT_FALSE(longer->answer.has_value());
  ASSERT_TRUE(shorter->answer.has_value());
  EXPECT_EQ(shorter->answer->status, 504);
  service.service().jobs().EndLate(now + std::chrono::seconds(101));
  ASSERT_TRUE(longer->answer.has_value());
  EXPECT_EQ(longer->answer->status, 504);
}

TEST(ServiceTest, RequestsEndInTimeWhateverTheyWaitFor) {
  TestService service;
  service.Hold();
  const auto late = service.SendJson(With(Request("a"), "timeout", 100));
  const auto other = service.SendJson(Request("b"));
  const std::vector<HeldUnit> held = service.TakeHeld(2);
  service.service().jobs().EndLate(std::chrono::steady_clock::now() + std::chrono::seconds(200));
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
