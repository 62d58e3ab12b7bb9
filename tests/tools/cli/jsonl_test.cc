// Tests of nibu-translate --input_format=jsonl as a user runs it.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/paths.h"
#include "tests/tools/programs.h"

namespace nibu::internal {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Outcome Jsonl(const std::string& flags, const std::string& input) {
  return Translate(absl::StrCat("--compute_type=float32 --input_format=jsonl ", flags), input);
}

std::string TextOf(const json& object) { return object["hypotheses"][0]["text"]; }

TEST(JsonlTest, ObjectsInObjectsOut) {
  const Outcome outcome =
      Jsonl("",
            "{\"text\":\"A dog runs.\",\"id\":12345678901234567890123,\"price\":1.10}\n"
            "{\"text\":\"A dog runs.\",\"meta\":{\"b\":1,\"a\":[2.50]}}\n");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  const std::vector<std::string> lines = Lines(outcome.out);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_THAT(lines[0], StartsWith("{\"id\":12345678901234567890123,\"price\":1.10,"
                                   "\"source\":\"A dog runs.\",\"hypotheses\":[{\"text\":\""));
  EXPECT_THAT(lines[1], StartsWith("{\"id\":1,\"meta\":{\"b\":1,\"a\":[2.50]},\"source\":"));
  EXPECT_EQ(TextOf(json::parse(lines[0])), "Ein Hund rennt.");
  // The hypotheses are those that the line has as plain text.
  const auto plain =
      JsonLines(Translate("--compute_type=float32 --output_format=jsonl", "A dog runs.\n"));
  EXPECT_EQ(json::parse(lines[0])["hypotheses"], plain[0]["hypotheses"]);
}

TEST(JsonlTest, OptionsOfALineHaveToGoTogether) {
  const std::vector<std::string> lines =
      Lines(Jsonl("",
                  "{\"text\":\"A dog.\",\"markup\":\"html\",\"tokenized\":true}\n"
                  "{\"text\":\"A dog.\",\"sampling_topp\":0.5}\n"
                  "{\"text\":\"A dog runs.\",\"prefix\":\"Der\",\"prefix_bias_beta\":0.5}\n")
                .out);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(json::parse(lines[0])["error"], "markup and tokenized do not go together");
  EXPECT_EQ(json::parse(lines[1])["error"], "sampling_topp means nothing without sampling_topk");
  EXPECT_THAT(TextOf(json::parse(lines[2])), StartsWith("Der"));
}

TEST(JsonlTest, OptionsOfALineTakePrecedence) {
  const std::string two = R"({"text":"A man is riding a bicycle.","num_hypotheses":2})";
  const std::string one = R"({"text":"A man is riding a bicycle."})";
  const std::string greedy = R"({"text":"A man is riding a bicycle.","beam_size":1})";
  const auto lines = JsonLines(Jsonl("--num_hypotheses=3", absl::StrCat(two, "\n", one, "\n")));
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0]["hypotheses"].size(), 2u);
  EXPECT_EQ(lines[1]["hypotheses"].size(), 3u);
  const std::string config = TestFile("config.yaml", "num_hypotheses: 2\nbeam_size: 2\n");
  const Outcome mixed =
      Jsonl(absl::StrCat("--config=", config), absl::StrCat(one, "\n", greedy, "\n"));
  EXPECT_EQ(mixed.status, 1);  // Greedy search has one hypothesis.
  EXPECT_EQ(json::parse(Lines(mixed.out)[0])["hypotheses"].size(), 2u);
  EXPECT_THAT(std::string(json::parse(Lines(mixed.out)[1])["error"]), HasSubstr("num_hypotheses"));
}

TEST(JsonlTest, LanguagesGlossariesAndPrefixesOfALine) {
  const auto lines = JsonLines(Jsonl("",
                                     "{\"text\":\"A dog runs.\",\"glossary\":{\"dog\":\"Köter\"}}\n"
                                     "{\"text\":\"A dog runs.\",\"prefix\":\"Zwei Hunde\"}\n"
                                     "{\"text\":\"A dog runs.\",\"alignment\":\"hard\"}\n"
                                     "{\"text\":\"A dog runs.\",\"src_lang\":\"auto\"}\n"));
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_THAT(TextOf(lines[0]), HasSubstr("Köter"));
  EXPECT_THAT(TextOf(lines[1]), StartsWith("Zwei Hunde"));
  EXPECT_TRUE(lines[2]["hypotheses"][0].contains("alignment"));
  EXPECT_FALSE(lines[1]["hypotheses"][0].contains("alignment"));
  EXPECT_EQ(lines[3]["src_lang"], "en");
  EXPECT_FALSE(lines[2].contains("src_lang"));

  // Only the lines say which languages this model is to translate.
  const Outcome many = Jsonl(
      absl::StrCat("--max_decoding_length=4 --model='", TestdataPath("m2m"), "'"),
      "{\"text\":\"Ein Hund.\",\"src_lang\":\"de\",\"tgt_lang\":\"fr\"}\n"
      "{\"text\":\"Ein Hund.\"}\n"
      "{\"text\":\"Ein Mann fährt durch die Stadt.\",\"src_lang\":\"auto\",\"tgt_lang\":\"fr\"}\n");
  EXPECT_EQ(many.status, 1);
  const std::vector<std::string> objects = Lines(many.out);
  ASSERT_EQ(objects.size(), 3u);
  EXPECT_EQ(json::parse(objects[0])["hypotheses"].size(), 1u);
  EXPECT_THAT(std::string(json::parse(objects[1])["error"]), HasSubstr("src_lang is needed"));
  EXPECT_EQ(json::parse(objects[2])["src_lang"], "de");
}

