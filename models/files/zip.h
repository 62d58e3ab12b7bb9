// Reader of zip archives, as NumPy's .npz and PyTorch's .bin files are.
//
//   members:   { u32 "PK\3\4" | ... | u16 name bytes @26 | u16 extra bytes @28 | name | extra |
//                data }
//   directory: { u32 "PK\1\2" | u16 flags @8 | u16 method @10 | u32 crc @16 |
//                u32 stored bytes @20 | u32 bytes @24 | u16 name @28 | u16 extra @30 |
//                u16 comment @32 | u32 offset of the member @42 | name | extra | comment }
//              An extra field 1 holds, as u64, those of bytes, stored bytes and offset that are
//              0xffffffff.
//   end:       u32 "PK\5\6" | u16 0 | u16 0 | u16 n | u16 n | u32 directory bytes |
//              u32 directory offset | u16 comment bytes | comment
//              Where a value is all ones: before it "PK\6\7" | u32 | u64 offset of
//              "PK\6\6" | ... | u64 n @32 | u64 directory bytes @40 | u64 directory offset @48
// https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT
#ifndef NIBU_MODELS_FILES_ZIP_H_
#define NIBU_MODELS_FILES_ZIP_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "models/files/file_bytes.h"

namespace nibu::internal {

struct ZipMember {
  absl::string_view stored;  // in the archive, perhaps deflated
  uint64_t size = 0;         // once inflated
  uint32_t crc = 0;
  bool deflated = false;
};

// Immutable; threads may share it.
class ZipArchive {
 public:
  static bool IsZip(absl::string_view bytes) { return bytes.substr(0, 4) == "PK\3\4"; }

  // Checks every member's place: inside the file, no two overlapping, no name twice.
  // InvalidArgument naming the file; Unimplemented for encryption and for methods other than stored
  // and deflate.
  static absl::StatusOr<ZipArchive> Open(std::shared_ptr<const FileBytes> file);

  const std::map<std::string, ZipMember, std::less<>>& members() const { return members_; }

  // A member's bytes: the archive itself, of which `*bytes` is a part, when it is stored as it is,
  // otherwise a copy in memory. `check_crc`: InvalidArgument when its checksum is wrong.
  absl::StatusOr<std::shared_ptr<const FileBytes>> Read(const ZipMember& member, bool check_crc,
                                                        absl::string_view* bytes) const;

 private:
  explicit ZipArchive(std::shared_ptr<const FileBytes> file) : file_(std::move(file)) {}

  std::shared_ptr<const FileBytes> file_;
  std::map<std::string, ZipMember, std::less<>> members_;
};

// CRC-32 (polynomial 0xedb88320), of zip archives as of .nibu files.
uint32_t Crc32(absl::string_view bytes);

// Hands what `bytes` inflate to, piece by piece, to `use`, until that says no. `window_bits`: as
// zlib's inflateInit2 takes them. `*used` becomes the size of what was read of `bytes`. False: the
// bytes are not whole.
bool Inflate(absl::string_view bytes, int window_bits,
             const std::function<bool(absl::string_view)>& use, size_t* used = nullptr);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_FILES_ZIP_H_
