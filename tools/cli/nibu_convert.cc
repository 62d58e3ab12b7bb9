// nibu-convert reads a model of any format and writes it in another one.

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "models/assembly/target_vocabulary.h"
#include "models/files/new_file.h"
#include "models/native/unpack.h"
#include "models/writers/hugging_face_writer.h"
#include "models/writers/native_writer.h"
#include "tools/cli/cli_options.h"
#include "tools/cli/convert_options.h"
#include "tools/cli/flags.h"
#include "tools/cli/lines.h"
#include "tools/cli/model_flags.h"
#include "tools/cli/output_file.h"
#include "tools/text/model/model_parts.h"
#include "tools/text/model/text_coder.h"

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

// Writes the tokens of a text to `out`, one a line, the most frequent ones first.
absl::Status ListVocabulary(OpenedModel model, const std::string& corpus, const std::string& out) {
  NIBU_ASSIGN_OR_RETURN(const TextCoder coder, TextCoder::Create(&model.vocabulary, model.config));
  NIBU_ASSIGN_OR_RETURN(InputLines lines, InputLines::Open(corpus));
  std::unordered_map<std::string, int64_t> counts;
  for (std::string line;;) {
    NIBU_ASSIGN_OR_RETURN(const bool is_line, lines.Next(&line));
    if (!is_line) break;
    NIBU_ASSIGN_OR_RETURN(const std::vector<std::string> pieces, coder.TargetPieces(line));
    const std::vector<int> ids = IdsOf(coder.target_vocabulary(), pieces);
    for (const int id : ids) ++counts[coder.target_vocabulary().Token(id)];
  }
  std::vector<std::pair<int64_t, std::string>> sorted;
  sorted.reserve(counts.size());
  for (const auto& [token, count] : counts) sorted.emplace_back(-count, token);
  std::sort(sorted.begin(), sorted.end());
  std::string text;
  for (const auto& [count, token] : sorted) absl::StrAppend(&text, token, "\n");
  OutputFile file(out);
  NIBU_RETURN_IF_ERROR(file.Open());
  NIBU_RETURN_IF_ERROR(WriteAll(file.fd(), text));
  return file.Commit();
}

absl::Status RestrictToFile(const std::string& path, OpenedModel* model) {
  NIBU_ASSIGN_OR_RETURN(InputLines lines, InputLines::Open(path));
  std::vector<std::string> tokens;
  for (std::string line;;) {
    NIBU_ASSIGN_OR_RETURN(const bool is_line, lines.Next(&line));
    if (!is_line) break;
    if (!line.empty()) tokens.push_back(line);
  }
  const absl::Status status = RestrictOutput(tokens, model);
  return absl::IsInvalidArgument(status) ? Invalid(path, ": ", status.message()) : status;
}

// Returns the type to write; without a value, the stored types are kept.
Quantization QuantizationFor(StoredType asked) {
  switch (asked) {
    case StoredType::kAsItIs:
      return std::nullopt;
    case StoredType::kFloat32:
      return ComputeType::kFloat32;
    case StoredType::kBFloat16:
      return ComputeType::kBFloat16;
    case StoredType::kInt8:
      return ComputeType::kInt8;
    case StoredType::kInt4:
      return ComputeType::kInt4;
  }
  return std::nullopt;
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
  if (!convert.list_vocabulary.empty()) {
    NIBU_ASSIGN_OR_RETURN(OpenedModel model, OpenModelOrShape(path, is_shape, loading));
    NIBU_RETURN_IF_ERROR(UsageOfFlag(ApplyOverrides(loading, &model)));
    return ListVocabulary(std::move(model), convert.list_vocabulary, out);
  }
  NIBU_ASSIGN_OR_RETURN(const bool native, IsNativeTarget(convert));
  const Quantization quantization = QuantizationFor(convert.quantization);
  if (!native && quantization.has_value() && HasInt8Inputs(*quantization)) {
    return WrongUsage("--quantization=", ComputeTypeName(*quantization),
                      " needs a .nibu file; safetensors are float32 or bfloat16");
  }
  NIBU_ASSIGN_OR_RETURN(OpenedModel model, OpenModelOrShape(path, is_shape, loading));
  NIBU_RETURN_IF_ERROR(UnpackLinears(&model));
  NIBU_RETURN_IF_ERROR(UsageOfFlag(ApplyOverrides(loading, &model)));
  if (!convert.target_vocabulary.empty()) {
    NIBU_RETURN_IF_ERROR(RestrictToFile(convert.target_vocabulary, &model));
  }
  std::string note;
  NIBU_RETURN_IF_ERROR(native ? WriteNative(model, quantization, out, &note)
                              : WriteHuggingFace(model, quantization, out));
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