TEST(JsonlTest, BadLinesKeepTheirPlaces) {
  const Outcome outcome = Jsonl("",
                                "{\"text\":\"A dog runs.\",\"id\":\"a\"}\n"
                                "no JSON\n"
                                "{\"id\":\"c\",\"domain\":\"news\"}\n"
                                "\n"
                                "{\"text\":\"A dog.\",\"id\":\"e\",\"beam_size\":9999}\n"
                                "{\"text\":\"A dog.\",\"id\":\"f\",\"threads\":2}\n"
                                "{\"text\":\"A dog runs.\"}");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.err,
            "nibu-translate: warning: line 6: the field \"threads\" is copied to the output; as an "
            "option it holds for all lines, with --threads\n"
            "nibu-translate: error: 3 line(s) could not be translated; the first is line 2: not "
            "JSON at byte 2\n");
  const std::vector<std::string> lines = Lines(outcome.out);
  ASSERT_EQ(lines.size(), 6u);  // The blank line stands between objects.
  EXPECT_EQ(TextOf(json::parse(lines[0])), "Ein Hund rennt.");
  EXPECT_EQ(lines[1],
            "{\"id\":null,\"source\":\"\",\"hypotheses\":[],\"error\":\"not JSON at byte 2\"}");
  EXPECT_EQ(lines[2],
            "{\"id\":\"c\",\"domain\":\"news\",\"source\":\"\",\"hypotheses\":[],"
            "\"error\":\"it has no \\\"text\\\"\"}");
  EXPECT_EQ(lines[3],
            "{\"id\":\"e\",\"source\":\"A dog.\",\"hypotheses\":[],"
            "\"error\":\"beam_size must be 1 to 1024, not 9999\"}");
  EXPECT_EQ(json::parse(lines[4])["threads"], 2);
  EXPECT_THAT(TextOf(json::parse(lines[4])), HasSubstr("Hund"));
  EXPECT_EQ(json::parse(lines[5])["id"], 6);
  EXPECT_EQ(TextOf(json::parse(lines[5])), "Ein Hund rennt.");
}

TEST(JsonlTest, TextsWithLineFeeds) {
  const std::string line = "{\"text\":\"A dog runs.\\n\\nA man is riding a bicycle.\\n\"}\n";
  const auto lines = JsonLines(Jsonl("--alignment=soft", line));
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(TextOf(lines[0]), "Ein Hund rennt.\n\nEin Mann fährt Fahrrad.\n");
  EXPECT_EQ(lines[0]["source"], "A dog runs.\n\nA man is riding a bicycle.\n");
  const json& best = lines[0]["hypotheses"][0];
  EXPECT_EQ(best["tokens"].size(), best["token_scores"].size());
  EXPECT_EQ(best["attention"].size(), best["tokens"].size());
  EXPECT_EQ(best["alignment"].size(), best["tokens"].size());

  EXPECT_EQ(Jsonl("--output_format=text", line + line).out,
            "Ein Hund rennt.  Ein Mann fährt Fahrrad. \n"
            "Ein Hund rennt.  Ein Mann fährt Fahrrad. \n");
  EXPECT_THAT(Jsonl("--output_format=nbest", line).out,
              StartsWith("0 ||| Ein Hund rennt.  Ein Mann fährt Fahrrad.  ||| logprob="));
}

TEST(JsonlTest, EachObjectIsATextOfItsOwn) {
  const auto pages = JsonLines(Jsonl("--markup=html",
                                     "{\"text\":\"<b>A dog runs.</b><!-- open\"}\n"
                                     "{\"text\":\"<b>A dog runs.</b>\"}\n"));
  EXPECT_EQ(TextOf(pages[0]), "<b>Ein Hund rennt.</b><!-- open");
  EXPECT_EQ(TextOf(pages[1]), "<b>Ein Hund rennt.</b>");
  const Outcome document = Jsonl("--text=document --markup=html",
                                 "{\"text\":\"<p>A dog\\nruns.</p>\\n<p>A man sleeps.</p><!-- \"}\n"
                                 "{\"text\":\"A dog\\nruns.\"}\n");
  EXPECT_EQ(TextOf(json::parse(Lines(document.out)[0])),
            "<p>Ein Hund rennt.</p>\n<p>Ein Mann schläft.</p><!-- ");
  EXPECT_EQ(TextOf(json::parse(Lines(document.out)[1])), "Ein Hund rennt.");
  EXPECT_THAT(document.err, HasSubstr("1 text(s) end within a comment"));
  const auto mail = JsonLines(Jsonl("--text=paragraphs --wrap=12",
                                    "{\"text\":\"> A dog\\n> runs.\\n\\n> A man sleeps.\"}\n"));
  EXPECT_EQ(TextOf(mail[0]), "> Ein Hund\n> rennt.\n\n> Ein Mann\n> schläft.");
}

