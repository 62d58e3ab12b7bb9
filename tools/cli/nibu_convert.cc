// nibu-convert: a model of any format in, another format out.

#include <filesystem>
#include <system_error>

#include "absl/flags/flag.h"
#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "models/files/new_file.h"
#include "models/writers/hugging_face_writer.h"
#include "models/writers/native_writer.h"
#include "tools/cli/decoding_flags.h"
#include "tools/cli/flags.h"
#include "tools/cli/output_file.h"

ABSL_FLAG(std::string, out, "",
          "What to write: NAME.nibu, or a directory (NAME/) with safetensors. It appears whole, "
          "after it has been read back.");
ABSL_FLAG(std::string, format, "auto",
          "nibu (one file, used from where it lies); safetensors (a Hugging Face MarianMT "
          "directory); auto: as --out ends.");
ABSL_FLAG(std::string, config, "",
          "In place of --model: random weights of the shape in this file (configs/*.json), to "
          "measure with.");
ABSL_FLAG(std::string, quantization, "",
          "Type of the written weights: float32, bfloat16 or int8 (nibu only); empty: as they are. "
          "What is int8 already stays as it is with int8.");
ABSL_FLAG(std::string, prepack, "auto",
          "nibu: the compute type whose weights are also written packed for this CPU, so that they "
          "need not be at every start: float32, bfloat16, int8; auto: what --compute_type=auto is "
          "here; none. On other CPUs, and for other compute types, weights are packed at start.");

namespace nibu::internal {
namespace {

ProgramInfo Program() {
  return {"nibu-convert",
          "--out=FILE.nibu|DIRECTORY/ [flags]",
          "Writes one model of any supported format as one .nibu file, which starts at once and\n"
          "shares its memory between processes, or as a Hugging Face directory.",
          {{"What", "model sentencepiece config out format"},
           {"How", "quantization prepack shortlist encoder_attention"}}};
}

// Of a file, or of the files in a directory.
uint64_t BytesOf(const std::filesystem::path& path) {
  std::error_code error;
  const uint64_t own = std::filesystem::file_size(path, error);
  if (!error) return own;
  uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
    bytes += BytesOf(entry);
  }
  return bytes;
}

absl::StatusOr<bool> IsNativeTarget(const std::string& out) {
  if (absl::GetFlag(FLAGS_format) != "auto") {
    return Choose<bool>("format", {{"auto", false}, {"nibu", true}, {"safetensors", false}});
  }
  if (absl::EndsWith(out, ".nibu")) return true;
  if (absl::EndsWith(out, "/")) return false;
  return WrongUsage("--out must end in .nibu or in / (a directory), or --format must be given");
}

absl::StatusOr<NativeOptions> ReadOptions() {
  NativeOptions options;
  if (!absl::GetFlag(FLAGS_quantization).empty()) {
    NIBU_ASSIGN_OR_RETURN(options.quantization, ChooseComputeType("quantization"));
  }
  if (absl::GetFlag(FLAGS_prepack) != "none") {
    NIBU_ASSIGN_OR_RETURN(options.packed,
                          ChooseComputeType("prepack", {{"auto", FastestComputeType()},
                                                        {"none", ComputeType::kFloat32}}));
  }
  return options;
}

absl::Status Run(int argc, char** argv) {
  static SignalWatcher& signals = *new SignalWatcher();
  signals.SetBeforeEnd(PendingPath::RemoveAll);
  ParseCommandLineOrExit(Program(), argc, argv);
  NIBU_ASSIGN_OR_RETURN(ModelFlags flags, ReadOneModelFlags());
  const std::string config = absl::GetFlag(FLAGS_config);
  if (!config.empty() && WasGiven("model")) {
    return WrongUsage("give --model or --config, not both");
  }
  flags.random_weights = !config.empty();
  if (!config.empty()) flags.path = config;
  const std::string out = absl::GetFlag(FLAGS_out);
  if (out.empty()) return WrongUsage("--out=FILE.nibu or --out=DIRECTORY/ is missing");
  NIBU_ASSIGN_OR_RETURN(const bool native, IsNativeTarget(out));
  NIBU_ASSIGN_OR_RETURN(const NativeOptions options, ReadOptions());
  if (!native && options.quantization == ComputeType::kInt8) {
    return WrongUsage(
        "--quantization=int8 needs a .nibu file; safetensors are float32 or bfloat16");
  }
  if (!native && WasGiven("prepack")) {
    return WrongUsage("--prepack is for a .nibu file; safetensors hold no packed weights");
  }
  NIBU_ASSIGN_OR_RETURN(OpenedModel model, Open(flags));
  NIBU_RETURN_IF_ERROR(UsageOfFlag(Complete(flags.text, &model)));
  NIBU_RETURN_IF_ERROR(native ? WriteNative(model, options, out)
                              : WriteHuggingFace(model, options.quantization, out));
  absl::PrintF("%s (%s) -> %s (%.1f MB)\n", flags.path, model.format, out,
               static_cast<double>(BytesOf(out)) / 1e6);
  return absl::OkStatus();
}

}  // namespace
}  // namespace nibu::internal

int main(int argc, char** argv) {
  return nibu::internal::ExitStatus(nibu::internal::Run(argc, argv));
}
