// Tests of the JSON parser and of configuration files.
#include "models/files/json.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace nibu::internal {
namespace {

using ::testing::HasSubstr;

std::string Message(const absl::Status& status) { return std::string(status.message()); }

TEST(Json, ParsesWhatTheLibraryParses) {
  for (const char* text : {"1", "-7", "1.5e3", "\"a\\u00e4\"", "null", "true", "[]", "{}", " [1] ",
                           R"({"a":[1,{"b":[[],{}]}],"c":"d","e":{"f":{"g":[null,false]}}})"}) {
    const absl::StatusOr<nlohmann::json> json = ParseJson(text, "f.json");
    ASSERT_TRUE(json.ok()) << json.status();
    EXPECT_EQ(*json, nlohmann::json::parse(text));
  }
}

TEST(Json, RefusesWhatIsNotJson) {
  for (const char* text : {"", "{", "[1,]", "{\"a\"}", "nul", "{} {}", "\"\xff\"", "1e999"}) {
    const absl::Status status = ParseJson(text, "f.json").status();
    EXPECT_THAT(Message(status), HasSubstr("f.json: not JSON at byte ")) << text;
  }
}

TEST(Json, RefusesDeepNesting) {
  const std::string just(32, '[');
  EXPECT_TRUE(ParseJson(just + std::string(32, ']'), "f.json").ok());
  EXPECT_THAT(Message(ParseJson(just + "[]" + std::string(32, ']'), "f.json").status()),
              HasSubstr("nested deeper than 32"));
  EXPECT_FALSE(ParseJson(std::string(10'000'000, '['), "f.json").ok());
}

TEST(Json, RefusesDuplicateKeys) {
  EXPECT_THAT(Message(ParseJson(R"({"a":1,"b":{"c":1,"c":2}})", "f.json").status()),
              HasSubstr("f.json: the key \"c\" is there twice"));
  EXPECT_TRUE(ParseJson(R"({"a":{"c":1},"b":{"c":1}})", "f.json").ok());
}

TEST(Json, NamesTheKeysOfValuesThatItCannotHold) {
  for (const char* half :
       {R"("\ud800")", R"("a\udbff b")", R"("\udc00\ud800")", R"(["\ud83d\ud83d"])"}) {
    const absl::Status status =
        ParseJson(absl::StrCat(R"({"a": "\ud83d\ude00", "q": )", half, "}"), "f.json").status();
    EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange) << half;
    EXPECT_THAT(Message(status), HasSubstr("the value of \"q\" has half of a surrogate pair"));
  }
  EXPECT_THAT(Message(ParseJson(R"({"a":{"b":[-1e999]}})", "f.json").status()),
              HasSubstr("the value of \"a\" has a number that is too large"));
  for (const char* text : {R"({"\ud800": 1})", R"({"a": 1, "\ud800": 1})", R"("\ud800")",
                           "{\"a\": \"\xed\xa0\x80\"}"}) {
    const absl::Status status = ParseJson(text, "f.json").status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(Message(status), HasSubstr("f.json: not JSON at byte "));
  }
}

TEST(ConfigFile, TypedLookUps) {
  const absl::StatusOr<ConfigFile> config = ConfigFile::Parse(
      R"({"i":3,"n":-3,"s":"x","t":true,"z":null,"big":2147483648,"low":-2147483649,"f":1.0})",
      "c.json");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(*config->Int("i", 9), 3);
  EXPECT_EQ(*config->Int("n", 9), -3);
  EXPECT_EQ(*config->Int("absent", 9), 9);
  EXPECT_EQ(*config->Int("z", 9), 9);
  EXPECT_EQ(*config->Bool("t", false), true);
  EXPECT_EQ(*config->Bool("absent", true), true);
  EXPECT_EQ(*config->String("s", ""), "x");
  EXPECT_EQ(*config->String("absent", "y"), "y");
  EXPECT_EQ(*config->OptionalInt("absent"), std::nullopt);
  EXPECT_EQ(Message(config->Int("s", 0).status()), "c.json: \"s\" must be an integer, found \"x\"");
  EXPECT_EQ(Message(config->Bool("i", true).status()),
            "c.json: \"i\" must be true or false, found 3");
  EXPECT_EQ(Message(config->String("t", "").status()),
            "c.json: \"t\" must be a string, found true");
  EXPECT_FALSE(config->Int("big", 0).ok());
  EXPECT_FALSE(config->Int("low", 0).ok());
  EXPECT_FALSE(config->Int("f", 0).ok());
  for (const char* huge :
       {"18446744073709551615", "9223372036854775808", "4294967296", "2147483648", "-2147483649"}) {
    const auto parsed = ConfigFile::Parse(absl::StrCat("{\"a\": ", huge, "}"), "c.json");
    EXPECT_EQ(Message(parsed->Int("a", 0).status()),
              absl::StrCat("c.json: \"a\" must be an integer of 32 bits, found ", huge));
  }
  EXPECT_FALSE(ConfigFile::Parse("[]", "c.json").ok());
}

TEST(JsonTest, NumbersThatOnlyPythonWrites) {
  const auto config = ConfigFile::Parse(
      R"({"a": NaN, "b": [-Infinity, Infinity], "c": "NaN \" Infinity", "d": 2})", "f");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(*config->Int("d", 0), 2);
  EXPECT_EQ(*config->String("c", ""), "NaN \" Infinity");
  EXPECT_EQ(Message(config->Float("a", 0).status()), "f: \"a\" must be a number, found \"NaN\"");
  EXPECT_FALSE(ConfigFile::Parse(R"({"a": NaN)", "f").ok());
  EXPECT_FALSE(ConfigFile::Parse(R"({"a": NaNa})", "f").ok());
}

TEST(JsonTest, AMemberIsReadNoFurther) {
  const auto member = [](const char* text) { return ParseJsonMember(text, "f", "b"); };
  EXPECT_EQ(*member(R"({"a": {"b": 1}, "b": {"a": [2, {"b": 3}]}, "c": damaged)"),
            nlohmann::json::parse(R"({"a": [2, {"b": 3}]})"));
  EXPECT_EQ(*member(R"({"b": [])"), nlohmann::json::array());
  EXPECT_EQ(*member(R"({"b": 7, )"), 7);
  EXPECT_EQ(*member(R"({"a": {"b": 1}, "c": 2})"), nullptr);
  EXPECT_EQ(*member("{}"), nullptr);
  EXPECT_EQ(member(R"({"a": damaged, "b": 1})").status().message(), "f: not JSON at byte 7");
  EXPECT_EQ(member(R"({"b": {"a": 1)").status().message(), "f: not JSON at byte 14");
  EXPECT_EQ(member("[1]").status().message(), "f: not an object of key: value");
}

TEST(JsonTest, WithOtherFields) {
  const ConfigFile config = *ConfigFile::Parse(R"({"a": 1, "b": 2, "c": null})", "f");
  const ConfigFile changed = config.With({{"a", 5}, {"c", 6}, {"d", 7}}, {{"b", 8}, {"e", 9}});
  EXPECT_EQ(changed.object(), nlohmann::json::parse(R"({"a":1,"b":8,"c":6,"d":7,"e":9})"));
  EXPECT_EQ(changed.file(), "f");
}

}  // namespace
}  // namespace nibu::internal
