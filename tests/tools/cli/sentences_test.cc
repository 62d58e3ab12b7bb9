// Tests of lines of several sentences, as a user has them translated.
#include <algorithm>
#include <array>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/paths.h"
#include "tests/tools/shell.h"

namespace nibu::internal {
namespace {

Outcome Translate(const std::string& flags, const std::string& input) {
  return Shell(absl::StrCat(CaptionsProgram("nibu-translate"),
                            " --compute_type=float32 --beam_size=1 ", flags),
               input);
}

nlohmann::json Json(const std::string& flags, const std::string& line) {
  const Outcome outcome = Translate("--output_format=jsonl " + flags, line + "\n");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  return nlohmann::json::parse(outcome.out);
}

size_t Words(const std::string& text) {
  const std::vector<std::string> words =
      absl::StrSplit(text, absl::ByAnyChar(" \n"), absl::SkipEmpty());
  return words.size();
}

// Sentences that are joined to one line have the translations that they have on lines of their own.
TEST(SentencesTest, NoneIsLostInALongLine) {
  std::vector<std::string> sources = Lines(ReadFile(TestdataPath("multi30k.en")));
  // A few lines are not sentences, as they have no mark at the end.
  sources.erase(std::remove_if(sources.begin(), sources.end(),
                               [](const std::string& line) { return line.back() != '.'; }),
                sources.end());
  ASSERT_GE(sources.size(), 130u);
  const std::string single = Translate("", absl::StrJoin(sources, "\n") + "\n").out;
  const std::vector<std::string> expected = Lines(single);
  for (const size_t joined : {size_t{2}, size_t{4}, size_t{50}}) {
    std::string text;
    for (size_t i = 0; i < sources.size(); ++i) {
      const bool last = (i + 1) % joined == 0 || i + 1 == sources.size();
      absl::StrAppend(&text, sources[i], last ? "\n" : " ");
    }
    const Outcome outcome = Translate("", text);
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto words = static_cast<double>(Words(single));
    EXPECT_NEAR(static_cast<double>(Words(outcome.out)), words, 0.01 * words) << joined;
    const std::vector<std::string> lines = Lines(outcome.out);
    ASSERT_EQ(lines.size(), (sources.size() + joined - 1) / joined);
    size_t same = 0;
    for (size_t i = 0; i < expected.size(); ++i) {
      const std::string framed = absl::StrCat(" ", lines[i / joined], " ");
      same += framed.find(absl::StrCat(" ", expected[i], " ")) != std::string::npos ? 1 : 0;
    }
    EXPECT_GE(same * 100, expected.size() * 95) << joined;
  }
}

TEST(SentencesTest, ThousandsInOneLine) {
  constexpr size_t kCount = 4000;
  std::vector<std::string> sources;
  for (size_t i = 0; i < kCount; ++i) sources.push_back(i % 2 == 0 ? "A dog runs." : "A cat sits.");
  const Outcome outcome = Translate("--max_decoding_length=8", absl::StrJoin(sources, " ") + "\n");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(static_cast<size_t>(std::count(outcome.out.begin(), outcome.out.end(), '.')), kCount);
}

TEST(SentencesTest, WhiteSpaceStaysAsItWas) {
  const std::string dog = Lines(Translate("", "A dog runs.\n").out)[0];
  const std::string man = Lines(Translate("", "A man sleeps.\n").out)[0];
  for (const auto& [first, between, last] :
       std::vector<std::array<std::string, 3>>{{"", " ", ""},
                                               {"  ", "  ", " "},
                                               {"\t", "\t", "\t"},
                                               {"\u00a0", " \u00a0", "\u2003"},
                                               {"\u3000", "\u3000", " "}}) {
    EXPECT_EQ(
        Translate("", absl::StrCat(first, "A dog runs.", between, "A man sleeps.", last, "\n")).out,
        absl::StrCat(first, dog, between, man, last, "\n"));
  }
  EXPECT_EQ(Translate("", "A dog runs.\n \t\n\n\u200b\n").out, dog + "\n \t\n\n\u200b\n");
}

TEST(SentencesTest, WithoutLettersTheyStay) {
  const std::string lines = "---\n...\n  123\n1,000.50\n12:30 - 13:45\n$5!? {0} 3\n- 5 %\n";
  for (const char* flags : {"", "--protect=none", "--markup=html", "--beam_size=2"}) {
    EXPECT_EQ(Translate(flags, lines).out, lines) << flags;
  }
  const std::string cells = "<tr><td>1,000.50</td><td>***</td></tr>\n";
  EXPECT_EQ(Translate("--markup=html", cells).out, cells);
  EXPECT_EQ(Translate("--text=paragraphs", "1,000.50\n").out, "1,000.50\n");
  EXPECT_EQ(Translate("", "A dog runs. 12:30. A man sleeps.\n").out,
            "Ein Hund rennt. 12:30. Ein Mann schläft.\n");
  // Without splitting, in tokens, and with a prefix, such lines are translated.
  EXPECT_NE(Translate("--split_sentences=false", "123\n").out, "123\n");
  EXPECT_NE(Json("--tokenized", "1 2")["hypotheses"][0]["tokens"].size(), 0u);
  const std::string prefix = testing::TempDir() + "/sentences_prefix";
  std::ofstream(prefix) << "Ein Hund\n";
  EXPECT_EQ(Translate("--target_prefix=" + prefix, "123\n").out.find("Ein Hund"), 0u);
}

TEST(SentencesTest, ScoresOfSentencesAddUp) {
  const std::vector<std::string> sentences = {"Two dogs are playing.",
                                              "A man is riding a bicycle."};
  const std::string flags = "--beam_size=4 --num_hypotheses=3";
  const nlohmann::json both = Json(flags, absl::StrJoin(sentences, " "))["hypotheses"];
  ASSERT_EQ(both.size(), 3u);
  const nlohmann::json one = Json(flags, sentences[0])["hypotheses"];
  const nlohmann::json two = Json(flags, sentences[1])["hypotheses"];
  for (size_t n = 0; n < both.size(); ++n) {
    EXPECT_EQ(both[n]["text"], absl::StrCat(one[n]["text"].get<std::string>(), " ",
                                            two[n]["text"].get<std::string>()));
    auto tokens = one[n]["tokens"].get<std::vector<std::string>>();
    for (const auto& token : two[n]["tokens"]) tokens.push_back(token);
    EXPECT_EQ(both[n]["tokens"], tokens);
    EXPECT_EQ(both[n]["token_scores"].size(), tokens.size());
    // The score is S / L, where L counts the EOS of each sentence.
    const auto sum = [&](const nlohmann::json& h) {
      return h["score"].get<double>() * static_cast<double>(h["tokens"].size() + 1);
    };
    EXPECT_NEAR(both[n]["score"].get<double>() * static_cast<double>(tokens.size() + 2),
                sum(one[n]) + sum(two[n]), 1e-4);
  }
}

TEST(SentencesTest, HypothesesAreSorted) {
  for (const char* line : {"A young child is standing alone on some jagged rocks. A person on a "
                           "snowmobile in mid jump.",
                           "A dog runs in the park. Two men are sitting on a bench."}) {
    const auto hypotheses =
        Json("--beam_size=4 --num_hypotheses=4 --length_penalty=2", line)["hypotheses"];
    ASSERT_EQ(hypotheses.size(), 4u);
    for (size_t n = 1; n < 4; ++n) EXPECT_GE(hypotheses[n - 1]["score"], hypotheses[n]["score"]);
  }
}

TEST(SentencesTest, PartsWithWhiteSpace) {
  const auto out = [](const std::string& pattern, const std::string& line) {
    return Translate(absl::StrCat("--protect_pattern='", pattern, "'"), line + "\n").out;
  };
  EXPECT_EQ(out("^\\s*#.*", "  # The dog runs."), "  # The dog runs.\n");
  EXPECT_EQ(out("\\s*TODO:.*", "A dog runs. TODO: the man eats an apple."),
            "Ein Hund rennt. TODO: the man eats an apple.\n");
  EXPECT_NE(out("runs.\\s*A", "A dog runs.  A man sleeps.").find("runs.  A"), std::string::npos);
  EXPECT_EQ(out(".*", "  A dog runs.  "), "  A dog runs.  \n");
}

TEST(SentencesTest, FlagsDecideHowSentencesAreSplit) {
  const std::string line = "A dog runs. A man sleeps.";
  EXPECT_NE(Json("--split_sentences=false", line)["hypotheses"], Json("", line)["hypotheses"]);
  // German dates have ordinals with a full stop.
  const std::string date = "It was the 3. October when he came.";
  EXPECT_EQ(Json("--split_language=deu_Latn", date)["hypotheses"],
            Json("--split_sentences=false", date)["hypotheses"]);
  EXPECT_NE(Json("--split_language=de", date)["hypotheses"],
            Json("--split_language=en", date)["hypotheses"]);
  ExpectOneLineError("nibu-translate", Translate("--tokenized --split_sentences", "a\n"), 2,
                     "--tokenized");
  EXPECT_EQ(Translate("--tokenized", "\u2581A \u2581dog .\n").status, 0);
}

// A tag or an instruction in front of a line applies to each of its sentences.
TEST(SentencesTest, LanguagesAndInstructions) {
  const std::vector<std::string> sentences = {"the cat sat.", "The dog ran."};
  for (const auto& [model, front] :
       {std::pair("madlad", "<2de> "), std::pair("t5", "translate English to German: ")}) {
    const std::string flags =
        absl::StrCat("--max_decoding_length=8 --model='", TestdataPath(model), "'");
    std::vector<std::string> tokens;
    for (const std::string& sentence : sentences) {
      const nlohmann::json result = Json(flags, front + sentence);
      for (const auto& token : result["hypotheses"][0]["tokens"]) tokens.push_back(token);
    }
    EXPECT_EQ(Json(flags, front + absl::StrJoin(sentences, " "))["hypotheses"][0]["tokens"], tokens)
        << model;
  }
  // This instruction applies to the whole text.
  const std::string flags =
      absl::StrCat("--max_decoding_length=8 --model='", TestdataPath("t5"), "' ");
  const std::string text = absl::StrCat("summarize: ", absl::StrJoin(sentences, " "));
  EXPECT_EQ(Json(flags, text), Json(flags + "--split_sentences=false", text));
}

}  // namespace
}  // namespace nibu::internal
