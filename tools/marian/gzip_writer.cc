// Compresses output with zlib.
#include "tools/marian/gzip_writer.h"

#include <new>

namespace nibu::internal {

GzipWriter::GzipWriter() {
  // 16: a gzip header; 8: zlib's usual memory.
  const int result = deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 16 + MAX_WBITS, 8,
                                  Z_DEFAULT_STRATEGY);
  if (result != Z_OK) throw std::bad_alloc();
}

GzipWriter::~GzipWriter() { deflateEnd(&stream_); }

std::string GzipWriter::Write(absl::string_view bytes, bool is_last) {
  std::string in(bytes);  // zlib's input is not const
  std::string out;
  stream_.next_in = reinterpret_cast<Bytef*>(in.data());
  stream_.avail_in = static_cast<uInt>(in.size());
  do {
    constexpr size_t kStep = size_t{1} << 16;
    const size_t before = out.size();
    out.resize(before + kStep);
    stream_.next_out = reinterpret_cast<Bytef*>(out.data() + before);
    stream_.avail_out = static_cast<uInt>(kStep);
    deflate(&stream_, is_last ? Z_FINISH : Z_NO_FLUSH);
    out.resize(out.size() - stream_.avail_out);
  } while (stream_.avail_out == 0);
  return out;
}

}  // namespace nibu::internal
