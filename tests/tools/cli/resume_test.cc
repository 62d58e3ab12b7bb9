// Tests of --resume, and of what an interrupted run leaves for it.
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/models/files.h"
#include "tests/paths.h"
#include "tests/sanitizers.h"
#include "tests/tools/programs.h"

namespace nibu::internal {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// Captions, each of them on several lines with another end: equal lines would be translated once.
std::string ManyLines() {
  std::string text;
  for (const char* end : {"", " It is a good day.", " The sun shines on the town."}) {
    for (const std::string& line : Lines(Captions(150))) absl::StrAppend(&text, line, end, "\n");
  }
  return text;
}

// A file of captions, and the place for its translation.
class ResumeTest : public ::testing::Test {
 protected:
  ResumeTest() : src_(TestFile("resume.en", ManyLines())), out_(TestFile("resume.de", "old")) {
    Remove();
  }
  ~ResumeTest() override { Remove(); }
  void Remove() const {
    fs::remove(part());
    fs::remove(record());
  }

  std::string part() const { return out_ + ".part"; }
  std::string record() const { return part() + ".json"; }
  std::string Flags(const std::string& more) const {
    return absl::StrCat("--compute_type=int8 --beam_size=4 --threads=1 --src=", src_,
                        " --out=", out_, " ", more);
  }
  Outcome Run(const std::string& more) const { return Translate(Flags(more), ""); }
  // Ends a run by a signal when it has finished some lines.
  Outcome Interrupt(const std::string& signal, const std::string& more) const {
    return Shell(absl::StrCat(CaptionsProgram("nibu-translate"), " ", Flags(more),
                              " & for i in $(seq 3000); do if grep -q '\"units\": *[1-9]' ",
                              record(), " 2>/dev/null; then kill -", signal,
                              " $!; break; fi; sleep 0.01; done; wait $!"),
                 "");
  }
  // Makes what an interrupted run leaves: a record of the first lines, and a line in part.
  void LeaveLines(size_t lines, const std::string& more) const {
    ASSERT_EQ(Interrupt("KILL", more).status, 137);
    nlohmann::ordered_json run = nlohmann::ordered_json::parse(ReadFile(record()));
    const std::string all = Whole(more);
    size_t end = 0;
    for (size_t i = 0; i < lines; ++i) end = all.find('\n', end) + 1;
    std::ofstream(part()) << all.substr(0, end) << "Ein Te";
    run["units"] = lines;
    run["bytes"] = end;
    std::ofstream(record()) << run;
  }
  std::string Whole(const std::string& more) const {
    return Translate(absl::StrCat("--compute_type=int8 --beam_size=4 --src=", src_, " ", more), "")
        .out;
  }
  void ExpectWhole(const std::string& more) const {
    EXPECT_EQ(ReadFile(out_), Whole(more));
    EXPECT_FALSE(fs::exists(part()));
    EXPECT_FALSE(fs::exists(record()));
  }

