// Inflates files that are compressed by gzip (RFC 1952), as the registry of Firefox's models has
// them.
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

// Returns at most `most` bytes from the front of the contents of `bytes`, or of `bytes` themselves
// if they are not compressed. Damaged data give what comes before the damage.
std::string FrontOf(absl::string_view bytes, size_t most);

// Returns the contents of a compressed file. InvalidArgument: it is damaged (its checksum and
// length are checked). ResourceExhausted: it holds more than `most_bytes`.
absl::StatusOr<std::string> InflateFile(const FileBytes& file, uint64_t most_bytes = kMostInflated);

// Opens a file as FileBytes::Open does. If it is compressed, the bytes are its contents, in memory;
// the path stays that of the file. Further errors are those of InflateFile.
absl::StatusOr<std::shared_ptr<const FileBytes>> OpenInflated(const std::string& path);

// Returns the path without its ending ".gz", if it has that.
absl::string_view WithoutGz(absl::string_view path);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_FILES_GZIP_H_
