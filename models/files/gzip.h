// Files that are compressed by gzip, as the registry of Firefox's models has them (RFC 1952).
#ifndef NIBU_MODELS_FILES_GZIP_H_
#define NIBU_MODELS_FILES_GZIP_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "models/files/file_bytes.h"

namespace nibu::internal {

// The most bytes that a compressed file may inflate to. They are held in memory, and a file of 1 MB
// may hold 1 GB of zeros. Models of several GB are not published compressed.
inline constexpr uint64_t kMostInflated = uint64_t{1} << 30;

inline bool IsGzip(absl::string_view bytes) { return bytes.substr(0, 2) == "\x1f\x8b"; }

// Returns the first bytes of what `bytes` hold, at most `most`: themselves where they are not
// compressed. Damaged data give what comes before the damage.
std::string FrontOf(absl::string_view bytes, size_t most);

// Returns what a compressed file holds. InvalidArgument: damaged, checksum and length included.
// ResourceExhausted: more than `most_bytes`.
absl::StatusOr<std::string> InflateFile(const FileBytes& file, uint64_t most_bytes = kMostInflated);

// Opens a file as FileBytes::Open does. If it is compressed, the bytes are its contents, in memory,
// and the path is its own; further errors as of InflateFile.
absl::StatusOr<std::shared_ptr<const FileBytes>> OpenInflated(const std::string& path);

// A path without the ending ".gz".
absl::string_view WithoutGz(absl::string_view path);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_FILES_GZIP_H_
