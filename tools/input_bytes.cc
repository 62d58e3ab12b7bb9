#include "tools/input_bytes.h"

#include <poll.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "engine/core/status_macros.h"

namespace nibu {
namespace {

constexpr size_t kReadSize = size_t{1} << 16;

// How compressed files begin; '?' is any byte. None of it is UTF-8 text that anybody writes.
struct Format {
  absl::string_view magic;
  const char* name;
  const char* command;  // that decompresses it to standard output
};
constexpr Format kFormats[] = {
    {"\x1f\x8b", "gzip", nullptr},  // which is read
    {"BZh?1AY&SY", "bzip2", "bzip2 -dc"},
    {"BZh?\x17rE8P\x90", "bzip2", "bzip2 -dc"},  // of nothing
    {"\xfd"
     "7zXZ",
     "xz", "xz -dc"},
    {"\x28\xb5\x2f\xfd", "zstd", "zstd -dc"},
    {"\x04\x22\x4d\x18", "lz4", "lz4 -dc"},
    {"PK\x03\x04", "zip", "unzip -p"},
    {"7z\xbc\xaf\x27\x1c", "7z", "7z x -so"},
};

// Whether the two agree as far as both go.
bool Agree(absl::string_view bytes, absl::string_view magic) {
  for (size_t i = 0; i < std::min(bytes.size(), magic.size()); ++i) {
    if (magic[i] != '?' && magic[i] != bytes[i]) return false;
  }
  return true;
}

}  // namespace

bool TryAgain(int fd, short event) {
  if (errno == EINTR) return true;
  if (errno != EAGAIN && errno != EWOULDBLOCK) return false;
  struct pollfd wanted = {fd, event, 0};
  return poll(&wanted, 1, -1) >= 0 || errno == EINTR;
}

InputBytes::~InputBytes() {
  if (fd_ > STDIN_FILENO) close(fd_);
}

absl::StatusOr<bool> InputBytes::Fill() {
  const size_t before = bytes_.size();
  bytes_.resize(before + kReadSize);
  ssize_t n;
  do {
    n = read(fd_, bytes_.data() + before, kReadSize);
  } while (n < 0 && TryAgain(fd_, POLLIN));
  bytes_.resize(before + static_cast<size_t>(std::max<ssize_t>(n, 0)));
  if (n < 0) {
    return absl::UnavailableError(absl::StrCat(name_, ": cannot be read: ", std::strerror(errno)));
  }
  read_ += static_cast<double>(n);
  return n > 0;
}

absl::Status InputBytes::Sniff() {
  const Format* format = nullptr;
  bool may_be = true;
  do {  // as long as there may be more of a beginning that is known
    NIBU_ASSIGN_OR_RETURN(const bool more, Fill());
    format = std::find_if(std::begin(kFormats), std::end(kFormats),
                          [&](const Format& f) { return Agree(bytes_, f.magic); });
    may_be = more && format != std::end(kFormats);
  } while (may_be && bytes_.size() < format->magic.size());
  if (!may_be) return absl::OkStatus();
  if (format->command != nullptr) {
    return absl::UnimplementedError(absl::StrCat(name_, ": is compressed with ", format->name,
                                                 "; only gzip is read: decompress it with ",
                                                 format->command));
  }
  gzip_ = std::shared_ptr<z_stream>(new z_stream(), [](z_stream* stream) {
    inflateEnd(stream);
    delete stream;
  });
  if (inflateInit2(gzip_.get(), 16 + MAX_WBITS) != Z_OK) {  // 16: gzip's header, no other
    return absl::ResourceExhaustedError(absl::StrCat(name_, ": no memory to decompress it"));
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> InputBytes::Inflate(std::string* to) {
  const size_t before = to->size();
  while (true) {
    // Tapes and disks fill up with zeros.
    if (!in_member_) bytes_.erase(0, bytes_.find_first_not_of('\0'));
    in_member_ = in_member_ || !bytes_.empty();
    if (in_member_) {
      to->resize(before + kReadSize);
      gzip_->next_in = reinterpret_cast<Bytef*>(bytes_.data());
      gzip_->avail_in = static_cast<uInt>(bytes_.size());
      gzip_->next_out = reinterpret_cast<Bytef*>(to->data() + before);
      gzip_->avail_out = static_cast<uInt>(kReadSize);
      const int result = inflate(gzip_.get(), Z_NO_FLUSH);
      bytes_.erase(0, bytes_.size() - gzip_->avail_in);
      to->resize(to->size() - gzip_->avail_out);
      if (result == Z_STREAM_END) {
        in_member_ = false;
        inflateReset(gzip_.get());
      }
      if (to->size() > before) return true;  // what is wrong behind it is found again
      if (result != Z_OK && result != Z_BUF_ERROR && result != Z_STREAM_END) {
        const char* why = gzip_->msg != nullptr ? gzip_->msg : zError(result);
        return absl::DataLossError(
            absl::StrCat(name_, ": damaged gzip data (", why, "); get the file again"));
      }
    }
    if (!bytes_.empty()) continue;
    NIBU_ASSIGN_OR_RETURN(const bool more, Fill());
    if (more) continue;
    if (!in_member_) return false;
    return absl::DataLossError(
        absl::StrCat(name_, ": ends within its gzip data; get the whole file"));
  }
}

absl::StatusOr<bool> InputBytes::Append(std::string* to) {
  if (!sniffed_) NIBU_RETURN_IF_ERROR(Sniff());
  sniffed_ = true;
  if (gzip_ != nullptr) return Inflate(to);
  if (bytes_.empty()) NIBU_RETURN_IF_ERROR(Fill().status());
  to->append(bytes_);
  return !std::exchange(bytes_, "").empty();
}

}  // namespace nibu
