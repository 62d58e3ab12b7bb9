// nibu-marian translates and scores with the command lines of Marian's marian-decoder and
// marian-scorer.

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engine/core/status_macros.h"
#include "engine/ops/cpu.h"
#include "nibu/nibu.h"
#include "tools/cli/flags.h"
#include "tools/marian/marian_commands.h"
#include "tools/marian/marian_options.h"
#include "tools/marian/marian_output.h"

namespace nibu::internal {
namespace {

constexpr char kConventions[] =
    "Options are shown with their default values. A value stands behind = or a blank,\n"
    "and the values of a list end at the next flag.";

// The command `score`, as the program of this name.
ProgramInfo ScoreProgram(const std::string& name) {
  return {.name = name,
          .key = "score",
          .usage = "[flags]",
          .description =
              "Scores the lines of a text as translations of the same lines of another, with the\n"
              "command line of marian-scorer.",
          .parts = {{MarianOptionRows(), nullptr}},
          .conventions = kConventions};
}

ProgramInfo DecodeProgram(const std::string& name) {
  return {.name = name,
          .key = "decode",
          .usage = "[decode|score] [flags]",
          .description =
              "Translates lines with a Marian model and the command line of marian-decoder. The\n"
              "command score, and the names marian-decoder and marian-scorer, choose the program "
              "of\nMarian whose command line is understood.",
          .parts = {{MarianOptionRows(), nullptr}},
          .commands = {ScoreProgram(absl::StrCat(name, " score"))},
          .conventions = kConventions};
}

// Answers the options that ask for something else than translations. Returns whether there is one.
bool Answer(const MarianOptions& options) {
  if (options.IsOn("version")) {
    std::fprintf(stderr, "nibu-marian %s\n", Version());
    return true;
  }
  if (options.WasGiven("build-info")) {
    std::fprintf(stderr, "nibu-marian %s\nInstruction set: %s\nCompiler: %s\n", Version(),
                 InstructionSet().c_str(), __VERSION__);
    return true;
  }
  if (const std::string kind = options.Text("dump-config"); !kind.empty() && kind != "false") {
    for (const std::string& line : options.Yaml(/*all=*/kind != "minimal")) {
      std::printf("%s\n", line.c_str());
    }
    return true;
  }
  return false;
}

absl::Status Run(int argc, char** argv) {
  static SignalWatcher& signals = *new SignalWatcher();
  const std::string name = std::filesystem::path(argv[0]).filename().string();
  BeginProgram(name);
  std::vector<std::string> arguments(argv + 1, argv + argc);
  MarianCommand command = name == "marian-scorer" ? MarianCommand::kScore : MarianCommand::kDecode;
  std::string called = name;
  if (!arguments.empty() && (arguments[0] == "decode" || arguments[0] == "score")) {
    if (arguments[0] == "score") {
      command = MarianCommand::kScore;
      called += " score";
    }
    arguments.erase(arguments.begin());
  }
  AnswerHelp(command == MarianCommand::kScore ? ScoreProgram(called) : DecodeProgram(name),
             arguments);
  if (name == "marian-server") return WrongUsage("this is no server; nibu-serve is one");
  NIBU_ASSIGN_OR_RETURN(const MarianOptions options, MarianOptions::Read(command, arguments));
  if (Answer(options)) return absl::OkStatus();
  MarianLog log;
  NIBU_RETURN_IF_ERROR(log.Open(options));
  log.Info(absl::StrCat("[nibu] nibu-marian ", Version()));
  for (const std::string& line : options.Yaml(/*all=*/true)) log.Info("[config] " + line);
  if (const std::vector<std::string> ignored = options.Ignored(); !ignored.empty()) {
    log.Info(absl::StrCat("These options mean nothing here, and are ignored: ",
                          absl::StrJoin(ignored, " ")));
  }
  return command == MarianCommand::kScore ? ScoreMarian(options, &log, &signals)
                                          : DecodeMarian(options, &log, &signals);
}

}  // namespace
}  // namespace nibu::internal

int main(int argc, char** argv) {
  return nibu::internal::ExitStatus(nibu::internal::Run(argc, argv));
}
