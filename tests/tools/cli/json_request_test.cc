// Tests of the reader of the lines of --input_format=jsonl.
#include "tools/cli/json_request.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace nibu::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

JsonRequest Read(const std::string& line, const Options& options = {}) {
  return ReadJsonRequest(line, 7, options);
}

std::string ErrorOf(const std::string& line, const Options& options = {}) {
  return std::string(Read(line, options).status.message());
}

TEST(JsonRequestTest, TextAloneIsEnough) {
  const JsonRequest request = Read(R"({"text":"A dog."})");
  EXPECT_EQ(request.status, absl::OkStatus());
  EXPECT_EQ(request.text, "A dog.");
  EXPECT_EQ(request.members, R"("id":7)");
  EXPECT_EQ(request.key, "");
}

TEST(JsonRequestTest, OtherFieldsKeepTheirBytes) {
  const JsonRequest request = Read(
      "\xef\xbb\xbf { \"n\" : 12345678901234567890123 , \"id\":\t{\"a\": [1.10, -0]} ,"
      R"("\u0061b":"\u00e9\n\"}","text":"x","f":1.10e+01,"deep":[{"a":"]"},null, true],"e":{} } )");
  EXPECT_EQ(request.status, absl::OkStatus());
  EXPECT_EQ(request.members,
            R"("id":{"a": [1.10, -0]},"n":12345678901234567890123,"\u0061b":"\u00e9\n\"}",)"
            R"("f":1.10e+01,"deep":[{"a":"]"},null, true],"e":{})");
  EXPECT_THAT(request.copied, ElementsAre("n", "ab", "f", "deep", "e"));
}

// Numbers are copied and not computed with, so they may be larger than a double.
TEST(JsonRequestTest, HugeNumbersKeepTheirBytes) {
  const std::string digits(5000, '9');
  const JsonRequest request = Read(R"({"text":"1e999","id":-1e400,"a":)" + digits +
                                   R"(,"b":[1E+999, {"c":1.5e309}],"d":"1e400"})");
  EXPECT_EQ(request.status, absl::OkStatus());
  EXPECT_EQ(request.text, "1e999");
  EXPECT_EQ(request.members,
            R"("id":-1e400,"a":)" + digits + R"(,"b":[1E+999, {"c":1.5e309}],"d":"1e400")");
  EXPECT_THAT(ErrorOf(R"({"text":"a","beam_size":1e400})"), HasSubstr("beam_size must be"));
  EXPECT_THAT(ErrorOf(R"({"text":"a","length_penalty":1e400})"), HasSubstr("length_penalty"));
  for (const char* wrong : {"01e400", "1.e400", "1e400e1", "+1e400", "1e400 1", "--1e400"}) {
    EXPECT_THAT(ErrorOf(absl::StrCat(R"({"text":"a","b":)", wrong, "}")),
                HasSubstr("not JSON at byte"))
        << wrong;
  }
}

// The error carries the object's id, where the JSON has one.
TEST(JsonRequestTest, ARefusedObjectKeepsItsId) {
  EXPECT_EQ(Read(R"({"text":"a","b":1,"b":2,"id":{"n": 1e400}})").members, R"("id":{"n": 1e400})");
  EXPECT_EQ(Read(R"({"id":"x","text":"a","text":"b"})").members, R"("id":"x")");
  const std::string deep = std::string(40, '[') + std::string(40, ']');
  EXPECT_EQ(Read(R"({"text":"a","b":)" + deep + R"(,"id":5})").members, R"("id":5)");
  // It is not clear which of them is meant.
  EXPECT_EQ(Read(R"({"id":1,"text":"a","id":2})").members, R"("id":null)");
  for (const char* wrong : {R"({"id":1,"text":"a")", R"([{"id":1}])", R"({"id":1,"a" "b"})", ""}) {
    EXPECT_EQ(Read(wrong).members, R"("id":null)") << wrong;
  }
}

