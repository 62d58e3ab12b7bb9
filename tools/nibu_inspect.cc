// nibu-inspect: what a model is made of.

#include <cstdio>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
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
      "Tells a model's format, architecture, size, vocabulary and tensors, and what loading it\n"
      "costs. Exit status 1: the model, or a part of it, cannot be used.",
      {{"What", {"model", "tensors", "compute_type"}}, {"Output", {"json"}}}};
}

int Main(int argc, char** argv) {
  ParseCommandLineOrExit(Program(), argc, argv);
  const absl::StatusOr<ModelFlags> flags = ReadModelFlags();
  if (!flags.ok()) return Fail(flags.status(), kExitUsage);
  InspectOptions options;
  options.compute_type = flags->compute_type;
  options.tensors = absl::GetFlag(FLAGS_tensors);
  const absl::StatusOr<Inspection> inspection = Inspect(flags->path, options);
  if (!inspection.ok()) return Fail(inspection.status(), kExitFailure);
  const std::string text =
      absl::GetFlag(FLAGS_json)
          ? inspection->facts.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n"
          : InspectionText(inspection->facts);
  std::fputs(text.c_str(), stdout);
  return inspection->status.ok() ? 0 : Fail(inspection->status, kExitFailure);
}

}  // namespace
}  // namespace nibu

int main(int argc, char** argv) { return nibu::Main(argc, argv); }
