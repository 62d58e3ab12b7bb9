// Tests of nibu-inspect attention as a user runs it.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/paths.h"
#include "tests/sanitizers.h"
#include "tests/tools/programs.h"

namespace nibu::internal {
namespace {

using nlohmann::json;

Outcome Attention(const std::string& flags) {
  return Shell(
      absl::StrCat(Program("nibu-inspect"), " attention ", CaptionsModelOption(), " ", flags), "");
}

json AttentionJson(const std::string& flags) {
  const Outcome outcome = Attention(absl::StrCat("--json ", flags));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  return json::parse(Lines(outcome.out)[0]);
}

std::vector<std::string> Strings(const json& list) { return list.get<std::vector<std::string>>(); }

// Expects matrices [layer][head][rows][columns] whose rows sum to 1.
void ExpectMatrices(const json& layers, size_t count, size_t heads, size_t rows, size_t columns) {
  ASSERT_EQ(layers.size(), count);
  for (const json& layer : layers) {
    ASSERT_EQ(layer.size(), heads);
    for (const json& head : layer) {
      ASSERT_EQ(head.size(), rows);
      for (const json& row : head) {
        ASSERT_EQ(row.size(), columns);
        double sum = 0;
        for (const json& weight : row) sum += weight.get<double>();
        ASSERT_NEAR(sum, 1, 1e-5);
      }
    }
  }
}

TEST(AttentionTest, JsonHasEveryMatrixOfTheTranslation) {
  const std::string line = "A man is riding a bicycle.";
  const json maps = AttentionJson(absl::StrCat("'", line, "'"));
  for (const std::string name : {"source", "target", "read", "encoder", "decoder", "cross",
                                 "compute_type", "details", "model"}) {
    EXPECT_TRUE(maps.contains(name)) << name;
  }
  EXPECT_EQ(maps["details"]["decoder"][1]["mechanism"], "causal");
  const auto source = Strings(maps["source"]);
  const auto target = Strings(maps["target"]);
  EXPECT_EQ(absl::StrJoin(source, " "), "▁A ▁man ▁is ▁riding ▁a ▁bicycle . </s>");
  EXPECT_EQ(absl::StrJoin(target, " "), "▁Ein ▁Mann ▁fährt ▁Fahrrad . </s>");
  ExpectMatrices(maps["encoder"], 6, 4, source.size(), source.size());
  ExpectMatrices(maps["decoder"], 3, 4, target.size(), target.size());
  ExpectMatrices(maps["cross"], 3, 4, target.size(), source.size());
  for (const json& layer : maps["decoder"]) {
    for (const json& head : layer) {
      for (size_t q = 0; q < target.size(); ++q) {
        for (size_t k = q + 1; k < target.size(); ++k) ASSERT_EQ(head[q][k], 0.0);
      }
    }
  }
  // The attention of --alignment is one head of it.
  const json best = Hypotheses("--alignment=soft", line)[0];
  for (size_t t = 0; t + 1 < target.size(); ++t) {
    for (size_t s = 0; s + 1 < source.size(); ++s) {
      EXPECT_NEAR(best["attention"][t][s].get<double>(), maps["cross"][2][0][t][s].get<double>(),
                  1e-6);
    }
  }
}

TEST(AttentionTest, AGivenTarget) {
  NIBU_TOO_SLOW_FOR_SANITIZERS();
  const json own = AttentionJson("'A dog runs.'");
  const json same = AttentionJson("'A dog runs.' --target='Ein Hund rennt.'");
  EXPECT_EQ(own, same);
  const json other = AttentionJson("'A dog runs.' --target='Eine Katze.'");
  EXPECT_EQ(absl::StrJoin(Strings(other["target"]), " "), "▁Eine ▁Katze . </s>");
  EXPECT_EQ(other["encoder"], own["encoder"]);
  const json pieces = AttentionJson("--tokenized '▁A ▁dog ▁runs .' --target='▁Eine ▁Katze .'");
  EXPECT_EQ(pieces, other);
  EXPECT_EQ(AttentionJson("'A dog runs.' --target=''")["target"], json::array({"</s>"}));
}

TEST(AttentionTest, FramesAreTokens) {
  const json maps = AttentionJson(absl::StrCat(
      "--model='", TestdataPath("m2m"), "' --src_lang=en --tgt_lang=de 'a cat' --target='a hat'"));
  EXPECT_EQ(absl::StrJoin(Strings(maps["source"]), " "), "__en__ ▁a ▁cat </s>");
  EXPECT_EQ(absl::StrJoin(Strings(maps["target"]), " "), "__de__ ▁a ▁hat </s>");
  EXPECT_EQ(maps["cross"][0][0].size(), 4u);
}

TEST(AttentionTest, AnSsruHasNoMatrices) {
  const std::string model = SharedPath("models/en-de-ssru-marian");
  if (!std::filesystem::exists(model)) GTEST_SKIP() << model << " is not there";
  const json maps = AttentionJson(absl::StrCat("--model='", model, "' 'A dog.'"));
  EXPECT_EQ(maps["decoder"], json::array({json::array(), json::array()}));
  const size_t rows = maps["target"].size();
  ExpectMatrices(maps["cross"], 2, 4, rows, maps["source"].size());
  const Outcome grid = Attention(absl::StrCat("--model='", model, "' 'A dog.'"));
  EXPECT_NE(grid.out.find("decoder layer  0: none\n"), std::string::npos) << grid.out;
}

TEST(AttentionTest, OtherEncoderAttention) {
  const std::string text = "'A man is riding a bicycle.' --target='Ein Mann.'";
  const json maps = AttentionJson(absl::StrCat(
      "--encoder_attention='window:1;full;mean:2;pool:3;factorized;lsh:bucket=4,rounds=2' ", text));
  const size_t length = maps["source"].size();
  ASSERT_EQ(length, 8u);
  for (const size_t layer : {0, 1, 2, 5}) {
    const size_t keys = layer == 2 ? 4 : length;
    ExpectMatrices(json::array({maps["encoder"][layer]}), 1, 4, length, keys);
    EXPECT_EQ(maps["details"]["encoder"][layer]["keys"].size(), keys);
  }
  EXPECT_EQ(maps["details"]["encoder"][2]["keys"][0], "▁A ▁man");
  EXPECT_EQ(maps["details"]["encoder"][3],
            (json{{"layer", 3}, {"part", ""}, {"mechanism", "pool"}}));
  EXPECT_EQ(maps["encoder"][3], json::array());
  EXPECT_EQ(maps["encoder"][4], json::array());
  for (size_t q = 0; q < length; ++q) {
    for (size_t k = 0; k < length; ++k) {
      const bool is_seen = q <= k + 1 && k <= q + 1;
      EXPECT_EQ(maps["encoder"][0][0][q][k] > 0, is_seen) << q << " " << k;
      EXPECT_EQ(maps["details"]["encoder"][0]["score"][0][q][k].is_null(), !is_seen);
    }
  }
}

// The exit status is 2, and the error names the flag, not only the model's file.
TEST(AttentionTest, EncoderAttentionThatDoesNotFitTheModel) {
  const std::string out = TestFile("attention.nibu", "");
  for (const std::string& command :
       {std::string("nibu-translate"),
        absl::StrCat("nibu-score --tgt=", TestFile("de.txt", "Ein Hund.\n")),
        std::string("nibu-bench"), std::string("nibu-inspect attention A"),
        absl::StrCat("nibu-convert --out=", out)}) {
    const bool is_attention = absl::StartsWith(command, "nibu-inspect");
    const std::string program =
        is_attention ? "nibu-inspect attention" : command.substr(0, command.find(' '));
    for (const std::string mixers : {"full;full", "reduction:2", "nope"}) {
      const Outcome outcome =
          Shell(absl::StrCat("'", ProgramPath(""), "'", command, " ", CaptionsModelOption(),
                             " --encoder_attention='", mixers, "'"),
                "A dog.\n");
      ExpectOneLineError(program, outcome, 2, "--encoder_attention ");
    }
  }
}

// Returns the rows of the grid that --ascii prints.
std::vector<std::string> GridRows(const std::string& flags, size_t targets) {
  const Outcome outcome = Attention(flags);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  auto lines = Lines(outcome.out);
  while (lines.size() > 1 && lines.back() != "entropy in bits, head by head") lines.pop_back();
  return {lines.end() - 1 - static_cast<long>(targets), lines.end() - 1};
}

TEST(AttentionTest, TheGridFitsCharacters) {
  const std::string text = "--compute_type=float32 --tokenized '▁A ▁dog .' --target='▁Ein ▁Hund .'";
  const Outcome outcome = Attention(text);
  EXPECT_EQ(outcome.out.substr(0, outcome.out.find("\n@")),
            "cross-attention, layer 2, head 0, full, float32; 0 to 1: \" .:-=+*#%@\", hidden: /\n"
            " ▁\u200e <\n"
            " d /\n"
            "▁\u200eo s\n"
            "Ag.>");
  const json map = AttentionJson(text)["cross"][2][0];
  const std::vector<std::string> target = {"▁Ein", "▁Hund", ".", "</s>"};
  const auto rows = GridRows(text, target.size());
  for (size_t t = 0; t < target.size(); ++t) {
    std::string row;
    for (const json& weight : map[t]) {
      row += " .:-=+*#%@"[std::min(9, static_cast<int>(10 * weight.get<float>()))];
    }
    EXPECT_EQ(rows[t], absl::StrCat(row, "  ", target[t]));
  }
  // If there is a wide character, every column of the grid has two columns of the terminal.
  for (const auto& row : GridRows("--tokenized '▁A 犬 .' --target='▁Ein'", 2)) {
    EXPECT_EQ(row.substr(8, 2), "  ");
    for (size_t i = 0; i < 8; i += 2) EXPECT_EQ(row[i], row[i + 1]);
  }
  EXPECT_NE(Attention("--layer=0 --head=-1 'A dog.'").out.find("layer 0, mean of all heads"),
            std::string::npos);
  EXPECT_EQ(Attention("--layer=-1 --head=0 'A dog.'").out, Attention("--ascii 'A dog.'").out);
}

TEST(AttentionTest, TheGridShowsEveryKind) {
  const std::string text = "--tokenized '▁A ▁dog .' --target='▁Ein ▁Hund .' ";
  const auto masked = GridRows(text + "--kind=decoder", 4);
  for (size_t t = 0; t < 4; ++t) {
    EXPECT_EQ(masked[t].find('/'), t < 3 ? t + 1 : std::string::npos) << masked[t];
  }
  const std::string mixed =
      Attention(text +
                "--kind=encoder --layer=0 --encoder_attention='mean:2;full;full;full;full;pool'")
          .out;
  EXPECT_EQ(mixed.rfind("encoder self-attention, layer 0, mean of all heads, mean:reduction=2", 0),
            0u);
  EXPECT_NE(mixed.find("encoder layer  5: none  pool\n"), std::string::npos) << mixed;
  const std::string model = absl::StrCat("--model='", TestdataPath("mixers"), "' a ");
  const Outcome parts = Attention(model + "--kind=encoder --layer=10 --head=2");
  EXPECT_EQ(parts.out.rfind("encoder self-attention, layer 10, head 2 (grid), block_grid", 0), 0u)
      << parts.out << parts.err;
  EXPECT_NE(Attention(model + "--kind=encoder --layer=7").out.find("has no matrix"),
            std::string::npos);
}

TEST(AttentionTest, APageHasItsDataAndNothingFromElsewhere) {
  const std::string path = TestFile("attention.html", "an older one");
  const Outcome outcome = Attention(
      absl::StrCat("--tokenized '▁A </script><b> ▁dog' --html='", path, "' --json --layer=1"));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const std::string page = ReadFile(path);
  const std::string front = "<script type=\"application/json\" id=\"data\">";
  const size_t begin = page.find(front) + front.size();
  const json data = json::parse(page.substr(begin, page.find("</script>", begin) - begin));
  const json maps = json::parse(Lines(outcome.out)[0]);
  EXPECT_EQ(data["source"], json::array({"▁A", "</script><b>", "▁dog", "</s>"}));
  EXPECT_EQ(data["source"], maps["source"]);
  EXPECT_EQ(data["read"][0], "<pad>");
  EXPECT_EQ(data["first"]["layer"], 1);
  EXPECT_NEAR(data["cross"][2][1][0][2].get<double>(), maps["cross"][2][1][0][2].get<double>(),
              1e-4);
  EXPECT_EQ(page.find("src="), std::string::npos);
  EXPECT_EQ(page.find("href="), std::string::npos);
  EXPECT_EQ(Attention("--html=- 'A dog.'").out.rfind("<!doctype html>", 0), 0u);
}

TEST(AttentionTest, MechanismsBesideEachOther) {
  const json maps =
      AttentionJson("'A dog runs.' --compare=full --compare='window:1;full;full;full;full;full'");
  ASSERT_EQ(maps["compare"].size(), 2u);
  const std::string grid = Attention("'A dog runs.' --compare=window:1").out;
  EXPECT_NE(grid.find("\n    head     XX     XP     PX     PP   bias\n"), std::string::npos)
      << grid;
  EXPECT_EQ(grid.substr(grid.rfind("  window:1\n")), "  window:1\n") << grid;
  EXPECT_EQ(maps["compare"][1]["mechanism"], "window:1;full;full;full;full;full");
  EXPECT_GT(maps["compare"][0]["edges"], maps["compare"][1]["edges"]);
  // The log-probability is the one that nibu-score gives the translation.
  const std::string scored =
      Shell(absl::StrCat(CaptionsProgram("nibu-score"),
                         " --output_format=jsonl --src=", TestFile("en.txt", "A dog runs.\n"),
                         " --tgt=", TestFile("de.txt", "Ein Hund rennt.\n")),
            "")
          .out;
  const json score = json::parse(scored);
  double sum = 0;
  for (const json& token : score["token_scores"]) sum += token.get<double>();
  EXPECT_NEAR(maps["compare"][0]["log_prob"].get<double>(), sum, 1e-4);
}

TEST(AttentionTest, Convolution) {
  const std::string program = absl::StrCat(Program("nibu-inspect"), " convolution ");
  const Outcome text = Shell(program + "--kernel=1,2,1 --alpha=0.5,8", "");
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_EQ(Lines(text.out).size(), 4u) << text.out;
  const std::string page = Shell(program + "--html=-", "").out;
  EXPECT_EQ(page.rfind("<!doctype html>", 0), 0u);
  for (const std::string part : {"@DATA@", "@STYLE@", "@DRAW@", "src=", "href="}) {
    EXPECT_EQ(page.find(part), std::string::npos) << part;
  }
  for (const auto& [flags, part] : std::vector<std::pair<std::string, std::string>>{
           {"--kernel=1,2", "--kernel must have 1, 3, ... or 15 taps, not 2"},
           {"--kernel=", "--kernel must have"},
           {"--kernel=a", "--kernel"},
           {"--alpha=-1", "--alpha must have numbers from 0"},
           {"--alpha=", "--alpha must have numbers from 0"},
           {"--json --html=-", "--html=-"},
           {"A", "unexpected argument"}}) {
    ExpectOneLineError("nibu-inspect convolution", Shell(program + flags, ""), 2, part);
  }
}

TEST(AttentionTest, RefusesWhatItCannotShow) {
  const auto expect = [](const std::string& flags, int status, const std::string& part) {
    ExpectOneLineError("nibu-inspect attention", Attention(flags), status, part);
  };
  expect("", 2, "give one TEXT");
  expect("A dog", 2, "give one TEXT");
  expect("''", 2, "TEXT is blank");
  expect("' \u3000'", 2, "TEXT is blank");
  expect("--json --ascii A", 2, "--ascii");
  expect("--html=- --json A", 2, "--html=-");
  expect("--kind=both A", 2, "--kind");
  expect("--compare=nope A", 2, "--compare \"nope\": no such mechanism");
  expect("--compare=full --compare=reduction:2 A", 2, "--compare does not fit");
  expect("--compare= A", 2, "--compare needs a mechanism");
  expect("--kind=encoder --layer=6 A", 2, "--layer must be -6 to 5, not 6");
  expect("--layer=3 A", 2, "--layer must be -3 to 2, not 3");
  expect("--head=4 A", 2, "--head must be -1 to 3, not 4");
  expect("--tgt_lang=fr A", 2, "--tgt_lang");
  expect("--model=a,b A", 2, "one model");
  expect("--heads=1 A", 2, "did you mean --head?");
  expect("--html=/nowhere/page.html A", 1, "/nowhere/page.html");
  expect("--json A >/dev/full", 1, "standard output");
  expect("--model=/nowhere A", 1, "/nowhere");
  expect("\"$(yes dog | head -n 600 | tr '\\n' ' ')\"", 1, "source has 600 tokens");
  const std::string many = "\"$(yes dog | head -n 500 | tr '\\n' ' ')\"";
  expect(absl::StrCat(many, " --target=", many), 1, "more than can be looked at");
  const std::string inspect = CaptionsProgram("nibu-inspect") + " ";
  const auto expect_plain = [&](const std::string& flags, int status, const std::string& part) {
    ExpectOneLineError("nibu-inspect", Shell(inspect + flags, ""), status, part);
  };
  expect_plain("--html=x attention", 2, "--html");
  expect_plain("--model=a,b", 2, "one model");
  expect_plain("--json >/dev/full", 1, "standard output: cannot be written: No space");
  // The reader of the output ends first.
  EXPECT_EQ(Shell(absl::StrCat("( ", inspect, "; echo $? >&2 ) | head -n 0"), "").err, "0\n");
}

}  // namespace
}  // namespace nibu::internal
