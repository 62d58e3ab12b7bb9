// Tests of the YAML parser: what is read, what is refused, and the line that an error names.
#include "models/files/yaml.h"

#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace nibu::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using Json = nlohmann::json;

void ExpectYaml(const std::string& text, const std::string& json) {
  const absl::StatusOr<Json> value = ParseYaml(text, "f.yml");
  ASSERT_TRUE(value.ok()) << value.status() << "\n" << text;
  EXPECT_EQ(*value, Json::parse(json)) << text;
}

std::string YamlError(const std::string& text) {
  const absl::StatusOr<Json> value = ParseYaml(text, "f.yml");
  EXPECT_FALSE(value.ok()) << text;
  return std::string(value.status().message());
}

TEST(Yaml, ScalarsGetTheirTypes) {
  ExpectYaml("a: 1\nb: -2.5\nc: true\nd: false\ne: ~\nf:\ng: null\nh: text with spaces\n",
             R"({"a":1,"b":-2.5,"c":true,"d":false,"e":null,"f":null,"g":null,
                 "h":"text with spaces"})");
  ExpectYaml("a: 1e-3\nb: v1.9.56\nc: nan\nd: inf\ne: 0x10\nf: \"1\"\ng: 'true'\nh: ''",
             R"({"a":0.001,"b":"v1.9.56","c":"nan","d":"inf","e":16,"f":"1","g":"true","h":""})");
  ExpectYaml("a: x # comment\n# comment\n\n  # comment\nb: x#y\n", R"({"a":"x","b":"x#y"})");
}

TEST(Yaml, KeysMayHoldPunctuation) {
  ExpectYaml("\"a: b\": 1\n'c''d': 2\ne:f: 3\n:x: 4\n-x: 5\n?x : 6\nx#y: 7\n",
             R"({"a: b":1,"c'd":2,"e:f":3,":x":4,"-x":5,"?x":6,"x#y":7})");
}

TEST(Yaml, EscapesAreReadOrRefused) {
  ExpectYaml(R"("\"\\\/\n\t\x41\u00e4\u20AC\U0001F600\0": 1)",
             "{\"\\\"\\\\/\\n\\tA\u00e4\u20ac\U0001F600\\u0000\":1}");
  EXPECT_THAT(YamlError(R"("\q": 1)"), HasSubstr("f.yml: line 1: unknown escape"));
  EXPECT_THAT(YamlError(R"("\u12": 1)"), HasSubstr("f.yml: line 1: bad character found"));
  EXPECT_THAT(YamlError(R"("\Uffffffff": 1)"), HasSubstr("f.yml: line 1: invalid unicode"));
}

TEST(Yaml, SequencesAndMapsNest) {
  ExpectYaml("a:\n- 1\n- x\nb:\n  - 2\n  -\nc: [1, x, \"y, z\", 'w']\nd: []\ne: {}\n",
             R"({"a":[1,"x"],"b":[2,null],"c":[1,"x","y, z","w"],"d":[],"e":{}})");
  ExpectYaml("a:\n  []\nb: 1\nc:\n  {}\nd:\n  [1, 2]\n", R"({"a":[],"b":1,"c":{},"d":[1,2]})");
  ExpectYaml("---\n- a\n- [b]\n-\n  - c\n", R"(["a",["b"],["c"]])");
  ExpectYaml("a:\n  b:\n    c: 1\n  d: 2\ne: 3\n", R"({"a":{"b":{"c":1},"d":2},"e":3})");
  ExpectYaml("a: 1\r\nb: 2\r\n", R"({"a":1,"b":2})");
  ExpectYaml("{a: 1, b: [x]}", R"({"a":1,"b":["x"]})");
}

TEST(Yaml, JsonIsYaml) {
  ExpectYaml("{\"a\": [1, {\"b\": 2}]}", R"({"a":[1,{"b":2}]})");
  ExpectYaml("", "null");
  ExpectYaml("# nothing\n", "null");
}

TEST(Yaml, NullsAreKeysOfText) {
  ExpectYaml("\u00e4: 1\nnull: 2\n~: 3\nNULL: 4\n\"nul\": 5\n",
             "{\"\u00e4\":1,\"null\":2,\"~\":3,\"NULL\":4,\"nul\":5}");
  ExpectYaml("\xef\xbb\xbfnull: ~\n? true\n: null", R"({"null":null,"true":null})");
}

