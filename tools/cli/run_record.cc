// Describes runs, and reads and writes the records of interrupted ones.
#include "tools/cli/run_record.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <system_error>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/core/status_macros.h"
#include "tools/cli/output_file.h"

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

// Returns the size and checksum of a file, or of all files of a directory.
absl::StatusOr<std::string> Fingerprint(const std::string& path, uint64_t most) {
  std::set<fs::path> files;
  std::error_code error;
  if (fs::is_directory(path, error)) {
    for (const fs::directory_entry& entry : fs::directory_iterator(path, error)) {
      if (entry.is_regular_file(error)) files.insert(entry.path());
    }
  } else {
    files.insert(path);
  }
  uint64_t size = 0;
  uLong crc = 0;
  for (const fs::path& file : files) NIBU_RETURN_IF_ERROR(AddFile(file, most, &size, &crc));
  return absl::StrFormat("%d bytes, CRC-32 %08x", size, crc);
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
    NIBU_ASSIGN_OR_RETURN(const std::string print, Fingerprint(path, kModelBytes));
    run["model"].push_back(print);
  }
  run["compute_type"] = ComputeTypeName(model.compute_type);
  NIBU_ASSIGN_OR_RETURN(run["input"], Fingerprint(src, kWhole));
  for (const ProgramOption& option : OptionsOf(program)) {
    if (IsLeftOut(option.name())) continue;
    std::string value = option.value();
    std::error_code error;
    if (absl::string_view(option.row->info.type) == "path" && fs::exists(value, error)) {
      NIBU_ASSIGN_OR_RETURN(
          value, Fingerprint(value, fs::is_directory(value, error) ? kModelBytes : kWhole));
    }
    // A path may have any bytes, and JSON has only UTF-8.
    run["options"][std::string(option.name())] =
        nlohmann::ordered_json::parse(nlohmann::ordered_json(value).dump(
            -1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  }
  return run;
}

RunRecord::~RunRecord() {
  if (fd_ >= 0) close(fd_);
}

absl::StatusOr<Finished> RunRecord::Read(bool must_fit) const {
  std::ifstream file(path_);
  const auto found = nlohmann::ordered_json::parse(file, nullptr, /*allow_exceptions=*/false);
  const auto number = [&](const char* name) {
    return found.is_object() && found.contains(name) && found[name].is_number_unsigned();
  };
  if (!number("units") || !number("bytes")) {
    return absl::FailedPreconditionError(
        absl::StrCat(part_, ": is there already, and ", path_,
                     " does not say what run it is of; remove it, or give --out another name"));
  }
  const Finished finished = {found["units"].get<uint64_t>(), found["bytes"].get<uint64_t>()};
  if (!must_fit) return finished;
  const nlohmann::ordered_json ours = run_.flatten();
  nlohmann::ordered_json theirs = found;
  theirs.erase("units");
  theirs.erase("bytes");
  theirs = theirs.flatten();
  for (const auto& [name, value] : ours.items()) {
    const nlohmann::ordered_json old = theirs.value(name, nlohmann::ordered_json());
    if (old == value) continue;
    const size_t slash = name.rfind('/');
    return absl::FailedPreconditionError(
        absl::StrCat(part_, ": was made with another ",
                     name.starts_with("/options/") ? "--" + name.substr(slash + 1) : name.substr(1),
                     ", ", old.dump(), "; it is ", value.dump(),
                     " now. Give what it was, or leave out --resume to begin again"));
  }
  if (theirs.size() == ours.size()) return finished;
  return absl::FailedPreconditionError(
      absl::StrCat(part_, ": was made with other options; leave out --resume to begin again"));
}

absl::Status RunRecord::Write(const Finished& finished) {
  std::string text = run_.dump();
  text.back() = ',';  // in place of the closing brace
  // The numbers have room, so that the file keeps its size.
  const std::string numbers =
      absl::StrFormat("\"units\":%20d,\"bytes\":%20d}\n", finished.units, finished.bytes);
  const size_t begin = fd_ < 0 ? 0 : text.size();
  if (fd_ < 0) {
    fd_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (fd_ < 0) return CannotWrite(path_);
  }
  text += numbers;
  const size_t size = text.size() - begin;
  if (pwrite(fd_, text.data() + begin, size, static_cast<off_t>(begin)) !=
          static_cast<ssize_t>(size) ||
      (begin == 0 && ftruncate(fd_, static_cast<off_t>(size)) != 0)) {
    return CannotWrite(path_);
  }
  return absl::OkStatus();
}

void RunRecord::Remove() const {
  std::error_code ignored;
  fs::remove(path_, ignored);
}

}  // namespace nibu::internal
