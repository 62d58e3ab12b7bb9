// Reads little-endian values from bytes that may be damaged or hostile.
#ifndef NIBU_MODELS_FILES_BYTE_READER_H_
#define NIBU_MODELS_FILES_BYTE_READER_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "absl/strings/string_view.h"

namespace nibu::internal {

// Reads from the front of a string, to which it refers. A read beyond the end gives zeros or
// nothing, and ok() is false from then on: check it before a value is believed.
class ByteReader {
 public:
  explicit ByteReader(absl::string_view bytes) : bytes_(bytes) {}

  bool ok() const { return ok_; }
  size_t position() const { return position_; }
  size_t remaining() const { return bytes_.size() - position_; }
  absl::string_view rest() const { return bytes_.substr(position_); }

  template <typename T>
  T Read() {
    T value{};
    const absl::string_view bytes = ReadBytes(sizeof(T));
    if (bytes.size() == sizeof(T)) std::memcpy(&value, bytes.data(), sizeof(T));
    return value;
  }

  // Returns the next `n` bytes; none, and ok() is false, if there are fewer.
  absl::string_view ReadBytes(uint64_t n) {
    if (!ok_ || n > remaining()) {
      ok_ = false;
      return {};
    }
    const absl::string_view bytes = bytes_.substr(position_, n);
    position_ += n;
    return bytes;
  }

  // Returns the bytes up to the next '\n', which is passed over. ok() is false if there is none.
  absl::string_view ReadLine() {
    const size_t end = bytes_.find('\n', position_);  // npos makes ReadBytes fail
    const absl::string_view line = ReadBytes(end - position_);
    ReadBytes(1);
    return line;
  }

 private:
  absl::string_view bytes_;
  size_t position_ = 0;
  bool ok_ = true;
};

}  // namespace nibu::internal

#endif  // NIBU_MODELS_FILES_BYTE_READER_H_
