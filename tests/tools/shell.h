// Runs programs by a shell, as a user does.
#ifndef NIBU_TESTS_TOOLS_SHELL_H_
#define NIBU_TESTS_TOOLS_SHELL_H_

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"

namespace nibu::internal {

inline std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

inline std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines = absl::StrSplit(text, '\n');
  EXPECT_EQ(lines.back(), "");  // Every line ends with a line feed.
  lines.pop_back();
  return lines;
}

struct Outcome {
  int status = 0;
  std::string out;
  std::string err;
};

// Runs a shell command. `input`: its standard input.
inline Outcome Shell(const std::string& command, const std::string& input) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(::testing::TempDir()) / absl::StrCat("nibu_cli_", getpid());
  fs::create_directories(folder);
  std::ofstream(folder / "in", std::ios::binary) << input;
  const std::string full =
      absl::StrCat("( ", command, " ) <'", (folder / "in").string(), "' >'",
                   (folder / "out").string(), "' 2>'", (folder / "err").string(), "'");
  const int status = std::system(full.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
          ReadFile((folder / "out").string()), ReadFile((folder / "err").string())};
}

// Expects that `program` failed with that status, printed nothing on standard output, and printed
// one line of error that has `part`.
inline void ExpectOneLineError(const std::string& program, const Outcome& outcome, int status,
                               const std::string& part) {
  EXPECT_EQ(outcome.status, status);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err.rfind(program + ": error: ", 0), 0u) << outcome.err;
  EXPECT_EQ(outcome.err.find('\n'), outcome.err.size() - 1) << outcome.err;
  EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
}

}  // namespace nibu::internal

#endif  // NIBU_TESTS_TOOLS_SHELL_H_
