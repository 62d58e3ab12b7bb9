// Reads zip archives, which NumPy's .npz and PyTorch's .bin files are.
//
//   members:   { u32 "PK\3\4" | ... | u16 name bytes @26 | u16 extra bytes @28 | name | extra |
//                data }
//   directory: { u32 "PK\1\2" | u16 flags @8 | u16 method @10 | u32 crc @16 |
//                u32 stored bytes @20 | u32 bytes @24 | u16 name @28 | u16 extra @30 |
//                u16 comment @32 | u32 offset of the member @42 | name | extra | comment }
//              An extra field 1 has, as u64, those of bytes, stored bytes and offset that are
//              0xffffffff in the entry.
//   end:       u32 "PK\5\6" | u16 0 | u16 0 | u16 n | u16 n | u32 directory bytes |
//              u32 directory offset | u16 comment bytes | comment
//              If one of these is all ones, the end of a large archive stands in front of it:
//              "PK\6\7" | u32 | u64 offset of
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

// A file in an archive.
struct ZipMember {
  absl::string_view stored;  // its bytes in the archive, perhaps deflated
  uint64_t size = 0;         // bytes when it is inflated
  uint32_t crc = 0;
  bool deflated = false;
};

// An archive. Immutable; threads may share it.
class ZipArchive {
 public:
  static bool IsZip(absl::string_view bytes) { return bytes.substr(0, 4) == "PK\3\4"; }

  // Checks that every member lies inside of the file, that no two overlap, and that no two have the
  // same name. InvalidArgument naming the file: it is damaged. Unimplemented: a member is
  // encrypted, or compressed in another way than deflate.
  static absl::StatusOr<ZipArchive> Open(std::shared_ptr<const FileBytes> file);

  const std::map<std::string, ZipMember, std::less<>>& members() const { return members_; }

  // Sets `*bytes` to a member's contents, and returns their owner: the archive's file if the member
  // is stored as it is, otherwise a copy in memory. InvalidArgument: the member cannot be inflated,
  // or, with `check_crc`, its checksum is wrong.
  absl::StatusOr<std::shared_ptr<const FileBytes>> Read(const ZipMember& member, bool check_crc,
                                                        absl::string_view* bytes) const;

 private:
  explicit ZipArchive(std::shared_ptr<const FileBytes> file) : file_(std::move(file)) {}

  std::shared_ptr<const FileBytes> file_;
  std::map<std::string, ZipMember, std::less<>> members_;
};

// Returns the CRC-32 (polynomial 0xedb88320) that zip archives and .nibu files have.
uint32_t Crc32(absl::string_view bytes);

// Inflates `bytes` and passes the contents to `use`, piece by piece, until it returns false.
// `window_bits`: as zlib's inflateInit2 takes them. `used`, if not null, becomes the number of
// bytes that were read. Returns false if the bytes are damaged or not whole.
bool Inflate(absl::string_view bytes, int window_bits,
             const std::function<bool(absl::string_view)>& use, size_t* used = nullptr);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_FILES_ZIP_H_
