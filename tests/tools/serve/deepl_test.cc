// Tests of DeepL's interface: texts, languages, usage, glossaries and errors.
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/paths.h"
#include "tests/tools/serve/service_under_test.h"

namespace nibu::internal {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class DeepLTest : public testing::Test {
 protected:
  DeepLTest() : service_(Limits()) { service_.Offer({CaptionsModelPath(), TestdataPath("de-en")}); }

  static ServeOptions Limits() {
    ServeOptions options;
    options.max_texts = 3;
    options.max_characters = 100;
    return options;
  }
  HttpAnswer Post(const Json& json) { return service_.Post("/v2/translate", json); }
  static Json Text(const Json& text) { return {{"text", text}, {"target_lang", "DE"}}; }
  static Json With(Json json, const char* name, const Json& value) {
    json[name] = value;
    return json;
  }
  // Returns the message of an error with this status.
  static std::string MessageOf(const HttpAnswer& answer, int status) {
    EXPECT_EQ(answer.status, status);
    const Json json = Json::parse(answer.body);
    EXPECT_EQ(json.size(), 1u) << json;
    return json.value("message", "");
  }
  std::string Refused(const Json& json) { return MessageOf(Post(json), 400); }
  std::string TranslationOf(const Json& json) {
    const HttpAnswer answer = Post(json);
    EXPECT_EQ(answer.status, 200) << answer.body;
    return Json::parse(answer.body)["translations"][0]["text"];
  }
  Json GetJson(const std::string& path) {
    const HttpAnswer answer = service_.Get(path);
    EXPECT_EQ(answer.status, 200) << path;
    return Json::parse(answer.body);
  }

