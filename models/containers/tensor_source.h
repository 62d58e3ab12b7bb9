// The seam between a container of tensors (safetensors, .npz, ...) and the model built from it.
//
// A container's reader fills a TensorSource; the builder then asks for each tensor by name, type
// and shape. What is missing, misshapen or of the wrong type is an error at once, what was never
// asked for is one at the end; the messages name the tensor, its file, what was expected and what
// is there.
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
  // Integer tensors: weight = value / scale; one scale, or one for each output. Empty: none known.
  absl::Span<const float> scales;
  std::shared_ptr<const void> scales_owner;  // null: they lie in `file`
  // The data are laid out as the transpose of what `view.shape` says.
  bool transposed = false;
  // Static multiplier of the inputs of this matrix; 0: none.
  float activation_scale = 0;

  // Takes float64 values, as many as view.shape says, as float32 in memory of its own. `path` names
  // it in messages.
  void TakeFloat64(const std::string& path, absl::string_view bytes);
  // Sets scales, which copies of this tensor share.
  void OwnScales(std::vector<float> values);
};

// Bytes of a tensor; none: a size is negative, or they overflow.
std::optional<uint64_t> BytesOf(DType dtype, const Shape& shape);

// The same values, held once or twice.
bool SameTensor(const StoredTensor& a, const StoredTensor& b);

// Copies row `row` of [out, in] out of a matrix that may be stored the other way.
void CopyRow(const MatrixView& matrix, int64_t row, char* out);

// Linears that a file holds packed already (Linear::packed_bytes), by the name of their first
// matrix.
struct PackedLinears {
  ComputeType compute_type = ComputeType::kFloat32;
  std::string fingerprint;  // of the CPU and oneDNN that they are for
  std::map<std::string, absl::Span<char>, std::less<>> linears;
  std::shared_ptr<const void> owner;  // of their memory
};

// Not thread-safe.
class TensorSource {
 public:
  // `description` names the whole in messages: the path of the file (or of the index of its parts).
  explicit TensorSource(std::string description) : description_(std::move(description)) {}

  // InvalidArgument when the name is there already.
  absl::Status Add(std::string name, StoredTensor tensor);
  // Takes the tensors of another file of the same model.
  absl::Status Absorb(TensorSource other);

  const std::string& description() const { return description_; }
  size_t size() const { return tensors_.size(); }
  std::vector<std::string> Names() const;
  bool Has(absl::string_view name) const { return tensors_.contains(name); }
  // Null when there is no such tensor. Does not count as asking for it.
  const StoredTensor* Find(absl::string_view name) const;

  // The tensor, valid as long as this source. NotFound, or InvalidArgument.
  absl::StatusOr<TensorView> Get(absl::string_view name, const Shape& shape,
                                 absl::Span<const DType> allowed);
  // A matrix of `in` inputs and `out` outputs, stored as [out, in] or [in, out]: floating point, or
  // int8 and int16 with scales.
  absl::StatusOr<MatrixView> GetMatrix(absl::string_view name, int64_t in, int64_t out,
                                       bool out_in);
  // A floating-point vector, stored as [size] or [1, size]; its view has shape [size].
  absl::StatusOr<TensorView> GetVector(absl::string_view name, int64_t size);

  // A tensor that has more to it than its place; null when there is no such tensor.
  StoredTensor* Mutable(absl::string_view name);

  // Linears that need not be packed. Empty: none.
  void SetPacked(PackedLinears packed) { packed_ = std::move(packed); }
  const PackedLinears& packed() const { return packed_; }
  // Whether embedding tables are to be used from where they lie, unread.
  void SetShared() { shared_ = true; }
  bool shared() const { return shared_; }

  // Marks a tensor that is there, but of no use, as asked for. Nothing happens when it is not
  // there.
  void Ignore(absl::string_view name) { used_.emplace(name); }
  // InvalidArgument naming tensors that nobody asked for.
  absl::Status CheckAllUsed() const;

  // Lets the operating system have the memory behind the tensors read so far. They remain valid.
  void DropPages() const;

 private:
  absl::StatusOr<const StoredTensor*> Use(absl::string_view name, const Shape& expected);

  std::string description_;
  std::map<std::string, StoredTensor, std::less<>> tensors_;
  std::set<std::string, std::less<>> used_;  // names, of which some may not be there
  PackedLinears packed_;
  bool shared_ = false;
};

}  // namespace nibu::internal

#endif  // NIBU_MODELS_CONTAINERS_TENSOR_SOURCE_H_
