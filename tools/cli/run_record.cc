// Describes runs, and reads and writes the records of interrupted ones.
#include "tools/cli/run_record.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <system_error>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/core/status_macros.h"
#include "tools/text/options/option_groups.h"

namespace nibu::internal {
namespace {

namespace fs = std::filesystem;

constexpr auto kWhole = std::numeric_limits<uint64_t>::max();
// Of each of a model's files, so many bytes at the beginning and at the end are looked at. These
// have its header and some of its weights, and two models share neither; to read all of a large
// model takes seconds.
constexpr uint64_t kModelBytes = uint64_t{1} << 16;

// Adds a file's bytes to a checksum: all, or `most` of them at its beginning and at its end.
absl::Status AddFile(const fs::path& path, uint64_t most, uint64_t* size, uLong* crc) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const auto end = static_cast<int64_t>(file.tellg());
  file.seekg(0);
  std::vector<char> bytes(size_t{1} << 16);
  const auto add = [&](uint64_t left) {
    while (left > 0 && file.read(bytes.data(), static_cast<std::streamsize>(
                                                   std::min<uint64_t>(left, bytes.size())))
                               .gcount() > 0) {
      *crc = crc32(*crc, reinterpret_cast<const Bytef*>(bytes.data()),
                   static_cast<uInt>(file.gcount()));
      left -= static_cast<uint64_t>(file.gcount());
    }
  };
  add(most);
  if (most < static_cast<uint64_t>(end)) {
    file.seekg(std::max<int64_t>(end - static_cast<int64_t>(most), static_cast<int64_t>(most)));
    add(most);
  }
  if (end < 0 || file.bad()) {
    return absl::UnavailableError(absl::StrCat(path.string(), ": cannot be read"));
  }
  *size += static_cast<uint64_t>(end);
  return absl::OkStatus();
}

// Returns the size and checksum of all bytes of a file.
absl::StatusOr<std::string> FilePrint(const std::string& path) {
  uint64_t size = 0;
  uLong crc = 0;
  NIBU_RETURN_IF_ERROR(AddFile(path, kWhole, &size, &crc));
  return absl::StrFormat("%d bytes, CRC-32 %08x", size, crc);
}

// Returns whether a file belongs to a model by its name: beside a model there may be anything, such
// as the output.
bool IsModelFile(const fs::path& path) {
  constexpr absl::string_view kEndings[] = {
      ".nibu", ".npz",  ".bin",  ".safetensors", ".pt",     ".pth", ".argosmodel", ".json",
      ".yml",  ".yaml", ".spm",  ".model",       ".vocab",  ".bpe", ".codes",      ".s2t",
      ".txt",  ".vmap", ".dict", ".tokens",      ".config", ".gz"};
  return absl::c_linear_search(kEndings, absl::string_view(path.extension().native()));
}

// Returns the size and checksum of a model: a directory with all below it, or a file with those
// beside it, which may be its vocabularies and configuration.
absl::StatusOr<std::string> ModelPrint(const std::string& path) {
  std::set<fs::path> files;
  std::error_code error;
  const bool is_whole = !fs::is_directory(path, error) && path.ends_with(".nibu");
  const fs::path folder =
      fs::is_directory(path, error) ? fs::path(path) : fs::path(path).parent_path();
  if (is_whole || folder.empty()) files.insert(path);
  const auto add = [&](const fs::directory_entry& entry) {
    if (entry.is_regular_file(error) && IsModelFile(entry.path())) files.insert(entry.path());
  };
  if (fs::is_directory(path, error)) {
    for (const auto& entry : fs::recursive_directory_iterator(folder, error)) add(entry);
  } else if (!is_whole) {
    for (const auto& entry : fs::directory_iterator(folder.empty() ? "." : folder, error)) {
      add(entry);
    }
  }
  uint64_t size = 0;
  uLong crc = 0;
  for (const fs::path& file : files) NIBU_RETURN_IF_ERROR(AddFile(file, kModelBytes, &size, &crc));
  return absl::StrFormat("%d bytes, CRC-32 %08x", size, crc);
}

// JSON has only UTF-8, and a value may have any bytes.
std::string Utf8(const std::string& text) {
  const std::string json = nlohmann::ordered_json(text).dump(
      -1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  return nlohmann::ordered_json::parse(json).get<std::string>();
}

// Options that do not change what a run writes, or are described in another way.
bool IsLeftOut(absl::string_view name) {
  constexpr absl::string_view kNames[] = {
      "src",    "out",          "config",   "progress", "stats",      "warnings",
      "resume", "model",        "pivot",    "threads",  "batch_size", "batch_type",
      "matmul", "compute_type", "ensemble", "tgt",      "queue_size"};
  return absl::c_linear_search(kNames, name);
}

absl::Status CannotWrite(const std::string& path) {
  return absl::UnavailableError(absl::StrCat(path, ": cannot be written: ", std::strerror(errno)));
}

}  // namespace

absl::StatusOr<nlohmann::ordered_json> DescribeRun(const ProgramInfo& program,
                                                   const ModelInfo& model, const std::string& src) {
  nlohmann::ordered_json run = {{"program", program.name}, {"version", NIBU_VERSION}};
  std::vector<std::string> models = {model.path};
  models.insert(models.end(), model.ensemble.begin(), model.ensemble.end());
  if (!model.pivot.empty()) models.push_back(model.pivot);
  for (const std::string& path : models) {
    NIBU_ASSIGN_OR_RETURN(const std::string print, ModelPrint(path));
    run["model"].push_back(print);
  }
  run["compute_type"] = ComputeTypeName(model.compute_type);
  NIBU_ASSIGN_OR_RETURN(run["input"], FilePrint(src));
  const Options built_in;
  run["defaults"] = nlohmann::ordered_json::object();
  for (const OptionRow& row : TextOptionRows()) {
    if (row.equal(&model.defaults, &built_in)) continue;
    run["defaults"][row.info.name] = Utf8(row.get(row.info, &model.defaults));
  }
  run["options"] = nlohmann::ordered_json::object();
  for (const ProgramOption& option : OptionsOf(program)) {
    std::string value = option.value();
    // A built-in value that was given takes precedence over that of the model.
    const bool is_own = WasGiven(option.name()) || value != option.row->default_value;
    if (IsLeftOut(option.name()) || !is_own) continue;
    std::error_code error;
    if (absl::string_view(option.row->info.type) == "path" && fs::exists(value, error)) {
      NIBU_ASSIGN_OR_RETURN(value,
                            fs::is_directory(value, error) ? ModelPrint(value) : FilePrint(value));
    }
    run["options"][std::string(option.name())] = Utf8(value);
  }
  return run;
}

RunRecord::~RunRecord() {
  if (fd_ >= 0) close(fd_);
}

absl::StatusOr<Finished> RunRecord::Read(bool must_fit) const {
  std::ifstream file(path_);
  // No record is nested deeper; the library's recursion is as deep as a value is.
  const auto is_shallow = [](int depth, auto, auto&) { return depth < 8; };
  auto found = nlohmann::ordered_json::parse(file, is_shallow, /*allow_exceptions=*/false);
  Finished finished;
  bool is_record = found.is_object();
  for (const auto& [name, value] :
       {std::pair("units", &finished.units), std::pair("bytes", &finished.bytes),
        std::pair("failed", &finished.failed), std::pair("first_failed", &finished.first_failed)}) {
    is_record = is_record && found.contains(name) && found[name].is_number_unsigned();
    if (!is_record) break;
    *value = found[name].get<uint64_t>();
    found.erase(name);
  }
  if (!is_record) {
    return absl::FailedPreconditionError(
        absl::StrCat(part_, ": is there already, and ", path_,
                     " does not say what run it is of; remove it, or give --out another name"));
  }
  if (!must_fit) return finished;
  const nlohmann::ordered_json ours = run_.flatten();
  const nlohmann::ordered_json theirs = found.flatten();
  std::set<std::string> names;
  for (const auto* run : {&ours, &theirs}) {
    for (const auto& [name, value] : run->items()) names.insert(name);
  }
  names.erase("");  // the library's name for what is in an empty object
  for (const std::string& name : names) {
    const auto value = [&](const nlohmann::ordered_json& run) {
      return run.contains(name) ? run[name].dump() : std::string("none");
    };
    if (value(theirs) == value(ours)) continue;
    const std::string option = "/options/";
    return absl::FailedPreconditionError(absl::StrCat(
        part_, ": was made with another ",
        absl::StartsWith(name, option) ? "--" + name.substr(option.size()) : name.substr(1), ", ",
        value(theirs), "; it is ", value(ours),
        " now. Give what it was, or leave out --resume to begin again"));
  }
  return finished;
}

absl::Status RunRecord::Write(const Finished& finished) {
  std::string text = run_.dump();
  text.back() = ',';  // in place of the closing brace
  // The numbers have room, so that the file keeps its size.
  const std::string numbers =
      absl::StrFormat("\"failed\":%20d,\"first_failed\":%20d,\"units\":%20d,\"bytes\":%20d}\n",
                      finished.failed, finished.first_failed, finished.units, finished.bytes);
  const bool is_new = fd_ < 0;
  // A new file takes the place of an older one only when it is whole.
  const std::string new_path = path_ + ".new";
  if (is_new) {
    fd_ = open(new_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd_ < 0) return CannotWrite(new_path);
  }
  const size_t begin = is_new ? 0 : text.size();
  text += numbers;
  const size_t size = text.size() - begin;
  if (pwrite(fd_, text.data() + begin, size, static_cast<off_t>(begin)) !=
          static_cast<ssize_t>(size) ||
      (is_new && std::rename(new_path.c_str(), path_.c_str()) != 0)) {
    return CannotWrite(path_);
  }
  return absl::OkStatus();
}

void RunRecord::Remove() const {
  std::error_code ignored;
  fs::remove(path_, ignored);
}

}  // namespace nibu::internal
