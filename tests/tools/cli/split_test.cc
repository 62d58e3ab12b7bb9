// Tests of nibu-split as a user runs it.
#include <unistd.h>

#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/paths.h"
#include "tests/tools/shell.h"

namespace nibu::internal {
namespace {

Outcome RunSplit(const std::string& flags, const std::string& input = "") {
  return Shell(absl::StrCat(Program("nibu-split"), " ", flags), input);
}

TEST(SplitTest, ASentenceALine) {
  const Outcome outcome = RunSplit("", "Dr. Ames left. He was late!\r\n\n  \nNo end");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out, "Dr. Ames left.\nHe was late!\n\n\nNo end\n");
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(RunSplit("", "").out, "");
  EXPECT_EQ(RunSplit("'One. Two.' '' -- -3.").out, "One.\nTwo.\n\n-3.\n");
}

TEST(SplitTest, LanguagesHaveTheirOwnRules) {
  const std::string text = "'Am 3. Mai kam sie.'";
  EXPECT_EQ(RunSplit("--language=deu_Latn " + text).out, "Am 3. Mai kam sie.\n");
  EXPECT_EQ(RunSplit(text).out, "Am 3.\nMai kam sie.\n");
  EXPECT_EQ(RunSplit("--language= '好。好。'").out, "好。\n好。\n");
}

TEST(SplitTest, JsonHasBytes) {
  const std::string line = " Él vino.  \xff Go. ";
  const Outcome outcome = RunSplit("--json", absl::StrCat(line, "\n\n"));
  const auto lines = Lines(outcome.out);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[1], "{\"id\":1,\"sentences\":[]}");
  const auto json = nlohmann::json::parse(lines[0]);
  EXPECT_EQ(json["id"], 0);
  ASSERT_EQ(json["sentences"].size(), 2u);
  const auto& first = json["sentences"][0];
  EXPECT_EQ(first["begin"], 1);
  EXPECT_EQ(first["end"], 10);
  EXPECT_EQ(first["text"], "Él vino.");
  const auto& second = json["sentences"][1];
  EXPECT_EQ(line.substr(second["begin"], second["end"].get<size_t>() - 12), "\xff Go.");
  EXPECT_EQ(second["text"], "\ufffd Go.");
}

TEST(SplitTest, FilesAndMistakes) {
  const std::string path = absl::StrCat(testing::TempDir(), "/nibu_split_test_", getpid());
  EXPECT_EQ(RunSplit(absl::StrCat("--out='", path, "'"), "One. Two.").out, "");
  EXPECT_EQ(ReadFile(path), "One.\nTwo.\n");
  EXPECT_EQ(RunSplit(absl::StrCat("--src='", path, "'")).out, "One.\nTwo.\n");
  EXPECT_EQ(RunSplit(absl::StrCat("--src='", path, "' --out='", path, "'")).status, 0);
  EXPECT_EQ(ReadFile(path), "One.\nTwo.\n");
  ExpectOneLineError(
      "nibu-split",
      Shell(absl::StrCat(Program("nibu-split"), " --src='", path, "' >>'", path, "'"), ""), 2,
      "is the file that is read");
  ExpectOneLineError("nibu-split", RunSplit(absl::StrCat("--src='", path, "' text")), 2,
                     "not both");
  ExpectOneLineError("nibu-split", RunSplit("--src=/nowhere/file"), 1, "/nowhere/file");
  ExpectOneLineError("nibu-split", RunSplit("--out=/nowhere/file", "One."), 1, "/nowhere/file");
  ExpectOneLineError("nibu-split", RunSplit("--langage=de"), 2, "did you mean --language?");
  ExpectOneLineError("nibu-split", RunSplit("> /dev/full", "One."), 1, "standard output");
  std::filesystem::remove(path);
  EXPECT_EQ(RunSplit("--version").status, 0);
  // The reader of the output ends first.
  EXPECT_EQ(Shell(absl::StrCat("yes 'One. Two.' | ", Program("nibu-split"),
                               " | head -n 1; echo ${PIPESTATUS[1]}"),
                  "")
                .out.substr(0, 5),
            "One.\n");
}

}  // namespace
}  // namespace nibu::internal
