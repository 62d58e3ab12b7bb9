// Runs nibu-translate and nibu-score as a user does, and reads their output.
#ifndef NIBU_TESTS_TOOLS_PROGRAMS_H_
#define NIBU_TESTS_TOOLS_PROGRAMS_H_

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "nlohmann/json.hpp"
#include "tests/paths.h"
#include "tests/tools/shell.h"

namespace nibu::internal {

inline Outcome Translate(const std::string& flags, const std::string& input) {
  return Shell(absl::StrCat(CaptionsProgram("nibu-translate"), " ", flags), input);
}

inline Outcome Score(const std::string& flags, const std::string& input = "") {
  return Shell(absl::StrCat(CaptionsProgram("nibu-score"), " ", flags), input);
}

inline void ExpectUsageError(const Outcome& outcome, const std::string& part) {
  ExpectOneLineError("nibu-translate", outcome, 2, part);
}

// Writes a file with these bytes and returns its path, for a shell.
inline std::string TestFile(const std::string& name, const std::string& bytes) {
  const auto folder =
      std::filesystem::path(::testing::TempDir()) / absl::StrCat("nibu_cli_", getpid());
  std::filesystem::create_directories(folder);
  std::ofstream(folder / name, std::ios::binary) << bytes;
  return (folder / name).string();
}

// Returns the first captions of multi30k.en.
inline std::string Captions(size_t count) {
  std::vector<std::string> lines = Lines(ReadFile(TestdataPath("multi30k.en")));
  lines.resize(count);
  return absl::StrJoin(lines, "\n") + "\n";
}

// Returns the parsed lines of an output in jsonl.
inline std::vector<nlohmann::json> JsonLines(const Outcome& outcome) {
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  std::vector<nlohmann::json> lines;
  for (const std::string& line : Lines(outcome.out)) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

// Returns the hypotheses of one line of input.
inline nlohmann::json Hypotheses(const std::string& flags, const std::string& line) {
  const auto lines =
      JsonLines(Translate(absl::StrCat("--output_format=jsonl ", flags), absl::StrCat(line, "\n")));
  EXPECT_EQ(lines.size(), 1u);
  return lines.empty() ? nlohmann::json() : lines[0]["hypotheses"];
}

inline std::vector<std::string> TokensOf(const nlohmann::json& hypothesis) {
  return hypothesis["tokens"].get<std::vector<std::string>>();
}

}  // namespace nibu::internal

#endif  // NIBU_TESTS_TOOLS_PROGRAMS_H_
