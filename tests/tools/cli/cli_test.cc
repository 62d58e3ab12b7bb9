// Tests of nibu-translate as a user runs it, with the captions model.
// Threads: the thread sanitizer runs this file.
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/paths.h"
#include "tests/sanitizers.h"
#include "tests/tools/shell.h"

namespace nibu::internal {
namespace {

namespace fs = std::filesystem;

const std::string kProgram = CaptionsProgram("nibu-translate");

Outcome Translate(const std::string& flags, const std::string& input = "") {
  return Shell(absl::StrCat(kProgram, " --compute_type=float32 ", flags), input);
}

void ExpectOneLineError(const Outcome& outcome, int status, const std::string& part) {
  ExpectOneLineError("nibu-translate", outcome, status, part);
}

TEST(CliTest, TranslatesArguments) {
  const Outcome outcome =
      Translate("'A man is riding a bicycle.' '' 'Two dogs are playing in the snow.'");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "Ein Mann fährt Fahrrad.\n\nZwei Hunde spielen im Schnee.\n");
  EXPECT_EQ(outcome.err, "");
}

// A line of a reference file: the score and the pieces.
struct Reference {
  double score;
  std::string pieces;
};
std::vector<Reference> ReadReference(const std::string& path) {
  std::vector<Reference> references;
  for (const std::string& line : Lines(ReadFile(path))) {
    const std::vector<std::string> parts = absl::StrSplit(line, '\t');
    references.push_back({std::atof(parts[0].c_str()), parts[1]});
  }
  return references;
}

// Returns the number of lines that have the reference's pieces. Each of the others must be a near
// tie: its score is within 1e-4 of the reference's.
int CountEqual(const std::string& source, const std::string& reference_path, int beam) {
  const auto references = ReadReference(reference_path);
  const Outcome outcome = Translate(
      absl::StrCat("--split_sentences=false --protect=none --output_format=jsonl --beam_size=",
                   beam),
      source);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const auto lines = Lines(outcome.out);
  EXPECT_EQ(lines.size(), references.size());
  int equal = 0;
  for (size_t i = 0; i < std::min(lines.size(), references.size()); ++i) {
    const auto best = nlohmann::json::parse(lines[i])["hypotheses"][0];
    const double score = best["score"].get<double>();
    const std::string pieces = absl::StrJoin(best["tokens"].get<std::vector<std::string>>(), " ");
    if (pieces == references[i].pieces) {
      ++equal;
      EXPECT_NEAR(score, references[i].score, 1e-3) << "line " << i + 1;
    } else {
      EXPECT_NEAR(score, references[i].score, 1e-4) << "line " << i + 1 << ": " << pieces;
    }
  }
  return equal;
}

TEST(CliTest, EqualsTheReference) {
  const std::string source = ReadFile(TestdataPath("multi30k.en"));
  EXPECT_GE(CountEqual(source, TestdataPath("multi30k.en-de.greedy.pieces"), 1), 149);
  EXPECT_GE(CountEqual(source, TestdataPath("multi30k.en-de.beam4.pieces"), 4), 148);
  EXPECT_EQ(Translate("--split_sentences=false --protect=none --beam_size=1", source).out,
            ReadFile(TestdataPath("multi30k.en-de.greedy.txt")));
}

// oneDNN can be limited to lower instruction sets, which give other last bits, but the same
// translations except for near ties.
TEST(CliTest, EqualsTheReferenceOnLowerInstructionSets) {
  NIBU_TOO_SLOW_FOR_SANITIZERS();
  const std::string source = ReadFile(TestdataPath("multi30k.en"));
  for (const char* isa : {"AVX512_CORE", "AVX2", "SSE41"}) {
    SCOPED_TRACE(isa);
    ASSERT_EQ(setenv("ONEDNN_MAX_CPU_ISA", isa, 1), 0);
    EXPECT_GE(CountEqual(source, TestdataPath("multi30k.en-de.beam4.pieces"), 4), 148);
  }
  unsetenv("ONEDNN_MAX_CPU_ISA");
}

TEST(CliTest, EqualsTheWholeReference) {
  NIBU_TOO_SLOW_FOR_SANITIZERS();
  const std::string shared = SharedPath("");
  if (!fs::exists(shared + "/golden")) GTEST_SKIP() << "no reference outputs in " << shared;
  int greedy = 0;
  int beam = 0;
  for (const std::string set : {"multi30k.test_2016_flickr", "multi30k.val"}) {
    const std::string source = ReadFile(shared + "/data/" + set + ".en");
    greedy += CountEqual(source, shared + "/golden/en-de." + set + ".greedy.pieces", 1);
    beam += CountEqual(source, shared + "/golden/en-de." + set + ".beam4.pieces", 4);
  }
  EXPECT_GE(greedy, 1998);  // out of 2014 lines
  EXPECT_GE(beam, 1990);
}

TEST(CliTest, NothingButTheFlagsDecidesTheOutput) {
  NIBU_TOO_SLOW_FOR_SANITIZERS();
  const std::string source = ReadFile(TestdataPath("multi30k.en")).substr(0, 2000);
  const std::string expected = Translate("--print_scores --threads=1", source).out;
  EXPECT_EQ(Translate("--print_scores --threads=1 --batch_size=1", source).out, expected);
  EXPECT_EQ(Translate("--print_scores --threads=3 --batch_size=5", source).out, expected);
  EXPECT_EQ(Translate("--print_scores --batch_size=40 --batch_type=tokens", source).out, expected);
}

// A single sentence of an int8 model uses the threads inside its matmuls.
TEST(CliTest, ASingleLineIsTheSameWithAnyThreads) {
  NIBU_TOO_SLOW_FOR_SANITIZERS();
  const std::string line = Lines(ReadFile(TestdataPath("multi30k.en")))[0] + "\n";
  for (const char* beam : {"1", "4"}) {
    const std::string flags =
        absl::StrCat("--compute_type=int8 --print_scores --beam_size=", beam, " --threads=");
    const std::string expected = Translate(flags + "1", line).out;
    EXPECT_NE(expected, "");
    for (const char* threads : {"2", "3", "4", "9"}) {
      EXPECT_EQ(Translate(flags + threads, line).out, expected) << threads;
    }
  }
}

TEST(CliTest, OneDnnAloneGivesTheSameInt8) {
  NIBU_TOO_SLOW_FOR_SANITIZERS();
  const std::string source = ReadFile(TestdataPath("multi30k.en")).substr(0, 1000);
  const std::string flags = "--compute_type=int8 --print_scores --threads=1 --matmul=";
  const Outcome expected = Translate(flags + "auto", source);
  const Outcome outcome = Translate(flags + "onednn", source);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out, "");
  EXPECT_EQ(outcome.out, expected.out);
  ExpectOneLineError("nibu-translate", Translate("--matmul=mkl", ""), 2,
                     "--matmul must be auto or onednn, not \"mkl\"");
}