  TestService service_;
};

TEST_F(DeepLTest, TranslatesTexts) {
  const Json detected = Json::parse(Post(Text({"Two dogs run.", "A cat."})).body)["translations"];
  ASSERT_EQ(detected.size(), 2u);
  EXPECT_EQ(detected[0].size(), 2u);
  EXPECT_EQ(detected[0]["detected_source_language"], "EN");
  EXPECT_THAT(detected[0]["text"].get<std::string>(), HasSubstr("Hunde"));
  Json all = Text("Two dogs run.");
  all.update({{"source_lang", "EN"},
              {"show_billed_characters", true},
              {"model_type", "prefer_quality_optimized"},
              {"formality", "more"},
              {"context", "a park"},
              {"preserve_formatting", true},
              {"outline_detection", "0"},
              {"tag_handling_version", "v2"}});
  const Json told = Json::parse(Post(all).body)["translations"][0];
  EXPECT_EQ(told["text"], detected[0]["text"]);
  EXPECT_EQ(told["billed_characters"], 13);
  EXPECT_EQ(told["model_type_used"], "quality_optimized");
  for (const char* english : {"EN", "en-us", "EN-GB"}) {
    EXPECT_THAT(TranslationOf(With(Text("Zwei Hunde laufen."), "target_lang", english)),
                HasSubstr("dogs"));
  }
  // A form repeats the text, and has an empty source.
  HttpRequest form;
  form.method = "POST";
  form.path = "/v2/translate";
  form.content_type = "application/x-www-form-urlencoded";
  form.body = "text=Two+dogs+run.&text=A+cat.&source_lang&target_lang=de&tag_handling=html";
  EXPECT_EQ(Json::parse(service_.Await(service_.Send(form)).body)["translations"], detected);
  // OmegaT sends all of it in the query.
  EXPECT_EQ(GetJson("/v1/translate?auth_key=k&text=Two+dogs+run.&source_lang=EN&target_lang=DE&"
                    "tag_handling=xml&split_sentences=1&preserve_formatting=0")["translations"][0],
            detected[0]);
}

TEST_F(DeepLTest, SplitsSentences) {
  service_.Hold();
  const auto units = [&](const char* split) {
    Json request =
        With(With(Text("A dog\nruns. It\nsleeps."), "source_lang", "EN"), "split_sentences", split);
    HttpRequest http;
    http.method = "POST";
    http.path = "/v2/translate";
    http.content_type = "application/json";
    http.body = request.dump();
    const auto pending = service_.Send(http);
    const size_t count = split == std::string("nonewlines") ? 1 : 3;
    for (const HeldUnit& unit : service_.TakeHeld(count)) unit.Finish();
    return Json::parse(service_.Await(pending).body)["translations"][0]["text"];
  };
  EXPECT_EQ(units("1"), "<A dog>\n<runs. It>\n<sleeps.>");
  EXPECT_EQ(units("0"), "<A dog>\n<runs. It>\n<sleeps.>");
  EXPECT_EQ(units("nonewlines"), "<A dog runs. It sleeps.>");
}

TEST_F(DeepLTest, KeepsTags) {
  Json html =
      With(With(Text("<p>A <b>dog</b> runs.</p>"), "source_lang", "EN"), "tag_handling", "html");
  EXPECT_THAT(TranslationOf(html), HasSubstr("<b>Hund</b>"));
  // Weblate's placeholders, and an element that is not translated.
  Json xml = With(With(Text("A <x id=\"7\"></x> dog and a <x>red house</x>."), "source_lang", "EN"),
                  "tag_handling", "xml");
  xml["ignore_tags"] = {"x"};
  EXPECT_THAT(TranslationOf(xml), HasSubstr("<x id=\"7\"></x>"));
  EXPECT_THAT(TranslationOf(xml), HasSubstr("<x>red house</x>"));
  // Elements stay; their words elsewhere do not, and an attribute of the text's own stays, too.
  Json twice = xml;
  twice["text"] = "<x translate=\"no\">A dog</x> and a dog.";
  EXPECT_THAT(TranslationOf(twice), HasSubstr("<x translate=\"no\">A dog</x> und ein Hund"));
  xml["ignore_tags"] = "y, x";
  EXPECT_THAT(TranslationOf(xml), HasSubstr("<x>red house</x>"));
  // Elements that do not end, or only begin like it, are no such elements.
  for (const char* text :
       {"<x", "<x>", "<x/>", "<xy>a</xy>", "<x a>", "< x>a</x>", "</x>", "<x></x", "<x>a</x>"}) {
    xml["text"] = text;
    EXPECT_EQ(Post(xml).status, 200) << text;
  }
}

TEST_F(DeepLTest, SaysWhatIsWrong) {
  EXPECT_EQ(Refused({{"target_lang", "DE"}}), "Parameter 'text' not specified.");
  EXPECT_EQ(Refused(Text(Json::array())), "Parameter 'text' not specified.");
  EXPECT_EQ(Refused(Text(5)), "Parameter 'text' not specified.");
  EXPECT_EQ(Refused(Text({5})), "Value for 'text' not supported.");
  EXPECT_EQ(Refused({{"text", {"a"}}}), "Parameter 'target_lang' not specified.");
  const Json good = Text({"a"});
  for (const Json& odd : {Json("XX"), Json(""), Json(5), Json({"DE"})}) {
    EXPECT_EQ(Refused(With(good, "target_lang", odd)), "Value for 'target_lang' not supported.");
  }
  for (const char* name : {"source_lang", "formality", "split_sentences", "tag_handling",
                           "preserve_formatting", "model_type", "show_billed_characters"}) {
    for (const Json& odd : {Json("xx"), Json::array({"1"}), Json::object()}) {
      EXPECT_EQ(Refused(With(good, name, odd)),
                absl::StrCat("Value for '", name, "' not supported."));
    }
  }
  const Json english = With(good, "target_lang", "EN-US");
  EXPECT_EQ(Refused(With(english, "formality", "less")),
            "'formality' is not supported for given 'target_lang'.");
  EXPECT_EQ(Post(With(english, "formality", "prefer_less")).status, 200);
  EXPECT_EQ(Refused(With(good, "ignore_tags", std::vector<std::string>(17, "x"))),
            "Value for 'ignore_tags' not supported.");
  // The languages are known, but no model translates from one into the other.
  service_.Offer({CaptionsModelPath()});
  EXPECT_EQ(Refused(english), "Value for 'target_lang' not supported.");
  EXPECT_EQ(Refused(With(good, "source_lang", "DE")), "Value for 'source_lang' not supported.");
  EXPECT_THAT(MessageOf(Post(Text({std::string(101, 'x')})), 413), HasSubstr("101"));
  EXPECT_THAT(MessageOf(Post(Text({"a", "b", "c", "d"})), 413), HasSubstr("4"));
  MessageOf(service_.Post("/v2/nothing", Json::object()), 404);
  MessageOf(service_.Post("//v3//glossaries", Json::object()), 404);
  MessageOf(service_.Get("/v2/translate", "DELETE"), 405);
  EXPECT_THAT(MessageOf(service_.Post("/v2/document", Json::object()), 400),
              HasSubstr("Documents"));
  MessageOf(service_.Get("/v2/document/id/result"), 400);
  service_.service().Drain();
  MessageOf(Post(good), 503);
}

TEST_F(DeepLTest, ChecksKeys) {
  service_.service().access().Set({{{"secret", {}}}, {}}, {}, {});
  const std::string failure = "Authorization failure, check the auth_key";
  for (const char* path : {"/v2/translate", "/v2/languages", "/v2/usage", "/v2/glossaries"}) {
    EXPECT_EQ(MessageOf(service_.Post(path, Text("a")), 403), failure);
    EXPECT_EQ(MessageOf(service_.Post(path, Text("a"), "wrong"), 403), failure);
  }
  EXPECT_EQ(service_.Post("/v2/translate", Text("a"), "secret").status, 200);
  EXPECT_EQ(service_.Get("/v2/usage?auth_key=secret").status, 200);
  EXPECT_EQ(service_.Get("/v3/languages?resource=glossary").status, 403);
  service_.service().access().Set({}, {1}, {});
  EXPECT_EQ(service_.Get("/v2/usage").status, 200);
  EXPECT_THAT(MessageOf(service_.Get("/v2/usage"), 429), HasSubstr("Slowdown"));
}

TEST_F(DeepLTest, ListsLanguagesAndUsage) {
  const auto codes = [](const Json& languages, const char* name) {
    std::vector<std::string> found;
    for (const Json& language : languages) found.push_back(language[name]);
    return found;
  };
  EXPECT_THAT(codes(GetJson("/v2/languages"), "language"), ElementsAre("EN", "DE"));
  const Json targets = GetJson("/v2/languages?type=target");
  EXPECT_THAT(codes(targets, "language"), ElementsAre("EN-GB", "EN-US", "DE"));
  EXPECT_EQ(targets[0]["supports_formality"], false);
  EXPECT_EQ(targets[2]["supports_formality"], true);
  EXPECT_THAT(MessageOf(service_.Get("/v2/languages?type=x"), 400), HasSubstr("type"));
  const Json third = GetJson("/v3/languages?resource=translate_text");
  EXPECT_THAT(codes(third, "lang"), ElementsAre("en", "en-GB", "en-US", "de"));
  EXPECT_EQ(third[1]["usable_as_source"], false);
  EXPECT_EQ(third[1]["usable_as_target"], true);
  EXPECT_EQ(GetJson("/v3/languages?resource=glossary"), Json::array());
  EXPECT_EQ(GetJson("/v3/languages?resource=write"), Json::array());
  MessageOf(service_.Get("/v3/languages?resource=x"), 400);
  MessageOf(service_.Get("/v3/languages"), 400);
  EXPECT_EQ(GetJson("/v2/glossary-language-pairs"), Json({{"supported_languages", Json::array()}}));
  Post(Text("Two dogs run."));
  EXPECT_EQ(GetJson("/v2/usage"),
            Json({{"character_count", 13}, {"character_limit", 1'000'000'000'000}}));
  EXPECT_EQ(service_.Post("/v2/usage", Json::object()).status, 200);
  // A client with a limit sees its own.
  service_.service().access().Set({{{"secret", {}}}, {}}, {0, 1'000'000}, {});
  EXPECT_EQ(service_.Post("/v2/translate", Text("A dog runs."), "secret").status, 200);
  EXPECT_EQ(GetJson("/v2/usage?auth_key=secret"),
            Json({{"character_count", 11}, {"character_limit", 1'000'000}}));
}

class DeepLGlossaryTest : public DeepLTest {
 protected:
  DeepLGlossaryTest()
      : folder_(fs::path(testing::TempDir()) /
                testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    Write("animals.tsv", "# a comment\ndog\tKöter\n");
  }

