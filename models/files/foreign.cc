// The signatures of other formats, and the messages about them.
#include "models/files/foreign.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "models/files/directory.h"
#include "models/files/file_bytes.h"
#include "models/files/gzip.h"
#include "models/files/zip.h"
#include "nlohmann/json.hpp"

namespace nibu::internal {
namespace {

// The advice for formats without a better one.
constexpr char kSaveAsPyTorch[] =
    "; load the model with Hugging Face transformers and save_pretrained() it as PyTorch weights";

bool IsTar(absl::string_view bytes) {
  return bytes.size() >= 512 && bytes.substr(257, 5) == "ustar";
}

// Returns true for a zip archive that is neither a PyTorch file nor NumPy's .npz, whose first
// members have known names.
bool IsOtherZip(absl::string_view bytes) {
  constexpr size_t kFront = 200;
  const absl::string_view front = bytes.substr(0, kFront);
  return ZipArchive::IsZip(bytes) && !absl::StrContains(front, "/data.pkl") &&
         !absl::StrContains(front, ".npy");
}

// Returns true for a map of 1 to 15 entries whose first key is a string of letters, digits and
// underscores, as Flax writes its weights.
// https://github.com/msgpack/msgpack/blob/master/spec.md
bool IsMsgpack(absl::string_view bytes) {
  if (bytes.size() < 2) return false;
  const auto map = static_cast<uint8_t>(bytes[0]);
  const auto key = static_cast<uint8_t>(bytes[1]);
  if (map <= 0x80 || map > 0x8f || key <= 0xa0 || key > 0xbf) return false;
  const absl::string_view name = bytes.substr(2, key - 0xa0);
  return name.size() == key - 0xa0u && std::all_of(name.begin(), name.end(), [](char c) {
           return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_';
         });
}

// Returns true for the protocol buffer ModelProto. Its field 1, the version of the format, is a
// small number; its field 2 is the name of the program that wrote it.
// https://github.com/onnx/onnx/blob/main/onnx/onnx.proto
bool IsOnnx(absl::string_view bytes) {
  if (bytes.size() < 4 || bytes[0] != 0x08 || bytes[1] < 1 || bytes[1] > 20 || bytes[2] != 0x12) {
    return false;
  }
  const auto length = static_cast<uint8_t>(bytes[3]);
  const absl::string_view program = bytes.substr(4, length);
  return length > 0 && program.size() == length &&
         std::all_of(program.begin(), program.end(),
                     [](char c) { return absl::ascii_isgraph(static_cast<unsigned char>(c)); });
}

constexpr char kHdf5[] = "HDF5, weights of TensorFlow";
constexpr char kFlax[] = "msgpack, weights of Flax";
constexpr char kGguf[] =
    "GGUF, weights of llama.cpp; nibu reads the model that they were made from, in its Hugging "
    "Face directory";
constexpr char kOnnx[] =
    "ONNX, an exported program; nibu reads the model that it was exported from, in its Hugging "
    "Face directory";

constexpr char kTensorFlowCheckpoint[] =
    "a TensorFlow checkpoint, as OpenNMT-tf writes them; convert it with "
    "ct2-opennmt-tf-converter: nibu reads the result";

// Files that are recognized by their names. The first entry that fits counts.
struct Name {
  absl::string_view begin;
  absl::string_view end;
  absl::string_view what;
  bool save_as_pytorch = false;
};
constexpr Name kNames[] = {
    {"tf_model", "", kHdf5, true},
    {"", ".h5", kHdf5, true},
    {"saved_model.pb", "", "a TensorFlow SavedModel", true},
    {"flax_model", "", kFlax, true},
    {"", ".gguf", kGguf},
    {"", ".onnx", kOnnx},
    {"rust_model", ".ot", "weights of rust-bert", true},
    {"ckpt-", ".index", kTensorFlowCheckpoint},
    {"model.ckpt-", ".index", kTensorFlowCheckpoint},
    {"adapter_", "",
     "a PEFT adapter without its base model; merge both with merge_and_unload() and save the "
     "whole"},
};

}  // namespace

bool IsGitLfsPointer(absl::string_view bytes) {
  return absl::StartsWith(bytes, "version https://git-lfs.github.com/spec/");
}

absl::Status GitLfsPointerError(const std::string& path) {
  return absl::DataLossError(absl::StrCat(path, ": this is a Git LFS pointer: run git lfs pull"));
}

namespace {

// Explains a gzip file. It is no model of Marian's, since the readers of those have had their turn.
absl::Status RefuseGzip(const std::string& path, absl::string_view bytes) {
  constexpr size_t kFront = 4096;
  const std::string front = FrontOf(bytes, kFront);
  if (front.empty()) {
    return Invalid(path, ": compressed by gzip, but damaged or not whole; download it again");
  }
  if (IsTar(front)) {
    return Invalid(path,
                   ": a tar archive compressed by gzip; unpack it with tar -xzf, and give the "
                   "folder in it as the model");
  }
  if (!IsGzip(front) && !IsGitLfsPointer(front)) {
    NIBU_RETURN_IF_ERROR(RefuseForeignFile(path, front));
  }
  return Invalid(
      path,
      ": compressed by gzip, and what is in it is no model of Marian, the only ones that "
      "nibu reads compressed; if it is another model, run gunzip on it and on the files "
      "beside it");
}

}  // namespace

absl::Status RefuseForeignFile(const std::string& path, absl::string_view bytes) {
  if (IsGitLfsPointer(bytes)) return GitLfsPointerError(path);
  const std::string name = std::filesystem::path(path).filename().string();
  if (IsGzip(bytes)) return RefuseGzip(path, bytes);
  if (IsTar(bytes)) {
    return Invalid(
        path, ": a tar archive; unpack it with tar -xf, and give the folder in it as the model");
  }
  if (absl::StartsWith(bytes, "\x89HDF\r\n\x1a\n"))
    return NotSupported(path, ": ", kHdf5, kSaveAsPyTorch);
  if (absl::StartsWith(bytes, "GGUF")) return NotSupported(path, ": ", kGguf);
  const absl::string_view front = bytes.substr(0, bytes.find_first_of(">\n"));
  if (absl::StartsWithIgnoreCase(front, "<!doctype html") ||
      absl::StartsWithIgnoreCase(front, "<html")) {
    return Invalid(path, ": an HTML page, not a model; download the file itself");
  }
  if (IsMsgpack(bytes)) return NotSupported(path, ": ", kFlax, kSaveAsPyTorch);
  if (IsOnnx(bytes)) return NotSupported(path, ": ", kOnnx);
  for (const Name& known : kNames) {
    if (!absl::StartsWith(name, known.begin) || !absl::EndsWith(name, known.end)) continue;
    return NotSupported(path, ": ", known.what, known.save_as_pytorch ? kSaveAsPyTorch : "");
  }
  if (IsOtherZip(bytes)) {
    return Invalid(path, ": a zip archive", kUnpackZip);
  }
  return absl::OkStatus();
}

absl::Status RefuseForeignDirectory(const std::string& directory) {
  NIBU_ASSIGN_OR_RETURN(const auto files, FilesIn(directory));
  for (const std::string& path : files) {
    const auto file = FileBytes::Open(path);
    if (absl::IsDataLoss(file.status())) return file.status();
    NIBU_RETURN_IF_ERROR(RefuseForeignFile(path, file.ok() ? (*file)->bytes() : ""));
  }
  return absl::OkStatus();
}

absl::Status RefuseForeignQuantization(const ConfigFile& config) {
  const auto refuse = [&](absl::string_view how) {
    return NotSupported(
        config.file(), ": the weights are quantized with ", how,
        "; nibu reads the model that they were made from (float32, float16 or bfloat16), and "
        "quantizes it itself");
  };
  if (config.Find("quantization_bits") != nullptr) return refuse("CTranslate2's AWQ");
  std::error_code error;
  if (std::filesystem::exists(DirectoryOf(config.file()) + "/quantize_config.json", error)) {
    return refuse("GPTQ");
  }
  const nlohmann::json* found = config.Find("quantization_config");
  if (found == nullptr || !found->is_object()) return absl::OkStatus();
  const auto is_on = [&](const char* key) {
    const auto value = found->find(key);
    return value != found->end() && *value == true;
  };
  if (is_on("load_in_8bit") || is_on("load_in_4bit")) return refuse("bitsandbytes");
  const auto method = found->find("quant_method");
  if (method == found->end() || !method->is_string()) return refuse("an unknown method");
  const std::string name = method->get<std::string>();
  return refuse(name == "gptq" || name == "awq" ? absl::AsciiStrToUpper(name)
                                                : PrintableLine(name));
}

}  // namespace nibu::internal