// If a matmul got fewer threads than it was made for, some of its output would be left unwritten.
TEST(CliTest, ASingleLineIsTheSameWhateverOpenMpMayDo) {
  NIBU_TOO_SLOW_FOR_SANITIZERS();
  const std::string line = Lines(ReadFile(TestdataPath("multi30k.en")))[0] + "\n";
  const std::string flags = "--compute_type=int8 --beam_size=4 --threads=";
  const std::string expected = Translate(flags + "1", line).out;
  for (const std::string variable :
       {"OMP_THREAD_LIMIT=1", "OMP_DYNAMIC=true", "OMP_MAX_ACTIVE_LEVELS=0", "OMP_NUM_THREADS=1"}) {
    for (int i = 0; i < 3; ++i) {
      const Outcome outcome = Shell(absl::StrCat(variable, " ", kProgram, " ", flags, "2"), line);
      EXPECT_EQ(outcome.out, expected) << variable;
    }
  }
}

TEST(CliTest, OutOfMemoryOrThreads) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer needs all addresses";
  for (const char* command : {"ulimit -v 150000; ", "ulimit -v 4000000; "}) {
    const Outcome outcome = Shell(absl::StrCat(command, kProgram, " --threads=1024 'A dog.'"), "");
    ExpectOneLineError(outcome, 1, "");
  }
  // First the threads get stacks of many sizes, for which there may be no room. Then there is none
  // for any thread, not even for the one that waits for signals.
  int failed = 0;
  for (int stack = 2'000'000; stack > 200'000; stack = stack * 8 / 9) {
    const Outcome outcome = Shell(absl::StrCat("ulimit -v 3000000; ulimit -s ", stack, "; ",
                                               kProgram, " --threads=2 'A dog runs.'"),
                                  "");
    if (outcome.status == 0) {
      EXPECT_EQ(outcome.out, "Ein Hund rennt.\n");
    } else {
      ExpectOneLineError(outcome, 1, "threads");
      ++failed;
    }
  }
  EXPECT_GT(failed, 3);
  for (const std::string name : {"nibu-translate", "nibu-split"}) {
    ExpectOneLineError(
        name, Shell(absl::StrCat("ulimit -s 200000000000; ", Program(name), " 'A dog runs.'"), ""),
        1, "no more threads; use fewer");
  }
}