TEST(JsonlTest, EqualTextsAreTranslatedOnce) {
  std::string input;
  for (int i = 0; i < 50; ++i) {
    absl::StrAppend(&input, "{\"id\":\"", i, "\",\"text\":\"A dog runs.\"",
                    i % 2 == 0 ? "" : ",\"beam_size\":1", "}\n");
  }
  const Outcome outcome = Jsonl("--stats", input);
  const std::vector<std::string> lines = Lines(outcome.out);
  ASSERT_EQ(lines.size(), 50u);
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(json::parse(lines[static_cast<size_t>(i)])["id"], absl::StrCat(i));
  }
  // Equal lines have samples of their own.
  const auto samples = JsonLines(Jsonl("--sampling_topk=0 --sampling_temperature=3",
                                       "{\"text\":\"A dog runs.\"}\n{\"text\":\"A dog runs.\"}\n"));
  EXPECT_NE(TextOf(samples[0]), TextOf(samples[1]));
}

TEST(JsonlTest, ManyPlans) {
  std::string input;
  for (int i = 0; i < 150; ++i) {
    absl::StrAppend(&input, "{\"text\":\"A dog runs.\",\"beam_size\":1,\"max_decoding_length\":",
                    1 + i % 75, "}\n");
  }
  const auto lines = JsonLines(Jsonl("", input));
  ASSERT_EQ(lines.size(), 150u);
  for (size_t i = 0; i < 75; ++i) {
    EXPECT_EQ(lines[i]["hypotheses"], lines[i + 75]["hypotheses"]);
    EXPECT_LE(lines[i]["hypotheses"][0]["tokens"].size(), i + 1);
  }
}

TEST(JsonlTest, WarnsOfFieldsOnce) {
  const Outcome outcome = Jsonl("--warnings --max_decoding_length=3",
                                "{\"text\":\"A dog runs.\",\"beamsize\":1,\"source\":\"x\"}\n\n"
                                "{\"text\":\"A man is riding a bicycle.\",\"beamsize\":1}\n");
  EXPECT_THAT(outcome.err, HasSubstr("warning: line 1: the field \"beamsize\" is copied to the "
                                     "output; did you mean beam_size?\n"));
  EXPECT_THAT(outcome.err, HasSubstr("warning: line 1: the field \"source\" is not copied"));
  EXPECT_THAT(outcome.err, Not(HasSubstr("line 3: the field")));
  EXPECT_THAT(outcome.err, HasSubstr("warning: line 3: unfinished"));
}

// The limit may be that of the line, so the warning names none.
TEST(JsonlTest, UnfinishedLinesNameNoLimit) {
  const std::string line = "{\"text\":\"A man is riding a bicycle.\",\"max_decoding_length\":2}\n";
  EXPECT_EQ(Jsonl("", line).err,
            "nibu-translate: warning: 1 line(s) were cut before their end, at max_decoding_length "
            "or what the model allows; jsonl says which\n");
}

// Control characters of the input are not passed on to a terminal.
TEST(JsonlTest, MessagesHaveNoControlCharacters) {
  const std::string input =
      "{\"text\":\"A dog.\",\"beam_size\\u001b\":1,\"protec\\u0000\":2,"
      "\"beamsize\\u007f\":3}\n";
  const std::string err = Jsonl("", input).err;
  EXPECT_THAT(err, HasSubstr("the field \"beam_size\\x1b\" is copied"));
  EXPECT_THAT(err, HasSubstr("the field \"protec\\x00\" is copied to the output; did you mean"));
  EXPECT_THAT(err, HasSubstr("the field \"beamsize\\x7f\" is copied"));
  EXPECT_EQ(err.find_first_of(std::string("\x1b\x7f\0", 3)), std::string::npos) << err;
}

TEST(JsonlTest, BlankLinesAreBlankInText) {
  const std::string input = "{\"text\":\"A dog runs.\"}\n\n{\"text\":\"A dog runs.\"}\n";
  EXPECT_EQ(Jsonl("--output_format=text", input).out, "Ein Hund rennt.\n\nEin Hund rennt.\n");
  EXPECT_EQ(Lines(Jsonl("", input).out).size(), 2u);
}

TEST(JsonlTest, RefusesFlagsOfOtherFormats) {
  ExpectUsageError(Jsonl("--tsv_column=1", ""), "--tsv_column do not go together");
  ExpectUsageError(Jsonl("--target_prefix=x", ""), "--target_prefix do not go together");
  ExpectUsageError(Jsonl("--output_format=text --num_hypotheses=2", ""), "--num_hypotheses needs");
  ExpectUsageError(Jsonl("--tgt_lang=xx", ""), "--tgt_lang=xx is not for this model");
}

}  // namespace
}  // namespace nibu::internal