TEST(Yaml, BlocksOfText) {
  ExpectYaml("a: |\n  1\nb: >\n  x\n  y\n", R"({"a":"1\n","b":"x y\n"})");
}

TEST(Yaml, RefusesTheRest) {
  for (const char* text : {"a: &x 1",
                           "a: *x",
                           "a: &x [1]\nb: *x",
                           "a: !t 1",
                           "a: [1",
                           "a: \"x",
                           "a: 'x",
                           "a: \"x\" y",
                           "\"a\" b",
                           "a: 1\n   b: 2",
                           "a:\n    b: 1\n  c: 2",
                           "- 1\na: 2",
                           "a: 1\na: 2",
                           "~: 1\n~: 2",
                           "[a]: 1",
                           "? [a]\n: 1",
                           "? {a: b}\n: 1",
                           "@a: 1",
                           "a: `b`",
                           "a: 1\n--- \nb: 2",
                           "a: b\4c",
                           "{a: 1, a: 2}",
                           "{a: 1"}) {
    EXPECT_THAT(YamlError(text), HasSubstr("f.yml: ")) << text;
  }
}

// A document can exhaust neither the stack nor memory nor time.
TEST(Yaml, RefusesDepthAndSize) {
  std::string steps;
  for (int i = 0; i < 1000; ++i) steps += std::string(static_cast<size_t>(i), ' ') + "a:\n";
  EXPECT_THAT(YamlError(steps), HasSubstr("f.yml: line 33: this is nested too deeply"));
  std::string sequences;
  for (int i = 0; i < 100'000; ++i) sequences += "- ";
  EXPECT_THAT(YamlError(sequences), HasSubstr("nested too deeply"));
  for (const char* open : {"[", "{", "? ", "!", "&a ", "*a "}) {
    std::string text = "a: ";
    for (int i = 0; i < 100'000; ++i) text += open;
    EXPECT_THAT(YamlError(text), HasSubstr("f.yml: ")) << open;
  }
  EXPECT_THAT(YamlError("a: " + std::string(1 << 24, 'x')), HasSubstr("f.yml: larger than 16 MB"));
  for (const char* part : {"[", "{", "[a, ", "x", "\n"}) {
    std::string text = "z: 1\na: [";
    while (text.size() < 15'000'000) text += part;
    EXPECT_THAT(YamlError(text + "]\n"), HasSubstr("f.yml: line 2: this value is too long"));
  }
}

// A vocabulary is a long document, in whose tokens brackets have no meaning.
TEST(Yaml, LongDocuments) {
  std::string text;
  for (int i = 0; i < 50'000; ++i) absl::StrAppend(&text, "\"[{", i, "\": ", i, "\n");
  const absl::StatusOr<Json> value = ParseYaml(text, "f.yml");
  ASSERT_TRUE(value.ok()) << value.status();
  EXPECT_EQ((*value)["[{49999"], 49999);
}

TEST(Yaml, TextOfScalarsAndLinesOfKeys) {
  std::map<std::string, int> lines;
  const absl::StatusOr<Json> value = ParseYamlText(
      "a: 1.10\nb: [0777, 1e5, true]\n? c\n: |\n  d:\n  - x\nd: ~\ne:\n  a: 1\n", "f.yml", &lines);
  ASSERT_TRUE(value.ok()) << value.status();
  EXPECT_EQ(*value, Json::parse(R"({"a":"1.10","b":["0777","1e5","true"],"c":"d:\n- x\n","d":null,
                                   "e":{"a":"1"}})"));
  EXPECT_THAT(lines,
              ElementsAre(Pair("a", 1), Pair("b", 2), Pair("c", 3), Pair("d", 7), Pair("e", 8)));
  EXPECT_EQ(*ParseYamlText("\n{a: 18446744073709551615,\n\t\"b\":2}", "f.yml", &lines),
            Json::parse(R"({"a":"18446744073709551615","b":"2"})"));
  EXPECT_EQ(lines["b"], 3);
}

TEST(Yaml, NamesTheLine) {
  EXPECT_THAT(YamlError("a: 1\n\n# x\n- b\n"), HasSubstr("f.yml: line 4: "));
}

}  // namespace
}  // namespace nibu::internal