TEST(CliTest, OutputFormats) {
  const std::string input = "A dog runs.\n\n";
  const auto nbest = Lines(Translate("--output_format=nbest --num_hypotheses=3", input).out);
  ASSERT_EQ(nbest.size(), 4u);
  EXPECT_EQ(nbest[0].rfind("0 ||| Ein Hund rennt. ||| logprob= -", 0), 0u) << nbest[0];
  EXPECT_EQ(nbest[3], "1 |||  ||| logprob= 0.000000 ||| 0.000000");
  const Outcome bars = Translate("--output_format=nbest", "A ||| dog.\n");
  EXPECT_NE(bars.out.find(" &#124;&#124;&#124;"), std::string::npos) << bars.out;
  EXPECT_EQ(std::vector<std::string>(absl::StrSplit(bars.out, " ||| ")).size(), 4u) << bars.out;
  const auto scored = Lines(Translate("--print_scores", input).out);
  EXPECT_EQ(scored[1], "0.000000\t");
  const auto json = Lines(Translate("--output_format=jsonl --num_hypotheses=2", input).out);
  const auto line = nlohmann::json::parse(json[0]);
  EXPECT_EQ(line["source"], "A dog runs.");
  ASSERT_EQ(line["hypotheses"].size(), 2u);
  const auto& best = line["hypotheses"][0];
  EXPECT_EQ(best["text"], "Ein Hund rennt.");
  EXPECT_EQ(best["tokens"].size(), best["token_scores"].size());
  EXPECT_GT(best["score"], line["hypotheses"][1]["score"]);
  const auto empty = nlohmann::json::parse(json[1]);
  EXPECT_EQ(empty["id"], 1);
  EXPECT_EQ(empty["hypotheses"][0]["text"], "");
}

TEST(CliTest, TokenizedLinesArePieces) {
  EXPECT_EQ(Translate("--tokenized", "▁A ▁man ▁is ▁riding ▁a ▁bicycle .\n").out,
            "▁Ein ▁Mann ▁fährt ▁Fahrrad .\n");
}

TEST(CliTest, ACarriageReturnWithinALineStays) {
  EXPECT_EQ(Translate("", "A dog runs.\rA dog runs.\r\n").out,
            "Ein Hund rennt.\rEin Hund rennt.\n");
}