  void Write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  absl::Status Open() { return service_.service().glossaries().Open(folder_); }
  size_t CountFiles() {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  static Json Glossary(const std::string& entries, const char* format = "tsv") {
    return {{"name", "Tiere"},
            {"source_lang", "en"},
            {"target_lang", "DE"},
            {"entries", entries},
            {"entries_format", format}};
  }
  HttpAnswer Create(const Json& glossary) { return service_.Post("/v2/glossaries", glossary); }
  std::string NotCreated(const Json& glossary) { return MessageOf(Create(glossary), 400); }

  const fs::path folder_;
};

TEST_F(DeepLGlossaryTest, CreatesUsesAndDeletes) {
  EXPECT_THAT(NotCreated(Glossary("a\tb")), HasSubstr("--glossaries"));
  EXPECT_EQ(GetJson("/v2/glossaries"), Json({{"glossaries", Json::array()}}));
  ASSERT_TRUE(Open().ok());
  const HttpAnswer created = Create(Glossary("dog\tWauwau\r\n#cat\tMieze\n"));
  EXPECT_EQ(created.status, 201);
  const Json info = Json::parse(created.body);
  EXPECT_EQ(info["name"], "Tiere");
  EXPECT_EQ(info["entry_count"], 2);
  EXPECT_EQ(info["source_lang"], "en");
  EXPECT_EQ(info["ready"], true);
  EXPECT_THAT(info["creation_time"].get<std::string>(),
              testing::MatchesRegex("20..-..-..T..:..:..\\.000000Z"));
  const std::string path = absl::StrCat("/v2/glossaries/", info["glossary_id"].get<std::string>());
  EXPECT_EQ(GetJson(path), info);
  EXPECT_EQ(GetJson("/v2/glossaries"), Json({{"glossaries", {info}}}));
  const HttpAnswer entries = service_.Get(path + "/entries");
  EXPECT_EQ(entries.body, "dog\tWauwau\n#cat\tMieze\n");
  EXPECT_THAT(entries.content_type, HasSubstr("text/tab-separated-values"));
  Json request = With(Text("A dog runs."), "glossary_id", info["glossary_id"]);
  EXPECT_THAT(Refused(request), HasSubstr("source_lang"));
  request["source_lang"] = "EN";
  EXPECT_THAT(TranslationOf(request), HasSubstr("Wauwau"));
  EXPECT_THAT(TranslationOf(With(request, "glossary_id", "animals")), HasSubstr("Köter"));
  EXPECT_THAT(MessageOf(Post(With(request, "glossary_id", "none")), 404), HasSubstr("Glossary"));
  const Json back = With(With(request, "source_lang", "DE"), "target_lang", "EN-GB");
  EXPECT_THAT(Refused(back), HasSubstr("languages en and de"));
  EXPECT_EQ(GetJson("/v2/glossary-language-pairs")["supported_languages"].size(), 2u);
  // Another server with the same folder has it, too.
  TestService other;
  ASSERT_TRUE(other.service().glossaries().Open(folder_).ok());
  EXPECT_EQ(Json::parse(other.Get(path).body), info);
  EXPECT_EQ(CountFiles(), 2u);
  EXPECT_EQ(service_.Get(path, "DELETE").status, 204);
  EXPECT_EQ(CountFiles(), 1u);
  MessageOf(service_.Get(path), 404);
  MessageOf(service_.Get(path, "DELETE"), 404);
  MessageOf(Post(request), 404);
}

TEST_F(DeepLGlossaryTest, ReadsCsv) {
  ASSERT_TRUE(Open().ok());
  const Json info =
      Json::parse(Create(Glossary("dog,Hund,en,de\n\"a, b\",\"c \"\"d\"\"\"\n", "csv")).body);
  EXPECT_EQ(
      service_
          .Get(absl::StrCat("/v2/glossaries/", info["glossary_id"].get<std::string>(), "/entries"))
          .body,
      "dog\tHund\na, b\tc \"d\"\n");
}

// What the operator has put into the folder is used by its name alone. No id reaches outside.
TEST_F(DeepLGlossaryTest, HidesOtherFiles) {
  ASSERT_TRUE(Open().ok());
  for (const char* id : {"animals", "../animals", "%2e%2e", ".", "..", "x/../animals", ""}) {
    const std::string path = absl::StrCat("/v2/glossaries/", id);
    if (*id != '\0') MessageOf(service_.Get(path), 404);
    EXPECT_GE(service_.Get(path, "DELETE").status, 404);
  }
  EXPECT_EQ(CountFiles(), 1u);
}

TEST_F(DeepLGlossaryTest, SaysWhatIsWrong) {
  ASSERT_TRUE(Open().ok());
  for (const char* entries : {"", "\n", "a", "a\t", "\tb", "a\tb\tc", "a\tb\na\tc"}) {
    EXPECT_THAT(NotCreated(Glossary(entries)), HasSubstr("Invalid glossary entries")) << entries;
  }
  EXPECT_THAT(NotCreated(Glossary("\"a\tb\",c", "csv")), HasSubstr("Invalid glossary entries"));
  EXPECT_THAT(NotCreated(Glossary("a\tb", "xml")), HasSubstr("entries_format"));
  EXPECT_THAT(NotCreated(With(Glossary("a\tb"), "entries_format", "")),
              HasSubstr("entries_format"));
  for (const Json& name : {Json(""), Json(), Json("a\nb"), Json(std::string(1025, 'x'))}) {
    EXPECT_EQ(NotCreated(With(Glossary("a\tb"), "name", name)),
              "Missing or invalid argument: name");
  }
  EXPECT_THAT(NotCreated(With(Glossary("a\tb"), "target_lang", "xx")), HasSubstr("target_lang"));
  EXPECT_THAT(NotCreated(With(Glossary("a\tb"), "target_lang", "en")), HasSubstr("pair"));
  MessageOf(Create(Glossary(std::string(2 << 20, 'x'))), 413);
  std::string many;
  for (int i = 0; i < 10'001; ++i) absl::StrAppend(&many, i, "\tx\n");
  EXPECT_THAT(MessageOf(Create(Glossary(many)), 456), HasSubstr("Quota exceeded"));
  EXPECT_EQ(CountFiles(), 1u);
  // A term that the model cannot write is an error of the request that uses it.
  const Json info = Json::parse(Create(Glossary("dog\t\xF0\x93\x80\x80")).body);
  Json request = With(Text("A dog runs."), "glossary_id", info["glossary_id"]);
  EXPECT_THAT(Refused(With(request, "source_lang", "EN")), HasSubstr("glossary"));
  fs::remove_all(folder_);
  EXPECT_EQ(Create(Glossary("a\tb")).status, 500);
}

TEST_F(DeepLGlossaryTest, ReadsTheFolderAgain) {
  ASSERT_TRUE(Open().ok());
  const Json request = With(Text("A dog runs."), "source_lang", "EN");
  EXPECT_THAT(TranslationOf(With(request, "glossary_id", "animals")), HasSubstr("Köter"));
  const auto read_again = [&] {
    std::optional<absl::Status> status;
    service_.service().glossaries().ReadAgain([&](const absl::Status& read) { status = read; });
    service_.RunUntil([&] { return status.has_value(); });
    return *status;
  };
  Write("animals.tsv", "dog\tWauwau\n");
  EXPECT_TRUE(read_again().ok());
  EXPECT_THAT(TranslationOf(With(request, "glossary_id", "animals")), HasSubstr("Wauwau"));
  for (const char* bad : {"dog", "# languages: en\ndog\tHund\n", "# languages: en qqqq\na\tb\n"}) {
    Write("animals.tsv", bad);
    EXPECT_THAT(std::string(read_again().message()), HasSubstr("animals.tsv"));
    EXPECT_FALSE(TestService().service().glossaries().Open(folder_).ok());
  }
  EXPECT_THAT(TranslationOf(With(request, "glossary_id", "animals")), HasSubstr("Wauwau"));
  fs::remove_all(folder_);
  EXPECT_FALSE(read_again().ok());
}

}  // namespace
}  // namespace nibu::internal
