// Compresses output.
#ifndef NIBU_TOOLS_MARIAN_GZIP_WRITER_H_
#define NIBU_TOOLS_MARIAN_GZIP_WRITER_H_

#include <zlib.h>

#include <string>

#include "absl/strings/string_view.h"

namespace nibu::internal {

// Makes one gzip file of bytes that come in pieces. Not thread-safe.
class GzipWriter {
 public:
  GzipWriter();
  ~GzipWriter();
  GzipWriter(const GzipWriter&) = delete;
  GzipWriter& operator=(const GzipWriter&) = delete;

  // Returns the compressed bytes that are ready after these bytes; with `is_last`, all the rest.
  // REQUIRES: no piece has been the last one.
  std::string Write(absl::string_view bytes, bool is_last);

 private:
  z_stream stream_ = {};
};

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_MARIAN_GZIP_WRITER_H_