TEST(CliTest, WorkThatFails) {
  ExpectOneLineError(Translate("--model=/nonexistent x"), 1, "/nonexistent");
  ExpectOneLineError(Translate("--src=/nonexistent"), 1, "/nonexistent");
  // The error comes at once, and nothing is printed.
  ExpectOneLineError(Translate("--src=/usr"), 1, "/usr: cannot be read: Is a directory");
  ExpectOneLineError(Translate("--target_prefix=/usr", "A dog.\nA dog.\n"), 1,
                     "error: /usr: cannot be read: Is a directory");
  ExpectOneLineError(Translate("--glossary=/usr", "A dog.\n"), 1,
                     "/usr: cannot be read: Is a directory");
  ExpectOneLineError(Translate("--out=/nonexistent/x y"), 1, "/nonexistent/x");
  ExpectOneLineError(Translate("--out=/dev/full", "A dog.\n"), 1, "No space left");
  const fs::path damaged = fs::path(testing::TempDir()) / absl::StrCat("damaged_", getpid());
  fs::remove_all(damaged);
  fs::copy(CaptionsModelPath(), damaged);
  fs::resize_file(damaged / "model.safetensors", 1000000);
  ExpectOneLineError(Translate(absl::StrCat("--model='", damaged.string(), "' x")), 1,
                     "model.safetensors");
  fs::remove_all(damaged);
}

TEST(CliTest, NeverWritesOverWhatIsBeingRead) {
  const fs::path file = fs::path(testing::TempDir()) / absl::StrCat("nibu_same_", getpid());
  std::ofstream(file) << "A dog runs.\n";
  const std::string path = "'" + file.string() + "'";
  const std::string part = "is the file that is read";
  ExpectOneLineError(Translate(absl::StrCat("--src=", path, " >>", path)), 2, part);
  ExpectOneLineError(Translate(absl::StrCat("--src=", path, " --out=/dev/stdout >>", path)), 2,
                     part);
  EXPECT_EQ(ReadFile(file.string()), "A dog runs.\n");
  // A file that is written aside may replace the file that is read.
  EXPECT_EQ(Translate(absl::StrCat("--src=", path, " --out=", path)).status, 0);
  EXPECT_EQ(ReadFile(file.string()), "Ein Hund rennt.\n");
  std::ofstream(file) << "A dog runs.\n";
  EXPECT_EQ(Translate(absl::StrCat("--out=", path, " <", path)).status, 0);
  EXPECT_EQ(ReadFile(file.string()), "Ein Hund rennt.\n");
  fs::remove(file);
}

// Lines that are finished stay in a file beside --out, whose older contents are kept.
TEST(CliTest, WorkThatFailsLeavesWhatIsFinished) {
  NIBU_TOO_SLOW_FOR_SANITIZERS();
  const fs::path folder = fs::path(testing::TempDir()) / absl::StrCat("nibu_part_", getpid());
  fs::create_directories(folder);
  const std::string out = (folder / "x.out").string();
  std::ofstream(out) << "old";
  const auto kept = [&](const Outcome& outcome) {
    EXPECT_EQ(outcome.status, 1);
    EXPECT_EQ(Lines(outcome.err).size(), 1u) << outcome.err;
    EXPECT_EQ(ReadFile(out), "old");
    const std::string mark = "; what was finished is in ";
    const size_t at = outcome.err.find(mark);
    EXPECT_NE(at, std::string::npos) << outcome.err;
    if (at == std::string::npos) return std::string();
    const std::string place = Lines(outcome.err.substr(at + mark.size()))[0];
    EXPECT_EQ(fs::path(place).parent_path(), folder);
    const std::string lines = ReadFile(place);
    fs::remove(place);
    return lines;
  };
  const std::string source = ReadFile(TestdataPath("multi30k.en"));
  const std::string whole = Translate("--beam_size=1", source).out;
  // On a full disk, the file ends with the last whole line that there was room for.
  const std::string some =
      kept(Shell(absl::StrCat("trap '' XFSZ; ulimit -f 4; ", kProgram,
                              " --compute_type=float32 --beam_size=1 --out=", out),
                 source));
  EXPECT_GT(some.size(), 2000u);
  EXPECT_EQ(some, whole.substr(0, some.size()));
  EXPECT_EQ(some.back(), '\n');
  // The rest of this input cannot be read.
  const std::string first = kept(Shell(
      absl::StrCat("( gzip; echo damage ) | ", kProgram, " --beam_size=1 --out=", out), source));
  EXPECT_EQ(Lines(first).size(), Lines(whole).size());
  if (!kSanitized) {
    EXPECT_EQ(kept(Shell(absl::StrCat("ulimit -v 1000000; ( echo 'A dog runs.'; sleep 1; "
                                      "head -c 1500000000 /dev/zero | tr '\\0' a ) | ",
                                      kProgram, " --compute_type=float32 --threads=1 --out=", out),
                         "")),
              "Ein Hund rennt.\n");
  }
  // If nothing is finished, no file stays.
  const Outcome nothing = Translate(absl::StrCat("--out=", out), "\x1f\x8b");
  ExpectOneLineError(nothing, 1, "standard input: ends within its gzip data; get the whole file\n");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1);
  fs::remove_all(folder);
}

