// Reads PyTorch's torch.save files, in both forms.
//
// Since PyTorch 1.6, the file is a zip archive (zip.h):
//   NAME/data.pkl      the saved object as a pickle (pickle.h)
//   NAME/data/KEY      the raw bytes of one storage, little-endian unless NAME/byteorder says "big"
// Before, it is a stream:
//   pickle 0x1950a86a20f9469cfc6c | pickle 1001 | pickle {"little_endian": True, ...} |
//   pickle of the object | pickle of a list of the storages' keys |
//   for each of these { i64 elements | raw bytes }
//
// The object's tensors are calls of torch._utils._rebuild_tensor_v2(storage, first element, sizes,
// strides, requires_grad, hooks), where storage is the persistent id
// ("storage", torch.FloatStorage, key, device, elements). Several tensors may share a storage.
#ifndef NIBU_MODELS_CONTAINERS_TORCH_FILE_H_
#define NIBU_MODELS_CONTAINERS_TORCH_FILE_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "models/containers/tensor_source.h"
#include "models/files/file_bytes.h"
#include "models/files/pickle.h"

namespace nibu::internal {

// A file with one saved object. Immutable.
class TorchFile {
 public:
  // Returns true if the bytes begin as either form does.
  static bool IsTorch(absl::string_view bytes);

  // InvalidArgument naming the file: it is damaged. Unimplemented: it refers to functions other
  // than those above, is a TorchScript program, or is big-endian. `classes`: further names that it
  // may refer to, which must outlive the result; a value of such a class is its arguments and
  // attributes, and no more.
  static absl::StatusOr<TorchFile> Open(std::shared_ptr<const FileBytes> file,
                                        absl::Span<const absl::string_view> classes = {});

  const Pickle& pickle() const { return pickle_; }
  const PickleValue& root() const { return pickle_[pickle_.root()]; }
  const FileBytes& file() const { return *file_; }

  // Returns the tensors of a dictionary {name: tensor}; their views point into the file.
  // InvalidArgument naming the tensor: it lies outside its storage, is neither row-major nor a
  // transposed matrix, or is no tensor at all.
  absl::StatusOr<TensorSource> Tensors(const PickleValue& dict) const;

 private:
  struct Storage {
    absl::string_view type;  // "torch FloatStorage"
    int64_t elements = 0;
    absl::string_view bytes;
    std::shared_ptr<const FileBytes> file;
  };

  TorchFile(std::shared_ptr<const FileBytes> file, absl::Span<const absl::string_view> classes);
  absl::Status OpenZip();
  absl::Status OpenStream();
  // Fills storages_ with all that the pickle refers to, without their bytes.
  absl::Status CollectStorages();
  absl::Status Damaged(absl::string_view what) const;
  absl::StatusOr<StoredTensor> Tensor(absl::string_view name, const PickleValue& value) const;

  std::shared_ptr<const FileBytes> file_;
  std::vector<absl::string_view> globals_;
  std::shared_ptr<const FileBytes> pickle_file_;  // keeps the pickle's bytes
  Pickle pickle_;
  std::map<std::string, Storage, std::less<>> storages_;  // by key
};

}  // namespace nibu::internal

#endif  // NIBU_MODELS_CONTAINERS_TORCH_FILE_H_
