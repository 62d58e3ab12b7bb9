// Passes tensors from a container (safetensors, .npz, ...) to the builder of a model.
//
// A container's reader fills a TensorSource; the builder then asks for each tensor by name, type
// and shape. A tensor that is missing, misshapen or of the wrong type is an error at once, and one
// that was never asked for is an error at the end. The messages name the tensor, its file, what was
// expected and what is there.
#ifndef NIBU_MODELS_CONTAINERS_TENSOR_SOURCE_H_
#define NIBU_MODELS_CONTAINERS_TENSOR_SOURCE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "engine/core/tensor.h"
#include "engine/ops/linear.h"
#include "models/files/file_bytes.h"

namespace nibu::internal {

// One tensor as its container holds it.
struct StoredTensor {
  TensorView view;  // points into `file`
  std::shared_ptr<const FileBytes> file;
  // For integer tensors: weight = value / scale, with one scale, or one for each output. Empty if
  // the container has none.
  absl::Span<const float> scales;
  std::shared_ptr<const void> scales_owner;  // null: they lie in `file`
  // True if the data are laid out as the transpose of what `view.shape` says.
  bool transposed = false;
  // The static multiplier of the inputs of this matrix; 0: none.
  float activation_scale = 0;

  // Converts float64 values, as many as view.shape says, to float32 in memory of the tensor's own.
  // `path` names it in messages.
  void TakeFloat64(const std::string& path, absl::string_view bytes);
  // Sets scales, which copies of this tensor share.
  void OwnScales(std::vector<float> values);
};

// Returns the number of bytes of a tensor; nothing if a size is negative, or if they overflow.
std::optional<uint64_t> BytesOf(DType dtype, const Shape& shape);

// Returns true if two tensors have the same type, shape, layout, scales and values.
bool SameTensor(const StoredTensor& a, const StoredTensor& b);

// Copies row `row` of the matrix [out, in] to `out`, also if it is stored as [in, out].
// REQUIRES: 0 <= row, and the matrix has more rows.
void CopyRow(const MatrixView& matrix, int64_t row, char* out);

// Linears that a file has in packed form (Linear::packed_bytes), by the name of their first matrix,
// and has no tensors for.
struct PackedLinears {
  ComputeType compute_type = ComputeType::kFloat32;
  std::string fingerprint;  // names the CPU and oneDNN that they are packed for
  std::map<std::string, absl::Span<char>, std::less<>> linears;
  std::shared_ptr<const void> owner;  // keeps their memory
};

// The tensors of a model. Not thread-safe.
class TensorSource {
 public:
  // `description` names the whole in messages: the path of the file (or of the index of its parts).
  explicit TensorSource(std::string description) : description_(std::move(description)) {}

  // InvalidArgument: a tensor of that name is there already.
  absl::Status Add(std::string name, StoredTensor tensor);
  // Takes the tensors of another file of the same model.
  absl::Status Absorb(TensorSource other);

  const std::string& description() const { return description_; }
  size_t size() const { return tensors_.size(); }
  std::vector<std::string> Names() const;
  bool Has(absl::string_view name) const { return tensors_.contains(name); }
  // Returns null if there is no such tensor. Does not count as asking for it.
  const StoredTensor* Find(absl::string_view name) const;

  // Returns a tensor; the view is valid as long as this source. NotFound: it is missing.
  // InvalidArgument: it has another shape or type.
  absl::StatusOr<TensorView> Get(absl::string_view name, const Shape& shape,
                                 absl::Span<const DType> allowed);
  // Returns a matrix of `in` inputs and `out` outputs, which the container has with the shape
  // [out, in], or [in, out] if `out_in` is false. It is of a floating-point type, or int8 or int16
  // with scales. Errors are those of Get().
  absl::StatusOr<MatrixView> GetMatrix(absl::string_view name, int64_t in, int64_t out,
                                       bool out_in);
  // Returns a floating-point vector, stored as [size] or [1, size]; the view has shape [size].
  // Errors are those of Get().
  absl::StatusOr<TensorView> GetVector(absl::string_view name, int64_t size);

  // Returns a tensor to which a reader adds scales or the like; null if there is no such tensor.
  StoredTensor* Mutable(absl::string_view name);

  // Linears that are packed already; may be empty.
  void SetPacked(PackedLinears packed) { packed_ = std::move(packed); }
  const PackedLinears& packed() const { return packed_; }
  // After SetShared(), embedding tables are used in the file, without being read or copied.
  void SetShared() { shared_ = true; }
  bool shared() const { return shared_; }

  // Counts a tensor as asked for, because it is of no use. It need not be there.
  void Ignore(absl::string_view name) { used_.emplace(name); }
  // InvalidArgument naming tensors that were not asked for.
  absl::Status CheckAllUsed() const;

  // Returns the memory behind the tensors read so far to the operating system. The tensors remain
  // valid; they are read from their files again.
  void DropPages() const;

 private:
  // Finds a tensor of the expected shape, and counts it as asked for.
  absl::StatusOr<const StoredTensor*> Use(absl::string_view name, const Shape& expected);

  std::string description_;
  std::map<std::string, StoredTensor, std::less<>> tensors_;
  std::set<std::string, std::less<>> used_;  // names that were asked for, or ignored
  PackedLinears packed_;
  bool shared_ = false;
};

}  // namespace nibu::internal

#endif  // NIBU_MODELS_CONTAINERS_TENSOR_SOURCE_H_
