// Tests of nibu-translate at work: terminals, pipes whose other ends act, and signals.
// Threads: the thread sanitizer runs this file.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tests/paths.h"
#include "tests/sanitizers.h"
#include "tests/tools/shell.h"

namespace nibu::internal {
namespace {

const std::string kProgram = CaptionsProgram("nibu-translate");

// script(1) runs a command on a terminal.
TEST(InteractiveTest, NoProgressAmongTranslationsOnATerminal) {
  const std::string command =
      absl::StrCat(kProgram, " --threads=1 --src='", TestdataPath("multi30k.en"), "'");
  const Outcome both = Shell(absl::StrCat("script -qec \"", command, "\" /dev/null"), "");
  EXPECT_EQ(both.status, 0);
  EXPECT_EQ(Lines(both.out).size(), 150u);
  EXPECT_EQ(both.out.find("lines/s"), std::string::npos);
  const Outcome errors =
      Shell(absl::StrCat("script -qec \"", command, " >/dev/null\" /dev/null"), "");
  EXPECT_EQ(errors.status, 0);
  EXPECT_NE(errors.out.find("lines/s"), std::string::npos);
  EXPECT_NE(errors.out.find(" s left"), std::string::npos);
}

TEST(InteractiveTest, ATerminalIsToldThatInputIsAwaited) {
  const Outcome outcome =
      Shell(absl::StrCat("script -qec \"", kProgram, "\" /dev/null"), "A dog runs.\n\x04");
  EXPECT_NE(outcome.out.find("nibu-translate: note: reads lines from the terminal; Ctrl-D"),
            std::string::npos)
      << outcome.out;
  EXPECT_NE(outcome.out.find("Ein Hund rennt."), std::string::npos) << outcome.out;
}

// A long line takes a while, so its sentences are counted.
TEST(InteractiveTest, ProgressWithinALine) {
  NIBU_TOO_SLOW_FOR_SANITIZERS();
  std::string line;
  for (int i = 0; i < 2000; ++i) line += "A man is riding a bicycle along the river. ";
  const Outcome outcome =
      Shell(absl::StrCat(kProgram, " --progress --threads=1 --beam_size=4"), line + "\n");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.err.find("of 2000 sentences"), std::string::npos) << outcome.err.substr(0, 300);
}

TEST(InteractiveTest, AReaderThatLeavesEndsItQuietly) {
  const std::string source = ReadFile(TestdataPath("multi30k.en"));
  const Outcome outcome = Shell(
      absl::StrCat("( ", kProgram, " --beam_size=1; echo status $? >&2 ) | head -n 1"), source);
  EXPECT_EQ(Lines(outcome.out).size(), 1u);
  EXPECT_EQ(outcome.err, "status 0\n");
}

// The running program, with pipes at both ends.
class Interactive {
 public:
  explicit Interactive(const std::vector<std::string>& flags) {
    int in[2];
    int out[2];
    EXPECT_EQ(pipe(in) + pipe(out), 0);
    child_ = fork();
    if (child_ == 0) {
      dup2(in[0], 0);
      dup2(out[1], 1);
      for (int fd : {in[0], in[1], out[0], out[1]}) close(fd);
      const std::string program = ProgramPath("nibu-translate");
      const std::string model = absl::StrCat("--model=", CaptionsModelPath());
      std::vector<const char*> arguments = {program.c_str(), model.c_str()};
      for (const std::string& flag : flags) arguments.push_back(flag.c_str());
      arguments.push_back(nullptr);
      execv(program.c_str(), const_cast<char* const*>(arguments.data()));
      _exit(127);
    }
    close(in[0]);
    close(out[1]);
    to_ = in[1];
    from_ = out[0];
  }
  ~Interactive() { close(from_); }

