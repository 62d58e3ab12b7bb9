// Reads a zip archive's directory and checks each entry against the member's own header.
#include "models/files/zip.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/core/errors.h"
#include "models/files/byte_reader.h"

namespace nibu::internal {
namespace {

constexpr size_t kEndBytes = 22;
constexpr size_t kLocatorBytes = 20;
constexpr size_t kMaxComment = 65535;
// A byte of deflated data stands for at most 1032 bytes.
constexpr uint64_t kMaxRatio = 1032;

absl::Status Damaged(const FileBytes& file, absl::string_view what) {
  return Invalid(file.path(), ": not a whole zip archive: ", what, "; download it again");
}

// The directory's place in the file.
struct Directory {
  uint64_t members = 0;
  uint64_t bytes = 0;
  uint64_t offset = 0;
};

// Finds the end of the archive, which a comment of any length up to 64 KB may follow, and reads the
// directory's place from it. Returns false if it is not there or not whole.
bool FindDirectory(absl::string_view bytes, Directory* directory) {
  if (bytes.size() < kEndBytes) return false;
  const size_t first = bytes.size() - kEndBytes;
  const size_t reach = std::min(first, kMaxComment);
  const size_t end = bytes.rfind("PK\5\6", first);
  if (end == absl::string_view::npos || end < first - reach) return false;
  ByteReader reader(bytes.substr(end + 8));
  reader.Read<uint16_t>();
  directory->members = reader.Read<uint16_t>();
  directory->bytes = reader.Read<uint32_t>();
  directory->offset = reader.Read<uint32_t>();
  const bool large = directory->members == 0xffff || directory->bytes == 0xffffffff ||
                     directory->offset == 0xffffffff;
  if (!large) return reader.ok();
  if (end < kLocatorBytes || bytes.substr(end - kLocatorBytes, 4) != "PK\6\7") return reader.ok();
  const auto large_end = ByteReader(bytes.substr(end - kLocatorBytes + 8)).Read<uint64_t>();
  if (large_end > bytes.size() || bytes.substr(large_end, 4) != "PK\6\6") return false;
  reader = ByteReader(bytes.substr(large_end));
  reader.ReadBytes(32);
  directory->members = reader.Read<uint64_t>();
  directory->bytes = reader.Read<uint64_t>();
  directory->offset = reader.Read<uint64_t>();
  return reader.ok();
}

// Replaces those values that did not fit into 32 bits by the ones of extra field 1. Returns false
// if the extra fields are damaged.
bool ReadLargeSizes(absl::string_view extra, uint64_t* size, uint64_t* stored, uint64_t* offset) {
  constexpr uint64_t kLarge = 0xffffffff;
  if (*size != kLarge && *stored != kLarge && *offset != kLarge) return true;
  ByteReader reader(extra);
  while (reader.remaining() > 0) {
    const auto id = reader.Read<uint16_t>();
    const absl::string_view field = reader.ReadBytes(reader.Read<uint16_t>());
    if (!reader.ok()) return false;
    if (id != 1) continue;
    ByteReader values(field);
    for (uint64_t* value : {size, stored, offset}) {
      if (*value == kLarge) *value = values.Read<uint64_t>();
    }
    return values.ok();
  }
  return true;
}

}  // namespace

absl::StatusOr<ZipArchive> ZipArchive::Open(std::shared_ptr<const FileBytes> file) {
  const absl::string_view bytes = file->bytes();
  Directory directory;
  if (!FindDirectory(bytes, &directory)) return Damaged(*file, "its directory is not there");
  if (directory.offset > bytes.size() || directory.bytes > bytes.size() - directory.offset) {
    return Damaged(*file, "its directory lies outside the file");
  }
  ZipArchive archive(file);
  std::vector<std::pair<size_t, size_t>> places;  // begin, end
  ByteReader reader(bytes.substr(directory.offset, directory.bytes));
  for (uint64_t i = 0; i < directory.members; ++i) {
    if (reader.ReadBytes(4) != "PK\1\2") return Damaged(*file, "its directory is damaged");
    reader.ReadBytes(4);
    const auto flags = reader.Read<uint16_t>();
    const auto method = reader.Read<uint16_t>();
    reader.ReadBytes(4);
    ZipMember member;
    member.crc = reader.Read<uint32_t>();
    uint64_t stored = reader.Read<uint32_t>();
    member.size = reader.Read<uint32_t>();
    const auto name_bytes = reader.Read<uint16_t>();
    const auto extra_bytes = reader.Read<uint16_t>();
    const auto comment_bytes = reader.Read<uint16_t>();
    reader.ReadBytes(8);
    uint64_t offset = reader.Read<uint32_t>();
    const std::string name(reader.ReadBytes(name_bytes));
    const absl::string_view extra = reader.ReadBytes(extra_bytes);
    reader.ReadBytes(comment_bytes);
    if (!reader.ok() || !ReadLargeSizes(extra, &member.size, &stored, &offset)) {
      return Damaged(*file, "its directory is damaged");
    }
    if ((flags & 1) != 0 || (method != 0 && method != 8)) {
      return NotSupported(file->path(), ": member \"", name,
                          "\" is encrypted or compressed in a way other than ",
                          "deflate, which nibu does not read");
    }
    member.deflated = method == 8;

    // The member's own header must name the same member. Its data follow its name and extra fields.
    if (offset > bytes.size()) return Damaged(*file, "a member lies outside the file");
    ByteReader local(bytes.substr(offset));
    if (local.ReadBytes(4) != "PK\3\4") return Damaged(*file, "a member is not where it should be");
    local.ReadBytes(22);
    const auto local_name = local.Read<uint16_t>();
    const auto local_extra = local.Read<uint16_t>();
    if (local.ReadBytes(local_name) != name) {
      return Damaged(*file, absl::StrCat("member \"", name, "\" is not where it should be"));
    }
    local.ReadBytes(local_extra);
    member.stored = local.ReadBytes(stored);
    const bool fits = member.deflated ? member.size / kMaxRatio <= stored : member.size == stored;
    if (!local.ok() || !fits) {
      return Damaged(*file, absl::StrCat("member \"", name, "\" has an impossible size"));
    }
    places.emplace_back(offset, offset + local.position());
    if (!archive.members_.emplace(name, member).second) {
      return Damaged(*file, absl::StrCat("member \"", name, "\" is there twice"));
    }
  }
  std::sort(places.begin(), places.end());
  for (size_t i = 1; i < places.size(); ++i) {
    if (places[i].first < places[i - 1].second) return Damaged(*file, "its members overlap");
  }
  return archive;
}

absl::StatusOr<std::shared_ptr<const FileBytes>> ZipArchive::Read(const ZipMember& member,
                                                                  bool check_crc,
                                                                  absl::string_view* bytes) const {
  std::shared_ptr<const FileBytes> result = file_;
  *bytes = member.stored;
  if (member.deflated) {
    std::string out;
    const bool whole = Inflate(member.stored, -MAX_WBITS, [&](absl::string_view piece) {
      absl::StrAppend(&out, piece);
      return out.size() <= member.size;
    });
    if (!whole || out.size() != member.size) return Damaged(*file_, "a member cannot be inflated");
    result = FileBytes::InMemory(file_->path(), std::move(out));
    *bytes = result->bytes();
  }
  if (check_crc && Crc32(*bytes) != member.crc) {
    return Damaged(*file_, "the checksum of a member is wrong");
  }
  return result;
}

uint32_t Crc32(absl::string_view bytes) {
  return crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
}

bool Inflate(absl::string_view bytes, int window_bits,
             const std::function<bool(absl::string_view)>& use, size_t* used) {
  const size_t size = bytes.size();
  z_stream stream = {};
  if (inflateInit2(&stream, window_bits) != Z_OK) return false;
  char piece[1 << 16];
  int status = Z_OK;
  bool going_on = true;
  while (status == Z_OK && going_on) {
    if (stream.avail_in == 0) {
      constexpr size_t kMost = std::numeric_limits<uInt>::max();
      const size_t n = std::min(kMost, bytes.size());
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
      stream.avail_in = static_cast<uInt>(n);
      bytes.remove_prefix(n);
    }
    stream.next_out = reinterpret_cast<Bytef*>(piece);
    stream.avail_out = sizeof(piece);
    status = inflate(&stream, Z_NO_FLUSH);
    going_on = use({piece, sizeof(piece) - stream.avail_out});
  }
  if (used != nullptr) *used = size - bytes.size() - stream.avail_in;
  inflateEnd(&stream);
  return status == Z_STREAM_END || !going_on;
}

}  // namespace nibu::internal