TEST(CliTest, CompressedInput) {
  const std::string source = ReadFile(TestdataPath("multi30k.en")).substr(0, 2000);
  const std::string expected = Translate("", source).out;
  const Outcome gzip = Shell(absl::StrCat("gzip | ", kProgram, " --compute_type=float32"), source);
  EXPECT_EQ(gzip.out, expected) << gzip.err;
  ExpectOneLineError(Translate("--out=/dev/null", std::string("\xfd"
                                                              "7zXZ\0",
                                                              6)),
                     1,
                     "standard input: is compressed with xz; only UTF-8 text is read, plain or "
                     "compressed with gzip: convert it with xz -dc");
}

TEST(CliTest, WritesAFile) {
  const fs::path file = fs::path(testing::TempDir()) / absl::StrCat("nibu_out_", getpid());
  std::ofstream(file) << std::string(1000, 'x');  // an older and longer file
  const Outcome outcome = Translate(absl::StrCat("--out='", file.string(), "'"), "A dog runs.");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(ReadFile(file.string()), "Ein Hund rennt.\n");
  fs::remove(file);
}

TEST(CliTest, ClosedDescriptors) {
  ExpectOneLineError(Translate("<&-"), 1, "standard input");
  ExpectOneLineError(Translate("x >&-"), 1, "standard output");
  // The progress bar and the warning must not be written into the output file.
  const fs::path file = fs::path(testing::TempDir()) / absl::StrCat("nibu_closed_", getpid());
  const Outcome outcome = Translate(absl::StrCat("--progress --stats --max_input_length=3 --out='",
                                                 file.string(), "' 'A dog runs.' 2>&-"));
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(Lines(ReadFile(file.string())).size(), 1u);
  fs::remove(file);
}

TEST(CliTest, ProgressOnAFileThatGrows) {
  const fs::path file = fs::path(testing::TempDir()) / absl::StrCat("nibu_grows_", getpid());
  std::ofstream(file) << "A dog runs.\n";
  const std::string path = "'" + file.string() + "'";
  const std::string whole = absl::StrCat("'", TestdataPath("multi30k.en"), "'");
  const Outcome outcome = Translate(absl::StrCat("--progress --beam_size=1 --src=", path, " & cat ",
                                                 whole, " ", whole, " >>", path, "; wait $!"));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(Lines(outcome.out)[0], "Ein Hund rennt.");
  fs::remove(file);
}

TEST(CliTest, StatsCountLinesAndTokens) {
  const Outcome outcome = Translate("--stats --threads=1 --noprogress", "A dog runs.\n\n");
  const auto stats = nlohmann::json::parse(outcome.err);
  EXPECT_EQ(stats["sentences"], 2);
  EXPECT_EQ(stats["source_tokens"], 4);
  EXPECT_EQ(stats["target_tokens"], 4);
  EXPECT_EQ(stats["threads"], 1);
  EXPECT_EQ(stats["compute_type"], "float32");
  EXPECT_EQ(stats["unfinished_sentences"], 0);
  for (const char* field : {"load_seconds", "seconds", "tokens_per_second", "peak_rss_bytes"}) {
    EXPECT_GT(stats[field], 0) << field;
  }
}

}  // namespace
}  // namespace nibu::internal
