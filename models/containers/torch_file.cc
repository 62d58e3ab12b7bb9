// Finds storages and tensors in the pickle of a PyTorch file; the header describes both forms.
#include "models/containers/torch_file.h"

#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "models/files/byte_reader.h"
#include "models/files/foreign.h"
#include "models/files/zip.h"

namespace nibu::internal {
namespace {

using Kind = PickleValue::Kind;

// The first pickle of a stream, a number.
constexpr absl::string_view kStreamStart(
    "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", 15);
constexpr absl::string_view kDict = "collections OrderedDict";
constexpr absl::string_view kTensor = "torch._utils _rebuild_tensor_v2";
constexpr absl::string_view kParameter = "torch._utils _rebuild_parameter";

struct StorageType {
  absl::string_view name;
  size_t size;                 // bytes of an element
  std::optional<DType> dtype;  // none for float64, which DType does not have
};
constexpr StorageType kStorageTypes[] = {
    {"torch FloatStorage", 4, DType::kFloat32},
    {"torch HalfStorage", 2, DType::kFloat16},
    {"torch BFloat16Storage", 2, DType::kBFloat16},
    {"torch CharStorage", 1, DType::kInt8},
    {"torch ByteStorage", 1, DType::kUint8},
    {"torch BoolStorage", 1, DType::kUint8},
    {"torch ShortStorage", 2, DType::kInt16},
    {"torch IntStorage", 4, DType::kInt32},
    {"torch LongStorage", 8, DType::kInt64},
    {"torch DoubleStorage", 8, std::nullopt}};  // becomes float32

const StorageType* FindType(absl::string_view name) {
  for (const StorageType& type : kStorageTypes) {
    if (type.name == name) return &type;
  }
  return nullptr;
}

}  // namespace

bool TorchFile::IsTorch(absl::string_view bytes) {
  return ZipArchive::IsZip(bytes) || bytes.substr(0, kStreamStart.size()) == kStreamStart;
}

TorchFile::TorchFile(std::shared_ptr<const FileBytes> file,
                     absl::Span<const absl::string_view> classes)
    : file_(std::move(file)), globals_({kDict, kTensor, kParameter}) {
  for (const StorageType& type : kStorageTypes) globals_.push_back(type.name);
  globals_.insert(globals_.end(), classes.begin(), classes.end());
}

absl::StatusOr<TorchFile> TorchFile::Open(std::shared_ptr<const FileBytes> file,
                                          absl::Span<const absl::string_view> classes) {
  TorchFile torch(std::move(file), classes);
  if (ZipArchive::IsZip(torch.file_->bytes())) {
    NIBU_RETURN_IF_ERROR(torch.OpenZip());
  } else if (IsTorch(torch.file_->bytes())) {
    NIBU_RETURN_IF_ERROR(torch.OpenStream());
  } else {
    return torch.Damaged("it does not begin like one");
  }
  return torch;
}

absl::Status TorchFile::Damaged(absl::string_view what) const {
  return Invalid(file_->path(), ": not a whole PyTorch file: ", what, "; download it again");
}

absl::Status TorchFile::CollectStorages() {
  for (PickleRef i = 0; i < pickle_.size(); ++i) {
    if (!pickle_.Is(i, Kind::kPersistent)) continue;
    const PickleValue& id = pickle_[pickle_[i].items[0]];
    // The older form has a sixth item, a view into another storage, which is None except in the
    // oldest files.
    if (id.kind != Kind::kTuple || id.items.size() < 5 || id.items.size() > 6 ||
        pickle_[id.items[0]].text != "storage" || !pickle_.Is(id.items[1], Kind::kGlobal) ||
        !pickle_.Is(id.items[2], Kind::kString) || !pickle_.Is(id.items[4], Kind::kInt) ||
        (id.items.size() == 6 && !pickle_.Is(id.items[5], Kind::kNone))) {
      return Damaged("a storage is described in an unknown way");
    }
    Storage storage;
    storage.type = pickle_[id.items[1]].text;
    storage.elements = pickle_[id.items[4]].integer;
    const absl::string_view key = pickle_[id.items[2]].text;
    if (FindType(storage.type) == nullptr) return Damaged("a storage of an unknown type");
    const Storage& known = storages_.try_emplace(std::string(key), storage).first->second;
    if (known.type != storage.type || known.elements != storage.elements) {
      return Damaged(absl::StrCat("storage ", key, " is described in two ways"));
    }
  }
  return absl::OkStatus();
}

absl::Status TorchFile::OpenZip() {
  NIBU_ASSIGN_OR_RETURN(const ZipArchive archive, ZipArchive::Open(file_));
  constexpr absl::string_view kPickle = "/data.pkl";
  std::string folder;
  for (const auto& [name, member] : archive.members()) {
    if (absl::EndsWith(name, "/constants.pkl")) {
      return NotSupported(file_->path(),
                          ": a TorchScript program; nibu reads weights saved by torch.save");
    }
    if (absl::EndsWith(name, kPickle)) folder = name.substr(0, name.size() - kPickle.size());
  }
  const auto pickle = archive.members().find(absl::StrCat(folder, kPickle));
  if (pickle == archive.members().end()) {
    return Invalid(file_->path(), ": a zip archive, but not a PyTorch file", kUnpackZip);
  }
  absl::string_view bytes;
  const auto order = archive.members().find(absl::StrCat(folder, "/byteorder"));
  if (order != archive.members().end()) {
    NIBU_ASSIGN_OR_RETURN(const auto keep, archive.Read(order->second, false, &bytes));
    if (bytes != "little") {
      return NotSupported(file_->path(),
                          ": its numbers are not little-endian; save it again on a PC");
    }
  }
  NIBU_ASSIGN_OR_RETURN(pickle_file_, archive.Read(pickle->second, false, &bytes));
  size_t consumed = 0;
  NIBU_ASSIGN_OR_RETURN(pickle_, Pickle::Read(bytes, file_->path(), globals_, &consumed));
  NIBU_RETURN_IF_ERROR(CollectStorages());
  for (auto& [key, storage] : storages_) {
    const auto member = archive.members().find(absl::StrCat(folder, "/data/", key));
    if (member == archive.members().end()) return Damaged(absl::StrCat("no storage ", key));
    const uint64_t size = FindType(storage.type)->size;
    if (storage.elements < 0 || member->second.size % size != 0 ||
        member->second.size / size != static_cast<uint64_t>(storage.elements)) {
      return Damaged(absl::StrCat("storage ", key, " has ", member->second.size,
                                  " bytes, expected ", storage.elements, " elements of ", size));
    }
    // Checksums are not checked, because PyTorch can leave them out.
    NIBU_ASSIGN_OR_RETURN(storage.file, archive.Read(member->second, false, &storage.bytes));
  }
  return absl::OkStatus();
}

absl::Status TorchFile::OpenStream() {
  pickle_file_ = file_;
  absl::string_view rest = file_->bytes().substr(kStreamStart.size());
  const auto next = [&]() -> absl::StatusOr<Pickle> {
    size_t consumed = 0;
    absl::StatusOr<Pickle> pickle = Pickle::Read(rest, file_->path(), globals_, &consumed);
    rest.remove_prefix(consumed);
    return pickle;
  };
  NIBU_ASSIGN_OR_RETURN(const Pickle version, next());
  if (version[version.root()].integer != 1001) return Damaged("an unknown version");
  NIBU_ASSIGN_OR_RETURN(const Pickle system, next());
  const PickleValue* little = system.Find(system[system.root()], "little_endian");
  if (little == nullptr || little->integer != 1)
    return Damaged("its numbers are not little-endian");
  NIBU_ASSIGN_OR_RETURN(pickle_, next());
  NIBU_RETURN_IF_ERROR(CollectStorages());
  NIBU_ASSIGN_OR_RETURN(const Pickle keys, next());
  ByteReader reader(rest);
  size_t found = 0;
  for (const PickleRef ref : keys[keys.root()].items) {
    const absl::string_view key = keys[ref].text;
    const auto it = storages_.find(key);
    if (it == storages_.end()) return Damaged(absl::StrCat("storage ", key, " is of no use"));
    Storage& storage = it->second;
    if (storage.file != nullptr) return Damaged(absl::StrCat("storage ", key, " is there twice"));
    const auto elements = reader.Read<int64_t>();
    const uint64_t size = FindType(storage.type)->size;
    uint64_t bytes = 0;
    if (!reader.ok() || elements != storage.elements || elements < 0 ||
        __builtin_mul_overflow(size, static_cast<uint64_t>(elements), &bytes)) {
      return Damaged(absl::StrCat("storage ", key, " has another size than expected"));
    }
    storage.bytes = reader.ReadBytes(bytes);
    storage.file = file_;
    if (!reader.ok()) return Damaged(absl::StrCat("it ends inside of storage ", key));
    ++found;
  }
  if (found != storages_.size()) return Damaged("a storage is missing");
  if (reader.remaining() > 0) return Damaged("it goes on after its last storage");
  return absl::OkStatus();
}

absl::StatusOr<StoredTensor> TorchFile::Tensor(absl::string_view name,
                                               const PickleValue& value) const {
  const auto wrong = [&](absl::string_view what) {
    return Invalid(file_->path(), ": tensor \"", name, "\" ", what);
  };
  // A parameter is a call whose first argument is the tensor.
  const PickleValue* call = &value;
  if (call->kind == Kind::kCall && pickle_[call->items[0]].text == kParameter) {
    const PickleValue& arguments = pickle_[call->items[1]];
    if (arguments.items.empty()) return wrong("is described in an unknown way");
    call = &pickle_[arguments.items[0]];
  }
  if (call->kind != Kind::kCall || pickle_[call->items[0]].text != kTensor) {
    return wrong("is not a tensor");
  }
  const PickleValue& arguments = pickle_[call->items[1]];
  if (arguments.items.size() < 4 || !pickle_.Is(arguments.items[0], Kind::kPersistent) ||
      !pickle_.Is(arguments.items[1], Kind::kInt) ||
      !pickle_.Is(arguments.items[2], Kind::kTuple) ||
      !pickle_.Is(arguments.items[3], Kind::kTuple)) {
    return wrong("is described in an unknown way");
  }
  const PickleValue& id = pickle_[pickle_[arguments.items[0]].items[0]];
  const Storage& storage = storages_.find(pickle_[id.items[2]].text)->second;
  const StorageType& type = *FindType(storage.type);

  const int64_t first = pickle_[arguments.items[1]].integer;
  const std::vector<PickleRef>& sizes = pickle_[arguments.items[2]].items;
  const std::vector<PickleRef>& strides = pickle_[arguments.items[3]].items;
  if (sizes.size() != strides.size()) return wrong("has not as many strides as sizes");
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (!pickle_.Is(sizes[i], Kind::kInt) || !pickle_.Is(strides[i], Kind::kInt)) {
      return wrong("is described in an unknown way");
    }
  }
  const auto size_of = [&](size_t i) { return pickle_[sizes[i]].integer; };
  const auto stride_of = [&](size_t i) { return pickle_[strides[i]].integer; };
  int64_t elements = 1;
  StoredTensor tensor;
  tensor.view.dtype = type.dtype.value_or(DType::kFloat32);
  // A matrix may be stored column by column. T5's matrices are, because its authors transposed them
  // when they took them over from TensorFlow.
  tensor.transposed = sizes.size() == 2 && size_of(0) > 1 && size_of(1) > 1 && stride_of(0) == 1 &&
                      stride_of(1) == size_of(0);
  for (size_t i = sizes.size(); i-- > 0;) {
    const int64_t size = size_of(i);
    // In a row-major tensor, the stride of a dimension is the number of elements in all dimensions
    // behind it.
    if (!tensor.transposed && size != 1 && stride_of(i) != elements) {
      return wrong("is not stored row by row; call contiguous() on it before saving");
    }
    if (size < 0 || __builtin_mul_overflow(elements, size, &elements)) {
      return wrong("has an impossible shape");
    }
    tensor.view.shape.insert(tensor.view.shape.begin(), size);
  }
  if (first < 0 || first > storage.elements || elements > storage.elements - first) {
    return wrong(absl::StrCat("of shape ", ShapeString(tensor.view.shape), " at element ", first,
                              " does not fit into its storage of ", storage.elements));
  }
  const auto place = static_cast<size_t>(first) * type.size;
  tensor.view.data = storage.bytes.data() + place;
  tensor.file = storage.file;
  if (!type.dtype.has_value()) {
    if (!BytesOf(DType::kInt64, tensor.view.shape)) return wrong("has an impossible shape");
    tensor.TakeFloat64(file_->path(),
                       storage.bytes.substr(place, static_cast<size_t>(elements) * type.size));
  }
  return tensor;
}

absl::StatusOr<TensorSource> TorchFile::Tensors(const PickleValue& dict) const {
  if (dict.kind != Kind::kDict) return Damaged("its object is not a dictionary of tensors");
  TensorSource source(file_->path());
  for (size_t i = 0; i + 1 < dict.items.size(); i += 2) {
    if (!pickle_.Is(dict.items[i], Kind::kString)) return Damaged("a tensor has no name");
    std::string name(pickle_[dict.items[i]].text);
    NIBU_ASSIGN_OR_RETURN(StoredTensor tensor, Tensor(name, pickle_[dict.items[i + 1]]));
    NIBU_RETURN_IF_ERROR(source.Add(std::move(name), std::move(tensor)));
  }
  return source;
}

}  // namespace nibu::internal
