// nibu-convert reads a model of any format and writes it in another one.

#include <filesystem>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "engine/core/status_macros.h"
#include "models/files/new_file.h"
#include "models/writers/hugging_face_writer.h"
#include "models/writers/native_writer.h"
#include "tools/cli/cli_options.h"
#include "tools/cli/convert_options.h"
#include "tools/cli/flags.h"
#include "tools/cli/model_flags.h"
#include "tools/cli/output_file.h"
#include "tools/text/model/model_parts.h"

namespace nibu::internal {
namespace {

struct Settings {
  CliOptions cli;
  ModelOptions model;
  ConvertOptions convert;
};

ProgramInfo Program(Settings* settings) {
  return {
      "nibu-convert",
      "convert",
      "--out=FILE.nibu|DIRECTORY/ [flags]",
      "Writes a model of any supported format as one .nibu file, or as a Hugging Face directory.\n"
      "A .nibu file is loaded at once, and processes that load it share its memory. What\n"
      "--sentencepiece, --shortlist, --encoder_attention and --cross_attention name is written\n"
      "into the output.",
      {{CliOptionRows(), &settings->cli},
       {ModelOptionRows(), &settings->model},
       {ConvertOptionRows(), &settings->convert}}};
}

// Returns the size of a file, or of all files in a directory.
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

absl::StatusOr<bool> IsNativeTarget(const ConvertOptions& options) {
  if (options.format != Format::kAuto) return options.format == Format::kNibu;
  if (absl::EndsWith(options.out, ".nibu")) return true;
  if (absl::EndsWith(options.out, "/")) return false;
  return WrongUsage("--out must end in .nibu or in / (a directory), or --format must be given");
}

// Converts an enumeration above, which has the compute types in this order from `first` on.
template <typename T>
ComputeType TypeOf(T value, T first) {
  constexpr ComputeType kTypes[] = {ComputeType::kFloat32, ComputeType::kBFloat16,
                                    ComputeType::kInt8};
  return kTypes[static_cast<int>(value) - static_cast<int>(first)];
}

NativeOptions OptionsOfNative(const ConvertOptions& asked) {
  NativeOptions options;
  if (asked.quantization != StoredType::kAsItIs) {
    options.quantization = TypeOf(asked.quantization, StoredType::kFloat32);
  }
  if (asked.prepack == Prepack::kAuto) options.packed = FastestComputeType();
  if (asked.prepack > Prepack::kNone) options.packed = TypeOf(asked.prepack, Prepack::kFloat32);
  return options;
}

absl::Status Run(int argc, char** argv) {
  static SignalWatcher& signals = *new SignalWatcher();
  signals.SetBeforeEnd(PendingPath::RemoveAll);
  Settings settings;
  const auto& [cli, loading, convert] = settings;
  ParseCommandLineOrExit(Program(&settings), argc, argv);
  const bool is_shape = !convert.config.empty();
  if (is_shape && !cli.model.empty()) return WrongUsage("give --model or --config, not both");
  NIBU_ASSIGN_OR_RETURN(std::string path, ReadOneModelFlag(cli.model, loading));
  if (is_shape) path = convert.config;
  const std::string& out = convert.out;
  if (out.empty()) return WrongUsage("--out=FILE.nibu or --out=DIRECTORY/ is missing");
  NIBU_ASSIGN_OR_RETURN(const bool native, IsNativeTarget(convert));
  const NativeOptions options = OptionsOfNative(convert);
  if (!native && options.quantization == ComputeType::kInt8) {
    return WrongUsage(
        "--quantization=int8 needs a .nibu file; safetensors are float32 or bfloat16");
  }
  if (!native && WasGiven("prepack")) {
    return WrongUsage("--prepack is for a .nibu file; safetensors hold no packed weights");
  }
  NIBU_ASSIGN_OR_RETURN(OpenedModel model, OpenModelOrShape(path, is_shape, loading));
  NIBU_RETURN_IF_ERROR(UsageOfFlag(ApplyOverrides(loading, &model)));
  std::string note;
  NIBU_RETURN_IF_ERROR(native ? WriteNative(model, options, out, &note)
                              : WriteHuggingFace(model, options.quantization, out));
  if (!note.empty()) PrintWarning(note);
  absl::PrintF("%s (%s) -> %s (%.1f MB)\n", path, model.format, out,
               static_cast<double>(BytesOf(out)) / 1e6);
  return absl::OkStatus();
}

}  // namespace
}  // namespace nibu::internal

int main(int argc, char** argv) {
  return nibu::internal::ExitStatus(nibu::internal::Run(argc, argv));
}
