// Tests of the shapes of smaller clients, of terms in requests, of files, and of WebSockets'
// messages.
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/paths.h"
#include "tests/tools/serve/service_under_test.h"

namespace nibu::internal {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(OtherClientsTest, ImmersiveTranslate) {
  TestService service;
  const auto ask = [&](const Json& list, const char* source = "auto") {
    return service.Post("/imme",
                        {{"source_lang", source}, {"target_lang", "de"}, {"text_list", list}});
  };
  const Json found = Json::parse(ask({"A <b0>dog</b0> runs.", "Two {0} cats."}).body);
  ASSERT_EQ(found["translations"].size(), 2u);
  EXPECT_EQ(found["translations"][0]["detected_source_lang"], "en");
  EXPECT_THAT(found["translations"][0]["text"].get<std::string>(), HasSubstr("<b0>"));
  EXPECT_THAT(found["translations"][1]["text"].get<std::string>(), HasSubstr("{0}"));
  EXPECT_EQ(ask({"A dog."}, "en").status, 200);
  for (const Json& odd : {Json(), Json("a"), Json::array({5}), Json::array()}) {
    const HttpAnswer refused = ask(odd);
    EXPECT_EQ(refused.status, 400);
    EXPECT_EQ(Json::parse(refused.body).count("error"), 1u);
  }
  // An add-on knows an address alone, so that the key may stand in its query.
  service.service().access().Set({{{"secret", {}}}, {}}, {}, {});
  EXPECT_EQ(ask({"A dog."}).status, 400);
  HttpRequest request;
  request.method = "POST";
  request.path = "/imme";
  request.query = "token=secret";
  request.content_type = "application/json";
  request.body = R"({"source_lang": "en", "target_lang": "de", "text_list": ["A dog."]})";
  EXPECT_EQ(service.Await(service.Send(request)).status, 200);
}

TEST(OtherClientsTest, DeepLX) {
  TestService service;
  const Json request = {{"text", "A dog."}, {"source_lang", "EN"}, {"target_lang", "DE"}};
  const Json found = service.Ask(request);
  EXPECT_EQ(found["code"], 200);
  EXPECT_THAT(found["data"].get<std::string>(), HasSubstr("Hund"));
  EXPECT_EQ(found["source_lang"], "EN");
  EXPECT_EQ(found["target_lang"], "DE");
  EXPECT_TRUE(found["alternatives"].is_array());
  EXPECT_EQ(service.Ask({{"text", "A dog."}, {"target_lang", "de"}})["data"], found["data"]);
  EXPECT_EQ(
      service.Ask(
          {{"text", "<p>A dog.</p>"}, {"target_lang", "de"}, {"tag_handling", "xml"}})["data"],
      absl::StrCat("<p>", found["data"].get<std::string>(), "</p>"));
  for (const auto& [name, value] : {std::pair<const char*, Json>("target_lang", "XX"),
                                    {"target_lang", nullptr},
                                    {"tag_handling", "json"},
                                    {"text", 5}}) {
    Json wrong = request;
    wrong[name] = value;
    const Json refused = service.Ask(wrong);
    EXPECT_EQ(refused["code"], 400) << wrong;
    EXPECT_EQ(refused.count("message"), 1u);
  }
  service.service().access().Set({{{"secret", {}}}, {}}, {}, {});
  EXPECT_EQ(service.Ask(request)["code"], 401);
}

TEST(OtherClientsTest, NllbServe) {
  TestService service;
  const Json found = service.Ask(
      {{"source", {"A dog.", "A man."}}, {"src_lang", "eng_Latn"}, {"tgt_lang", "deu_Latn"}});
  EXPECT_EQ(found["source"], Json({"A dog.", "A man."}));
  ASSERT_EQ(found["translation"].size(), 2u);
  EXPECT_THAT(found["translation"][0].get<std::string>(), HasSubstr("Hund"));
  EXPECT_EQ(found["tgt_lang"], "deu_Latn");
  EXPECT_EQ(service.Ask({{"source", "A dog."}, {"tgt_lang", "de"}})["translation"][0],
            found["translation"][0]);
  EXPECT_EQ(service.ErrorOf({{"source", "A dog."}, {"src_lang", "en"}}),
            "Invalid request: missing target parameter");
  // This one is LibreTranslate's, without its text.
  EXPECT_EQ(service.ErrorOf({{"source", "en"}, {"target", "de"}}),
            "Invalid request: missing q parameter");
}

TEST(OtherClientsTest, TermsInTheRequest) {
  TestService service;
  Json request = {{"q", "A dog runs."}, {"source", "en"}, {"target", "de"}};
  const auto with = [&](const char* name, const Json& value) {
    Json changed = request;
    changed[name] = value;
    const Json answer = service.Ask(changed);
    return answer.contains("error") ? answer["error"].get<std::string>()
                                    : answer["translatedText"].get<std::string>();
  };
  for (const Json& terms :
       {Json({{"dog", "Köter"}}), Json({{"dog", {"Köter", "Köter"}}}),
        Json::array({Json::array({"dog", "Köter"})}), Json("dog\tKöter\ncat\tMieze\n")}) {
    EXPECT_THAT(with("glossary", terms), HasSubstr("Köter")) << terms;
  }
  for (const Json& none : {Json(), Json(""), Json::object(), Json::array()}) {
    EXPECT_THAT(with("glossary", none), HasSubstr("Hund")) << none;
    EXPECT_THAT(with("do_not_translate", none), HasSubstr("Hund")) << none;
  }
  for (const Json& odd : {Json(5), Json(true), Json::array({"dog"}), Json({{"dog", 5}}),
                          Json({{"", "x"}}), Json({{"dog", ""}})}) {
    EXPECT_THAT(with("glossary", odd), StartsWith("Invalid request: glossary")) << odd;
  }
  EXPECT_EQ(with("glossary", "animals"), "Glossary not found");
  EXPECT_THAT(with("glossary", "dog\t"), HasSubstr("line 1"));
  for (const Json& stay : {Json({"dog"}), Json("dog\nA.B"), Json({"dog", "do", "(["})}) {
    EXPECT_THAT(with("do_not_translate", stay), HasSubstr("dog")) << stay;
  }
  // Only whole words stay.
  EXPECT_THAT(with("do_not_translate", {"do", "og", "d"}), HasSubstr("Hund"));
  for (const Json& odd : {Json(5), Json({{"a", "b"}}), Json::array({5})}) {
    EXPECT_THAT(with("do_not_translate", odd), HasSubstr("not a list of texts"));
  }
  EXPECT_THAT(with("do_not_translate", std::vector<std::string>(1001, "x")),
              HasSubstr("more than 1000 terms"));
  EXPECT_THAT(with("glossary", {{"dog", std::string(200'000, 'x')}}),
              HasSubstr("more than 1000 terms"));
  request["do_not_translate"] = {"runs"};
  const std::string both = with("glossary", {{"dog", "Köter"}});
  EXPECT_THAT(both, HasSubstr("runs"));
  EXPECT_THAT(both, HasSubstr("Köter"));
  // The request without them is translated as ever.
  request.erase("do_not_translate");
  EXPECT_THAT(with("format", "text"), Not(HasSubstr("runs")));
}

HttpRequest FileRequest(const std::string& name, const std::string& content) {
  HttpRequest request;
  request.method = "POST";
  request.path = "/translate_file";
  request.host = "server:5000";
  request.content_type = "multipart/form-data; boundary=b";
  for (const auto& [field, value] : {std::pair("source", "en"), std::pair("target", "de")}) {
    absl::StrAppend(&request.body, "--b\r\nContent-Disposition: form-data; name=\"", field,
                    "\"\r\n\r\n", value, "\r\n");
  }
  absl::StrAppend(&request.body,
                  "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"", name,
                  "\"\r\n\r\n", content, "\r\n--b--\r\n");
  return request;
}

// Translates a file, and returns the one that can be downloaded.
HttpAnswer TranslateFile(const std::string& name, const std::string& content,
                         TestService* service) {
  const HttpAnswer answer = service->Await(service->Send(FileRequest(name, content)));
  EXPECT_EQ(answer.status, 200) << answer.body;
  const std::string url = Json::parse(answer.body).value("translatedFileUrl", "");
  EXPECT_THAT(url, StartsWith("http://server:5000/download_file/"));
  return service->Get(url.substr(18));
}

TEST(TranslatedFilesTest, TranslatesTextHtmlAndSubtitles) {
  TestService service;
  const HttpAnswer text = TranslateFile("a b.txt", "Two dogs run.\n\nA man.\n", &service);
  EXPECT_THAT(text.body, testing::MatchesRegex("Zwei Hunde[^\n]*\n\n[^\n]*Mann[^\n]*\n"));
  EXPECT_EQ(text.disposition, "attachment; filename=\"a_b_de.txt\"");
  const HttpAnswer page =
      TranslateFile("..\\/p.HTML", "<html><body><p>Two dogs run.</p></body></html>", &service);
  EXPECT_THAT(page.body, testing::MatchesRegex("<html><body><p>Zwei Hunde.*</p></body></html>"));
  EXPECT_THAT(page.content_type, HasSubstr("text/html"));
  EXPECT_THAT(page.disposition, StartsWith("attachment; filename=\"p_de"));
  const HttpAnswer captions = TranslateFile("c.srt",
                                            "1\r\n00:00:01,000 --> 00:00:02,000\r\nTwo dogs are "
                                            "playing\r\nin the snow.\r\n\r\n2\r\n00:00:03,000 --> "
                                            "00:00:04,000\r\n<i>A man.</i>\r\n",
                                            &service);
  EXPECT_THAT(captions.body,
              testing::MatchesRegex("1\r\n00:00:01,000 --> 00:00:02,000\r\n"
                                    "Zwei Hunde[^\r\n]*\r\n[^\r\n]*Schnee[^\r\n]*\r\n\r\n2\r\n"
                                    "00:00:03,000 --> 00:00:04,000\r\n"
                                    "<i>[^\r\n]*Mann[^\r\n]*</i>\r\n"));
  // Captions without an empty line between them, and two speakers in one.
  const HttpAnswer close = TranslateFile("d.srt",
                                         "1\n00:01 --> 00:02\nTwo dogs run.\n2\n00:03 --> 00:04\n"
                                         "- A man.\n- A child sleeps.\n00:05 --> 00:06\nA cat.",
                                         &service);
  EXPECT_THAT(close.body, testing::MatchesRegex("1\n00:01 --> 00:02\nZwei Hunde[^\n]*\n2\n"
                                                "00:03 --> 00:04\n- [^\n]*Mann[^\n]*\n"
                                                "- [^\n]*Kind[^\n]*\n00:05 --> 00:06\n"
                                                "[^\n]*Katze[^\n]*"));
  // Files without text, and those that are no subtitles.
  EXPECT_EQ(TranslateFile("e.txt", "", &service).body, "");
  EXPECT_EQ(TranslateFile("e.srt", "", &service).body, "");
  EXPECT_EQ(TranslateFile("e.srt", "1\n\n-->\n\n-->", &service).body, "1\n\n-->\n\n-->");
  for (const char* name : {"a.pdf", "a", "", ".tx", "txt"}) {
    EXPECT_EQ(service.Await(service.Send(FileRequest(name, "x"))).status, 403) << name;
  }
  EXPECT_EQ(service.Get("/download_file/x").status, 404);
  EXPECT_EQ(service.Get("/download_file/").status, 404);
}

TEST(TranslatedFilesTest, KeepsTheLastOnes) {
  TranslatedFiles files;
  const std::string empty = files.Add("empty.txt", "");
  EXPECT_EQ(files.Download(empty).status, 200);
  for (int i = 0; i < 1 << 14; ++i) files.Add("empty.txt", "");
  EXPECT_EQ(files.Download(empty).status, 404);
  const std::string first = files.Add("first.txt", "1");
  const std::string large = files.Add("large.txt", std::string(TranslatedFiles::kMostBytes, 'x'));
  EXPECT_NE(files.Add("large.txt", "2").substr(0, 8), large.substr(0, 8));
  EXPECT_EQ(files.Download(first).status, 404);
  EXPECT_EQ(files.Download(large).status, 404);
}

// Sends a message on a WebSocket that was opened with a query.
HttpAnswer Message(const std::string& text, TestService* service, const std::string& query = "") {
  HttpRequest request;
  request.kind = HttpRequest::Kind::kMessage;
  request.method = "GET";
  request.path = "/translate";
  request.query = query;
  request.body = text;
  return service->Await(service->Send(request));
}

TEST(MarianMessagesTest, TranslatesLines) {
  TestService service;
  service.Offer({CaptionsModelPath(), TestdataPath("de-en")});
  for (const char* end : {"", "\n"}) {
    EXPECT_THAT(Message(absl::StrCat("Two dogs run.\n\nA man.", end), &service).body,
                testing::MatchesRegex("Zwei Hunde[^\n]*\n\n[^\n]*Mann[^\n]*\n"));
  }
  EXPECT_EQ(Message("", &service).body, "\n");
  EXPECT_EQ(Message("\n", &service).body, "\n");
  // Braces begin no JSON.
  EXPECT_EQ(Message("{\"q\": 1}", &service).status, 200);
  EXPECT_THAT(Message("Zwei Hunde laufen.", &service, "source=de&target=en").body,
              HasSubstr("dogs"));
  EXPECT_EQ(Message("x", &service, "target=zz").error, "zz is not supported");
}

TEST(MarianMessagesTest, OpensWebSocketsForThoseWhoMay) {
  TestService service;
  HttpRequest request;
  request.kind = HttpRequest::Kind::kUpgrade;
  request.method = "GET";
  request.path = "/translate/";
  EXPECT_EQ(service.Await(service.Send(request)).status, 101);
  service.service().access().Set({{{"secret", {}}}, {}}, {}, {});
  EXPECT_EQ(service.Await(service.Send(request)).status, 400);
  EXPECT_EQ(Message("x", &service).status, 400);
  EXPECT_EQ(Message("x", &service, "api_key=secret").status, 200);
  request.query = "api_key=secret";
  EXPECT_EQ(service.Await(service.Send(request)).status, 101);
  request.path = "/health";
  EXPECT_EQ(service.Await(service.Send(request)).status, 404);
  // No method of HTTP makes a message.
  EXPECT_EQ(service.Get("/translate", "MESSAGE").status, 405);
  service.service().Drain();
  EXPECT_EQ(Message("x", &service, "api_key=secret").status, 503);
}

}  // namespace
}  // namespace nibu::internal
