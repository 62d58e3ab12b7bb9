// Parses the headers of NumPy arrays in a zip archive.
#include "models/containers/npz.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "models/files/byte_reader.h"
#include "models/files/foreign.h"
#include "models/files/zip.h"

namespace nibu::internal {
namespace {

// Returns the rest of the header behind "'key': ", or nothing.
absl::string_view Field(absl::string_view header, absl::string_view key) {
  const std::string quoted = absl::StrCat("'", key, "':");
  const size_t at = header.find(quoted);
  if (at == absl::string_view::npos) return {};
  return absl::StripLeadingAsciiWhitespace(header.substr(at + quoted.size()));
}

constexpr absl::string_view kNpyFloat64 = "'<f8'";  // becomes float32
constexpr std::pair<absl::string_view, DType> kNpyTypes[] = {
    {"'<f4'", DType::kFloat32}, {"'<f2'", DType::kFloat16},  {"'|i1'", DType::kInt8},
    {"'|u1'", DType::kUint8},   {"'<i2'", DType::kInt16},    {"'<i4'", DType::kInt32},
    {"'<i8'", DType::kInt64},   {kNpyFloat64, DType::kInt64}};

// Parses a tuple of sizes: "(2, 3), ..." gives {2, 3}. Returns false if it is none.
bool ParseShape(absl::string_view text, Shape* shape) {
  if (!absl::ConsumePrefix(&text, "(")) return false;
  const size_t end = text.find(')');
  if (end == absl::string_view::npos) return false;
  for (absl::string_view part : absl::StrSplit(text.substr(0, end), ',')) {
    part = absl::StripAsciiWhitespace(part);
    if (part.empty()) continue;
    int64_t size = 0;
    if (!absl::SimpleAtoi(part, &size) || size < 0 || shape->size() == 8) return false;
    shape->push_back(size);
  }
  return true;
}

// Reads one array. `where` begins messages. The caller sets the tensor's file, unless the tensor
// has memory of its own already (float64).
absl::StatusOr<StoredTensor> ReadArray(absl::string_view bytes, const std::string& path,
                                       absl::string_view where) {
  const auto wrong = [&](absl::string_view what) { return Invalid(where, what); };
  ByteReader reader(bytes);
  if (reader.ReadBytes(6) != "\x93NUMPY") return wrong("is not a NumPy array");
  const auto major = reader.Read<uint8_t>();
  reader.Read<uint8_t>();
  const absl::string_view header =
      reader.ReadBytes(major == 1 ? reader.Read<uint16_t>() : reader.Read<uint32_t>());
  if (!reader.ok() || major < 1 || major > 3) return wrong("is not a whole NumPy array");
  StoredTensor tensor;
  TensorView& view = tensor.view;
  const auto type = std::find_if(
      std::begin(kNpyTypes), std::end(kNpyTypes),
      [&](const auto& known) { return absl::StartsWith(Field(header, "descr"), known.first); });
  if (type == std::end(kNpyTypes)) {
    absl::string_view descr = Field(header, "descr");
    descr = descr.substr(0, std::min(descr.find(','), size_t{40}));
    return NotSupported(where, "has a type that nibu does not read, ", descr,
                        absl::StartsWith(descr, "'>") ? ", which is big-endian" : "",
                        "; save it as '<f4'");
  }
  view.dtype = type->second;
  if (!absl::StartsWith(Field(header, "fortran_order"), "False") ||
      !ParseShape(Field(header, "shape"), &view.shape)) {
    return wrong("is not stored row by row, or its shape is damaged");
  }
  const std::optional<uint64_t> size = BytesOf(view.dtype, view.shape);
  if (!size.has_value()) return wrong("has an impossible shape");
  if (*size != reader.remaining()) {
    return wrong(absl::StrCat("of shape ", ShapeString(view.shape), " needs ", *size,
                              " bytes, it has ", reader.remaining()));
  }
  view.data = reader.rest().data();
  if (type->first == kNpyFloat64) tensor.TakeFloat64(path, reader.rest());
  return tensor;
}

}  // namespace

absl::StatusOr<TensorSource> ReadNpz(std::shared_ptr<const FileBytes> file) {
  NIBU_ASSIGN_OR_RETURN(const ZipArchive archive, ZipArchive::Open(file));
  if (std::none_of(archive.members().begin(), archive.members().end(),
                   [](const auto& member) { return absl::EndsWith(member.first, ".npy"); })) {
    return Invalid(file->path(), ": a zip archive without NumPy arrays", kUnpackZip);
  }
  TensorSource source(file->path());
  for (const auto& [member_name, member] : archive.members()) {
    absl::string_view name = member_name;
    absl::ConsumeSuffix(&name, ".npy");
    absl::string_view bytes;
    NIBU_ASSIGN_OR_RETURN(auto holder, archive.Read(member, true, &bytes));
    NIBU_ASSIGN_OR_RETURN(
        StoredTensor tensor,
        ReadArray(bytes, file->path(), absl::StrCat(file->path(), ": tensor \"", name, "\" ")));
    if (tensor.file == nullptr) tensor.file = std::move(holder);
    NIBU_RETURN_IF_ERROR(source.Add(std::string(name), std::move(tensor)));
  }
  file->DropPages();  // the checksums have read all of them
  return source;
}

}  // namespace nibu::internal