  static constexpr size_t kLines = 450;
  const std::string src_;
  const std::string out_;
};

TEST_F(ResumeTest, GoesOnBehindWhatIsFinished) {
  NIBU_TOO_SLOW_FOR_SANITIZERS();
  for (const char* signal : {"TERM", "KILL"}) {
    for (const std::string& more :
         {std::string(), std::string("--output_format=jsonl --shard=2/2")}) {
      const Outcome ended = Interrupt(signal, more);
      ASSERT_EQ(ended.status, signal[0] == 'T' ? 143 : 137) << ended.err;
      if (signal[0] == 'T') {
        EXPECT_THAT(ended.err, HasSubstr(absl::StrCat("interrupted; what was finished is in ",
                                                      part(), ", and --resume goes on behind it")));
      }
      EXPECT_EQ(ReadFile(out_), "old");
      const size_t left = fs::file_size(part());
      EXPECT_GT(left, 0u);
      const Outcome resumed = Run(more + " --resume --stats --batch_size=3");
      ASSERT_EQ(resumed.status, 0) << resumed.err;
      EXPECT_LT(nlohmann::json::parse(resumed.err)["sentences"],
                more.empty() ? kLines : kLines / 2);
      ExpectWhole(more);
      std::ofstream(out_) << "old";
    }
  }
}

// A part of a line is written anew; so is nothing at all, and all of it.
TEST_F(ResumeTest, AnyNumberOfLines) {
  NIBU_TOO_SLOW_FOR_SANITIZERS();
  for (const size_t lines : {size_t{0}, size_t{1}, size_t{123}, kLines}) {
    LeaveLines(lines, "--beam_size=1");
    const Outcome resumed = Run("--beam_size=1 --resume --stats");
    EXPECT_EQ(resumed.status, 0) << resumed.err;
    EXPECT_EQ(nlohmann::json::parse(resumed.err)["sentences"], kLines - lines);
    ExpectWhole("--beam_size=1");
  }
  EXPECT_EQ(Run("--resume --beam_size=1").status, 0);  // nothing to go on with
  ExpectWhole("--beam_size=1");
}

TEST_F(ResumeTest, OtherRunsAreRefused) {
  NIBU_TOO_SLOW_FOR_SANITIZERS();
  LeaveLines(5, "");
  const auto refused = [this](const std::string& more, const std::string& why) {
    ExpectOneLineError("nibu-translate", Run("--resume " + more), 1, why);
    EXPECT_EQ(ReadFile(out_), "old");
    EXPECT_TRUE(fs::exists(part()) && fs::exists(record()));
  };
  refused("--beam_size=2", part() + ": was made with another --beam_size, \"4\"; it is \"2\" now");
  refused("--shard=1/2", "was made with another --shard, none; it is \"1/2\" now");
  refused("--compute_type=float32", "was made with another compute_type, \"int8\"");
  refused("--model=" + TestdataPath("de-en"), "was made with another ");
  const std::string glossary = TestFile("glossary", "dog\tWelpe\n");
  refused("--glossary=" + glossary, "was made with another --glossary");
  const std::string lines = ReadFile(src_);
  std::ofstream(src_) << lines << "A dog runs.\n";
  refused("", "was made with another input");
  std::ofstream(src_) << lines;
  // Threads and batches change nothing.
  EXPECT_EQ(Run("--resume --threads=2 --batch_size=7 --stats").status, 0);
  ExpectWhole("");
}

TEST_F(ResumeTest, DamagedAndForeignFiles) {
  const auto refused = [this](const std::string& flags, const std::string& why) {
    const std::string before = ReadFile(part());
    ExpectOneLineError("nibu-translate", Run(flags), 1, why);
    EXPECT_EQ(ReadFile(part()), before);
  };
  std::ofstream(part()) << "a file of somebody else\n";
  for (const char* flags : {"", "--resume"}) {
    refused(flags, absl::StrCat(part(), ": is there already, and ", record(),
                                " does not say what run it is of"));
  }
  for (const char* text : {"", "{", "[]", "{\"units\":-1,\"bytes\":2}", "{\"units\":1}",
                           "{\"units\":\"1\",\"bytes\":1}", "\xff", "null"}) {
    std::ofstream(record()) << text;
    refused("--resume", "does not say what run it is of");
  }
  for (const std::string& text :
       {std::string("{\"units\":1,\"bytes\":9}"),
        absl::StrCat("{\"x\":", std::string(300'000, '['), std::string(300'000, ']'), "}")}) {
    std::ofstream(record()) << text;
    refused("--resume", "does not say what run it is of");
  }
  std::ofstream(record()) << "{\"units\":1,\"bytes\":9999,\"failed\":0,\"first_failed\":0}";
  refused("--resume", "was made with another compute_type, none; it is \"int8\" now");
  // A new run begins again.
  NIBU_TOO_SLOW_FOR_SANITIZERS();
  EXPECT_EQ(Run("--beam_size=1").status, 0);
  ExpectWhole("--beam_size=1");
  LeaveLines(3, "--beam_size=1");
  std::ofstream(part()) << "";
  fs::resize_file(part(), 1);
  refused("--beam_size=1 --resume", "has fewer bytes than");
}

// What the model's files say of the search counts as options do; a built-in value that is given
// takes its place.
TEST_F(ResumeTest, DefaultsOfModels) {
  NIBU_TOO_SLOW_FOR_SANITIZERS();
  const testing::TempFolder folder;
  for (const auto& entry : fs::directory_iterator(CaptionsModelPath())) {
    fs::copy(entry.path(), folder / entry.path().filename().string());
  }
  const std::string model = absl::StrCat("--model=", folder.path(), " --nosplit_sentences ");
  const auto run = [&](const std::string& more) {
    return Translate(absl::StrCat("--compute_type=int8 --threads=1 --src=", src_, " --out=", out_,
                                  " ", model, more),
                     "");
  };
  const Outcome ended = Shell(
      absl::StrCat("ulimit -f 8; trap '' XFSZ; ", CaptionsProgram("nibu-translate"),
                   " --compute_type=int8 --threads=1 --src=", src_, " --out=", out_, " ", model),
      "");
  ASSERT_EQ(ended.status, 1) << ended.err;
  ExpectOneLineError("nibu-translate", run("--beam_size=4 --resume"), 1,
                     "was made with another --beam_size, none; it is \"4\" now");
  const std::string config = ReadFile(folder / "generation_config.json");
  std::ofstream(folder / "generation_config.json") << "{\"num_beams\": 2}";
  EXPECT_EQ(run("--resume").status, 1);
  std::ofstream(folder / "generation_config.json") << config;
  EXPECT_EQ(run("--resume").status, 0);
}

// A line that failed before the interruption is not forgotten.
TEST_F(ResumeTest, FailedLinesAreRemembered) {
  NIBU_TOO_SLOW_FOR_SANITIZERS();
  std::string longer;
  for (int i = 0; i < 60; ++i) longer += "A dog runs on the beach ";
  const std::string text = ReadFile(src_);
  std::ofstream(src_) << "A dog runs.\n" << longer << "\n" << text;
  const std::string flags = "--beam_size=1 --long_input=error --max_input_length=100";
  ASSERT_EQ(Interrupt("TERM", flags).status, 143);
  const Outcome resumed = Run(flags + " --resume");
  EXPECT_EQ(resumed.status, 1);
  EXPECT_THAT(resumed.err,
              HasSubstr("1 line(s) could not be translated; the first is line 2, in an "
                        "earlier run"));
  ExpectWhole(flags);
}

TEST_F(ResumeTest, TheKeptPartIsNoInput) {
  std::ofstream(part()) << "A dog runs.\n";
  ExpectUsageError(Translate(absl::StrCat("--src=", part(), " --out=", out_), ""),
                   absl::StrCat(part(), ": is the file that is read"));
  EXPECT_EQ(ReadFile(part()), "A dog runs.\n");
}

TEST_F(ResumeTest, OneRunAtATime) {
  NIBU_TOO_SLOW_FOR_SANITIZERS();
  const Outcome second =
      Shell(absl::StrCat("exec 9>>", part(), "; flock 9; ", CaptionsProgram("nibu-translate"), " ",
                         Flags("--resume")),
            "");
  ExpectOneLineError("nibu-translate", second, 1,
                     absl::StrCat("another run is writing ", part(), "; wait for it or end it"));
}

TEST_F(ResumeTest, NeedsFiles) {
  for (const std::string& flags :
       {std::string("--resume"), "--resume --src=" + src_, "--resume --out=" + out_,
        "--resume --out=" + out_ + " 'A dog runs.'", "--resume --src=/dev/null --out=" + out_,
        "--resume --out=/dev/null --src=" + src_}) {
    ExpectUsageError(Translate(flags, "A dog runs.\n"), "--resume needs");
  }
}

}  // namespace
}  // namespace nibu::internal
