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

constexpr size_t kBufferSize = size_t{1} << 16;

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

void InputBytes::EndInflate::operator()(z_stream_s* stream) const {
  inflateEnd(stream);
  delete stream;
}

InputBytes::~InputBytes() {
  if (fd_ > STDIN_FILENO) close(fd_);
}

absl::StatusOr<size_t> InputBytes::ReadFile(char* to, size_t most) {
  ssize_t n;
  do {
    n = read(fd_, to, most);
  } while (n < 0 && TryAgain(fd_, POLLIN));
  if (n < 0) {
    return absl::UnavailableError(absl::StrCat(name_, ": cannot be read: ", std::strerror(errno)));
  }
  used_ += static_cast<double>(n);
  return static_cast<size_t>(n);
}

absl::Status InputBytes::Sniff() {
  buffer_.resize(kBufferSize);
  const Format* format;
  do {  // as long as there may be more of a beginning that is known
    NIBU_ASSIGN_OR_RETURN(const size_t n, ReadFile(buffer_.data() + end_, buffer_.size() - end_));
    end_ += n;
    const absl::string_view bytes(buffer_.data(), end_);
    format = std::find_if(std::begin(kFormats), std::end(kFormats),
                          [&](const Format& f) { return Agree(bytes, f.magic); });
    if (n == 0) format = std::end(kFormats);
  } while (format != std::end(kFormats) && end_ < format->magic.size());
  if (format == std::end(kFormats)) return absl::OkStatus();
  if (format->command != nullptr) {
    return absl::UnimplementedError(absl::StrCat(name_, ": is compressed with ", format->name,
                                                 "; only gzip is read: decompress it with ",
                                                 format->command));
  }
  gzip_.reset(new z_stream());
  if (inflateInit2(gzip_.get(), 16 + MAX_WBITS) != Z_OK) {  // 16: gzip's header, no other
    return absl::ResourceExhaustedError(absl::StrCat(name_, ": no memory to decompress it"));
  }
  return absl::OkStatus();
}

absl::StatusOr<size_t> InputBytes::Inflate(char* to, size_t most) {
  while (status_.ok()) {
    // Whether there was no room for all that the bytes before have become.
    const bool has_more = in_member_ && gzip_->avail_out == 0;
    if (begin_ == end_ && !has_more) {
      begin_ = end_ = 0;
      NIBU_ASSIGN_OR_RETURN(end_, ReadFile(buffer_.data(), buffer_.size()));
      if (end_ == 0 && in_member_) {
        return absl::DataLossError(
            absl::StrCat(name_, ": ends within its gzip data; get the whole file"));
      }
      if (end_ == 0) return 0;
    }
    // Tapes and disks fill up with zeros.
    while (!in_member_ && begin_ < end_ && buffer_[begin_] == '\0') ++begin_;
    if (begin_ == end_ && !has_more) continue;
    in_member_ = true;
    gzip_->next_in = reinterpret_cast<Bytef*>(buffer_.data() + begin_);
    gzip_->avail_in = static_cast<uInt>(end_ - begin_);
    gzip_->next_out = reinterpret_cast<Bytef*>(to);
    gzip_->avail_out = static_cast<uInt>(most);
    const int result = inflate(gzip_.get(), Z_NO_FLUSH);
    begin_ = end_ - gzip_->avail_in;
    if (result == Z_STREAM_END) {
      in_member_ = false;
      inflateReset(gzip_.get());
    }
    if (result != Z_OK && result != Z_BUF_ERROR && result != Z_STREAM_END) {
      const char* why = gzip_->msg != nullptr ? gzip_->msg : zError(result);
      status_ = absl::DataLossError(
          absl::StrCat(name_, ": damaged gzip data (", why, "); get the file again"));
    }
    if (gzip_->avail_out < most) return most - gzip_->avail_out;  // before what is wrong
  }
  return status_;
}

absl::StatusOr<size_t> InputBytes::Read(char* to, size_t most) {
  if (!sniffed_) status_ = Sniff();
  sniffed_ = true;
  NIBU_RETURN_IF_ERROR(status_);
  if (gzip_ != nullptr) return Inflate(to, most);
  if (begin_ == end_) return ReadFile(to, most);
  const size_t n = std::min(most, end_ - begin_);
  std::memcpy(to, buffer_.data() + begin_, n);
  begin_ += n;
  return n;
}

}  // namespace nibu