TEST(JsonRequestTest, APrefixNeedsLines) {
  Options paragraphs;
  paragraphs.text = TextKind::kParagraphs;
  EXPECT_THAT(ErrorOf(R"({"text":"a","prefix":"b"})", paragraphs),
              HasSubstr("a prefix needs --text=lines"));
  EXPECT_EQ(ErrorOf(R"({"text":"a","prefix":""})", paragraphs), "");
}

TEST(JsonRequestTest, OptionsByName) {
  Options base;
  base.beam_size = 3;
  base.disable_unk = true;
  base.glossary = {{"dog", "Hund"}};
  const JsonRequest request =
      Read(R"({"text":"x","beam_size":2,"length_penalty":0.5,"disable_unk":false,"src_lang":"de",)"
           R"("tgt_lang":null,"suppress_sequences":["a b",","],"protect":["urls","emails"],)"
           R"("markup":"html","prefix":"Ein","seed":18446744073709551615})",
           base);
  EXPECT_EQ(request.status, absl::OkStatus());
  EXPECT_EQ(request.options.beam_size, 2);
  EXPECT_EQ(request.options.length_penalty, 0.5F);
  EXPECT_FALSE(request.options.disable_unk);
  EXPECT_EQ(request.options.src_lang, "de");
  EXPECT_EQ(request.options.tgt_lang, "");
  EXPECT_THAT(request.options.suppress_sequences, ElementsAre("a b", ","));
  EXPECT_EQ(request.options.protect, "urls,emails");
  EXPECT_EQ(request.options.markup, Markup::kHtml);
  EXPECT_EQ(request.options.seed, 18446744073709551615U);
  EXPECT_EQ(request.options.glossary.size(), 1u);
  EXPECT_EQ(request.prefix, "Ein");
  EXPECT_EQ(request.members, R"("id":7)");
}

TEST(JsonRequestTest, EqualOptionsHaveEqualKeys) {
  const std::string key = Read(R"({"text":"x","beam_size":2,"seed":1})").key;
  EXPECT_NE(key, "");
  EXPECT_EQ(Read(R"({"seed": 1,"a":3,"beam_size":2,"text":"y","id":5})").key, key);
  EXPECT_NE(Read(R"({"text":"x","beam_size":2,"seed":2})").key, key);
  EXPECT_NE(Read(R"({"text":"x","beam_size":2})").key, key);
}

TEST(JsonRequestTest, GlossariesArePairsOrAnObject) {
  const JsonRequest pairs = Read(R"({"text":"x","glossary":[["dog","Hund"],["dog","Köter"]]})");
  ASSERT_EQ(pairs.options.glossary.size(), 2u);
  EXPECT_EQ(pairs.options.glossary[1].target, "Köter");
  const JsonRequest map = Read(R"({"text":"x","glossary":{"cat":"Katze","dog":["Hund","Köter"]}})");
  ASSERT_EQ(map.options.glossary.size(), 3u);
  EXPECT_EQ(map.options.glossary[2].source, "dog");
  EXPECT_EQ(map.options.glossary[2].target, "Köter");
  Options base;
  base.glossary = {{"dog", "Hund"}};
  EXPECT_THAT(Read(R"({"text":"x","glossary":[]})", base).options.glossary, IsEmpty());
  for (const char* wrong : {R"("terms.tsv")", "1", R"([["a"]])", R"([["a","b","c"]])",
                            R"([["a",1]])", R"({"a":1})", R"({"a":["b",[]]})", R"(["a","b"])"}) {
    EXPECT_THAT(ErrorOf(std::string(R"({"text":"x","glossary":)") + wrong + "}"),
                HasSubstr("glossary must be a list of"))
        << wrong;
  }
}

