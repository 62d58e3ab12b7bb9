// Inflates gzip files, of one or several members, with zlib.
#include "models/files/gzip.h"

#include <zlib.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "models/files/zip.h"

namespace nibu::internal {
namespace {

constexpr int kWindowBits = 16 + MAX_WBITS;  // zlib's value for data in gzip's header and trailer

}  // namespace

std::string FrontOf(absl::string_view bytes, size_t most) {
  if (!IsGzip(bytes)) return std::string(bytes.substr(0, most));
  std::string front;
  Inflate(bytes, kWindowBits, [&](absl::string_view piece) {
    absl::StrAppend(&front, piece.substr(0, most - front.size()));
    return front.size() < most;
  });
  return front;
}

absl::StatusOr<std::string> InflateFile(const FileBytes& file, uint64_t most_bytes) {
  absl::string_view rest = file.bytes();
  std::string out;
  bool fits = true;
  // A file may consist of several members, whose contents follow each other.
  do {
    size_t used = 0;
    const bool whole = Inflate(
        rest, kWindowBits,
        [&](absl::string_view piece) {
          fits = piece.size() <= most_bytes - out.size();
          if (fits) absl::StrAppend(&out, piece);
          return fits;
        },
        &used);
    if (!fits) {
      return absl::ResourceExhaustedError(
          absl::StrCat(file.path(), ": it inflates to more than ", most_bytes,
                       " bytes; run gunzip on it and on the files beside it"));
    }
    if (!whole) {
      return Invalid(file.path(),
                     ": compressed by gzip, but damaged or not whole; download it again");
    }
    rest.remove_prefix(used);
  } while (IsGzip(rest));
  if (!rest.empty()) {
    return Invalid(file.path(), ": compressed by gzip, with other data behind; download it again");
  }
  return out;
}

absl::StatusOr<std::shared_ptr<const FileBytes>> OpenInflated(const std::string& path) {
  NIBU_ASSIGN_OR_RETURN(auto file, FileBytes::Open(path));
  if (!IsGzip(file->bytes())) return file;
  NIBU_ASSIGN_OR_RETURN(std::string bytes, InflateFile(*file));
  return FileBytes::InMemory(path, std::move(bytes));
}

absl::string_view WithoutGz(absl::string_view path) { return absl::StripSuffix(path, ".gz"); }

}  // namespace nibu::internal