  void Write(const std::string& text) {
    ASSERT_EQ(write(to_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  std::string ReadLine() {
    std::string line;
    for (char c; read(from_, &c, 1) == 1;) {
      line += c;
      if (c == '\n') break;
    }
    return line;
  }
  void Close() { close(to_); }
  void Signal(int number) { kill(child_, number); }
  int Wait() {
    int status = 0;
    waitpid(child_, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  }

 private:
  pid_t child_;
  int to_;
  int from_;
};

TEST(InteractiveTest, ALineComesOutWithoutWaitingForMoreInput) {
  Interactive program({"--compute_type=float32"});
  program.Write("A dog runs.\n");
  EXPECT_EQ(program.ReadLine(), "Ein Hund rennt.\n");
  program.Write("A man is riding a bicycle.\n");
  EXPECT_EQ(program.ReadLine(), "Ein Mann fährt Fahrrad.\n");
  program.Close();
  EXPECT_EQ(program.ReadLine(), "");
  EXPECT_EQ(program.Wait(), 0);
}

TEST(InteractiveTest, AnObjectOrRowComesOutWithoutWaitingForMoreInput) {
  Interactive objects({"--compute_type=float32", "--input_format=jsonl"});
  objects.Write("{\"text\":\"A dog runs.\",\"id\":\"a\"}\nno JSON\n");
  EXPECT_EQ(objects.ReadLine().substr(0, 35), "{\"id\":\"a\",\"source\":\"A dog runs.\",\"h");
  EXPECT_EQ(objects.ReadLine().substr(0, 19), "{\"id\":null,\"source\"");
  objects.Write("\n{\"text\":\"A dog runs.\"}\n");
  EXPECT_EQ(objects.ReadLine().substr(0, 7), "{\"id\":3");
  objects.Close();
  EXPECT_EQ(objects.Wait(), 1);
  Interactive rows({"--compute_type=float32", "--tsv_column=2"});
  rows.Write("1\tA dog runs.\n2\n");
  EXPECT_EQ(rows.ReadLine(), "1\tEin Hund rennt.\n");
  EXPECT_EQ(rows.ReadLine(), "2\n");
  rows.Close();
  EXPECT_EQ(rows.Wait(), 0);
}

TEST(InteractiveTest, ABlankLineEndsAParagraph) {
  Interactive program({"--compute_type=float32", "--text=paragraphs"});
  program.Write("A dog\nruns.\n\n");
  EXPECT_EQ(program.ReadLine(), "Ein Hund rennt.\n");
  EXPECT_EQ(program.ReadLine(), "\n");
  program.Write("- A dog\n  runs.\n- A man\n");
  EXPECT_EQ(program.ReadLine(), "- Ein Hund rennt.\n");
  program.Close();
  EXPECT_EQ(program.Wait(), 0);
}

TEST(InteractiveTest, InterruptionsLeaveWholeLines) {
  const auto references = Lines(ReadFile(TestdataPath("multi30k.en-de.beam4.txt")));
  for (const int number : {SIGINT, SIGTERM}) {
    Interactive program({"--compute_type=float32", "--threads=2"});
    program.Write(ReadFile(TestdataPath("multi30k.en")));  // The input does not end.
    EXPECT_EQ(program.ReadLine(), references[0] + "\n");
    program.Signal(number);
    size_t i = 1;
    for (std::string line; !(line = program.ReadLine()).empty(); ++i) {
      ASSERT_LT(i, references.size());
      EXPECT_EQ(line, references[i] + "\n");
    }
    EXPECT_EQ(program.Wait(), 128 + number);
    program.Close();
  }
}

TEST(InteractiveTest, InterruptionsLeaveAFileBeside) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(testing::TempDir()) / absl::StrCat("nibu_signal_", getpid());
  const std::string references = ReadFile(TestdataPath("multi30k.en-de.beam4.txt"));
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    fs::create_directories(folder);
    Interactive program({"--compute_type=float32", "--threads=2",
                         absl::StrCat("--out=", (folder / "x.out").string())});
    program.Write(ReadFile(TestdataPath("multi30k.en")));  // The input does not end.
    std::vector<std::string> files;
    // Lines are written as soon as they are ready.
    for (int i = 0; i < 600 && (files.empty() || fs::file_size(files[0]) == 0); ++i) {
      usleep(100'000);
      files.clear();
      for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
    }
    program.Signal(number);
    EXPECT_EQ(program.Wait(), 128 + number);
    program.Close();
    ASSERT_EQ(files.size(), 1u);
    EXPECT_EQ(files[0].rfind((folder / "x.out.").string(), 0), 0u) << files[0];
    const std::string lines = ReadFile(files[0]);
    ASSERT_GT(lines.size(), 0u);
    EXPECT_EQ(lines.back(), '\n');
    EXPECT_EQ(lines, references.substr(0, lines.size()));
    fs::remove_all(folder);
  }
}

// Whenever the signal comes, the output file is whole or is what it was before.
TEST(InteractiveTest, InterruptionsNeverLeaveHalfAFile) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(testing::TempDir()) / absl::StrCat("nibu_half_", getpid());
  fs::create_directories(folder);
  const fs::path source = folder / "source";
  const fs::path out = folder / "out";
  std::string lines;
  // All lines differ, so that none is translated for another.
  for (int i = 0; i < 20; ++i) {
    lines += absl::StrReplaceAll(ReadFile(TestdataPath("multi30k.en")),
                                 {{"\n", absl::StrCat(" ", i, "\n")}});
  }
  std::ofstream(source) << lines;
  for (int i = 0; i < 10; ++i) {
    std::ofstream(out) << "before\n";
    // The input is a file, so reading does not wait.
    Interactive program({"--compute_type=float32", "--beam_size=1",
                         absl::StrCat("--src=", source.string()),
                         absl::StrCat("--out=", out.string())});
    usleep(static_cast<useconds_t>(100'000 + 60'000 * i));
    program.Signal(i % 2 == 0 ? SIGINT : SIGTERM);
    program.Close();
    const int status = program.Wait();
    const std::string left = ReadFile(out);
    if (status == 0) {
      EXPECT_EQ(std::count(left.begin(), left.end(), '\n'), 20 * 150);
    } else {
      EXPECT_EQ(left, "before\n") << status;
    }
  }
  fs::remove_all(folder);
}

// A shell's background job ignores SIGINT.
TEST(InteractiveTest, AnIgnoredSignalStaysIgnored) {
  const auto before = signal(SIGINT, SIG_IGN);  // The child process inherits it.
  Interactive program({"--compute_type=float32"});
  signal(SIGINT, before);
  program.Write("A dog runs.\n");
  EXPECT_EQ(program.ReadLine(), "Ein Hund rennt.\n");
  program.Signal(SIGINT);
  program.Write("A man is riding a bicycle.\n");
  EXPECT_EQ(program.ReadLine(), "Ein Mann fährt Fahrrad.\n");
  program.Close();
  EXPECT_EQ(program.Wait(), 0);
}

}  // namespace
}  // namespace nibu::internal