TEST(JsonRequestTest, RefusesWhatIsNoRequest) {
  EXPECT_THAT(ErrorOf("A dog."), HasSubstr("not JSON at byte"));
  EXPECT_THAT(ErrorOf(R"({"text":"x"} {})"), HasSubstr("not JSON at byte"));
  EXPECT_THAT(ErrorOf(R"({"text":"x",})"), HasSubstr("not JSON at byte"));
  EXPECT_THAT(ErrorOf("{\"text\":\"\xff\"}"), HasSubstr("not JSON at byte"));
  EXPECT_THAT(ErrorOf(R"({"text":"\ud800"})"), HasSubstr("not JSON at byte"));
  EXPECT_THAT(ErrorOf(R"(["text"])"), HasSubstr("is not a JSON object"));
  EXPECT_THAT(ErrorOf(R"({"id":3})"), HasSubstr("it has no \"text\""));
  EXPECT_THAT(ErrorOf(R"({"text":null})"), HasSubstr("\"text\" must be a string, not null"));
  EXPECT_THAT(ErrorOf(R"({"text":["a"]})"), HasSubstr("\"text\" must be a string, not [\"a\"]"));
  EXPECT_THAT(ErrorOf(R"({"text":"a","prefix":1})"), HasSubstr("\"prefix\" must be a string"));
  EXPECT_THAT(ErrorOf(R"({"text":"a","text":"b"})"), HasSubstr("\"text\" is there twice"));
  EXPECT_THAT(ErrorOf(R"({"text":"a","beam_size":0})"), HasSubstr("beam_size must be 1 to 1024"));
  EXPECT_THAT(ErrorOf(R"({"text":"a","beam_size":[1,2]})"), HasSubstr("beam_size"));
  EXPECT_THAT(ErrorOf(R"({"text":"a","beam_size":{"x":1}})"),
              HasSubstr("beam_size must be a value, not {\"x\":1}"));
  for (const char* none : {"{}", "[]"}) {
    for (const char* name : {"beam_size", "length_penalty", "disable_unk", "markup"}) {
      EXPECT_EQ(ErrorOf(absl::StrCat(R"({"text":"a",")", name, R"(":)", none, "}")),
                absl::StrCat(name, " must be a value, not ", none));
    }
    EXPECT_EQ(ErrorOf(absl::StrCat(R"({"text":"a","tgt_lang":)", none, "}")),
              absl::StrCat("tgt_lang must be a value or a list of values, not ", none));
  }
  EXPECT_EQ(ErrorOf(R"({"text":"a","suppress_sequences":[]})"), "");
  EXPECT_THAT(ErrorOf(R"({"text":"a","end_token":["a",["b"]]})"), HasSubstr("end_token must be"));
  for (const char* name : {"model", "threads", "compute_type", "out", "output_format",
                           "target_prefix", "input_format"}) {
    EXPECT_TRUE(IsRunOption(name)) << name;
    EXPECT_EQ(ErrorOf(std::string(R"({"text":"a",")") + name + R"(":"x"})"), "");
  }
  const std::string deep = std::string(100000, '[') + std::string(100000, ']');
  EXPECT_THAT(ErrorOf(R"({"text":"a","x":)" + deep + "}"), HasSubstr("nested deeper than"));
}

// The error carries the object's id, and other fields are not lost.
TEST(JsonRequestTest, ARefusedLineKeepsItsFields) {
  const JsonRequest request = Read(R"({"beam_size":0,"id":"a","domain":"news"})");
  EXPECT_FALSE(request.status.ok());
  EXPECT_EQ(request.members, R"("id":"a","domain":"news")");
}

TEST(JsonRequestTest, NamesOfTheOutput) {
  const JsonRequest request =
      Read(R"({"text":"a","source":1,"hypotheses":[],"error":"x","score":2})");
  EXPECT_EQ(request.status, absl::OkStatus());
  EXPECT_THAT(request.replaced, ElementsAre("source", "hypotheses", "error"));
  EXPECT_EQ(request.members, R"("id":7,"score":2)");
}

TEST(JsonRequestTest, FindsMisspelledOptions) {
  EXPECT_EQ(MisspelledOption("beamsize"), "beam_size");
  EXPECT_EQ(MisspelledOption("source_lang"), "src_lang");
  EXPECT_EQ(MisspelledOption("target_lang"), "tgt_lang");
  EXPECT_EQ(MisspelledOption("num_hypothesis"), "num_hypotheses");
  for (const char* name : {"end", "domain", "url", "title", "author", "s", "", "max", "score"}) {
    EXPECT_EQ(MisspelledOption(name), "") << name;
  }
}

}  // namespace
}  // namespace nibu::internal
