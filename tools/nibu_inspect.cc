// nibu-inspect: what a model is made of.

#include <cstdio>
#include <string>

#include "absl/flags/flag.h"
#include "engine/core/status_macros.h"
#include "tools/decoding_flags.h"
#include "tools/flags.h"
#include "tools/inspect.h"

ABSL_FLAG(bool, tensors, true,
          "Every tensor: name, type, shape, bytes, smallest and largest value, "
          "NaNs; a .nibu file's checksums are verified.");
ABSL_FLAG(bool, json, false, "One JSON object instead of text.");

namespace nibu {
namespace {

ProgramInfo Program() {
  return {
      "nibu-inspect",
      "--model=PATH [flags]",
      "Tells a model's format, licence, languages, architecture, size, vocabulary and tensors,\n"
      "and what loading it costs. Exit status 1: it, or a part of it, cannot be used.",
      {{"What", {"model", "tensors", "compute_type"}}, {"Output", {"json"}}}};
}

absl::Status Run(int argc, char** argv) {
  ParseCommandLineOrExit(Program(), argc, argv);
  NIBU_ASSIGN_OR_RETURN(const ModelFlags flags, UsageError(ReadModelFlags()));
  NIBU_ASSIGN_OR_RETURN(const Inspection inspection,
                        Inspect(flags.path, flags.compute_type, absl::GetFlag(FLAGS_tensors)));
  const std::string text =
      absl::GetFlag(FLAGS_json)
          ? inspection.facts.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n"
          : inspection.text;
  std::fputs(text.c_str(), stdout);
  return inspection.status;
}

}  // namespace
}  // namespace nibu

int main(int argc, char** argv) { return nibu::ExitStatus(nibu::Run(argc, argv)); }
