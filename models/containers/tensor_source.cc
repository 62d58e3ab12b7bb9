// Looks up tensors by name, and checks their shapes, types and scales.
#include "models/containers/tensor_source.h"

#include <cmath>
#include <cstring>

#include "absl/algorithm/container.h"
#include "absl/base/macros.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"

namespace nibu::internal {
namespace {

constexpr DType kFloats[] = {DType::kFloat32, DType::kFloat16, DType::kBFloat16};

absl::Status WrongShape(absl::string_view name, const StoredTensor& tensor, const Shape& expected) {
  return Invalid(tensor.file->path(), ": tensor \"", name, "\" has shape ",
                 ShapeString(tensor.view.shape), ", expected ", ShapeString(expected),
                 "; weights and configuration do not belong together");
}

absl::Status WrongType(absl::string_view name, const StoredTensor& tensor,
                       absl::Span<const DType> allowed) {
  return Invalid(tensor.file->path(), ": tensor \"", name, "\" has type ",
                 DTypeName(tensor.view.dtype), ", expected ",
                 absl::StrJoin(allowed, " or ", [](std::string* out, DType dtype) {
                   out->append(DTypeName(dtype));
                 }));
}

}  // namespace

std::optional<uint64_t> BytesOf(DType dtype, const Shape& shape) {
  uint64_t bytes = DTypeSize(dtype);
  for (const int64_t size : shape) {
    if (size < 0 || __builtin_mul_overflow(bytes, static_cast<uint64_t>(size), &bytes)) {
      return std::nullopt;
    }
  }
  return bytes;
}

void StoredTensor::TakeFloat64(const std::string& path, absl::string_view bytes) {
  ABSL_ASSERT(bytes.size() == BytesOf(DType::kInt64, view.shape));  // they are as large
  std::string floats;
  floats.reserve(bytes.size() / 2);
  for (; bytes.size() >= sizeof(double); bytes.remove_prefix(sizeof(double))) {
    double value = 0;
    std::memcpy(&value, bytes.data(), sizeof(value));
    const auto narrow = static_cast<float>(value);
    floats.append(reinterpret_cast<const char*>(&narrow), sizeof(narrow));
  }
  file = FileBytes::InMemory(path, std::move(floats));
  view.dtype = DType::kFloat32;
  view.data = file->bytes().data();
}

void StoredTensor::OwnScales(std::vector<float> values) {
  auto owner = std::make_shared<const std::vector<float>>(std::move(values));
  scales = *owner;
  scales_owner = std::move(owner);
}

bool SameTensor(const StoredTensor& a, const StoredTensor& b) {
  return a.view.dtype == b.view.dtype && a.view.shape == b.view.shape && a.scales == b.scales &&
         a.transposed == b.transposed &&
         (a.view.data == b.view.data || std::memcmp(a.view.data, b.view.data, a.view.bytes()) == 0);
}

void CopyRow(const MatrixView& matrix, int64_t row, char* out) {
  ABSL_ASSERT(0 <= row && row < matrix.values.shape[matrix.out_in ? 0 : 1]);
  const size_t size = DTypeSize(matrix.values.dtype);
  const auto* data = static_cast<const char*>(matrix.values.data);
  const auto columns = static_cast<size_t>(matrix.values.shape[1]);
  const auto at = static_cast<size_t>(row);
  if (matrix.out_in) {
    std::memcpy(out, data + at * columns * size, columns * size);
    return;
  }
  const auto inputs = static_cast<size_t>(matrix.values.shape[0]);
  for (size_t i = 0; i < inputs; ++i) {
    std::memcpy(out + i * size, data + (i * columns + at) * size, size);
  }
}

absl::Status TensorSource::Add(std::string name, StoredTensor tensor) {
  const std::string path = tensor.file->path();
  auto [it, inserted] = tensors_.try_emplace(std::move(name), std::move(tensor));
  if (!inserted) {
    return Invalid(path, ": tensor \"", it->first, "\" is there twice");
  }
  return absl::OkStatus();
}

absl::Status TensorSource::Absorb(TensorSource other) {
  for (auto& [name, tensor] : other.tensors_) {
    NIBU_RETURN_IF_ERROR(Add(name, std::move(tensor)));
  }
  return absl::OkStatus();
}

std::vector<std::string> TensorSource::Names() const {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : tensors_) names.push_back(name);
  return names;
}

const StoredTensor* TensorSource::Find(absl::string_view name) const {
  const auto it = tensors_.find(name);
  return it == tensors_.end() ? nullptr : &it->second;
}

absl::StatusOr<const StoredTensor*> TensorSource::Use(absl::string_view name,
                                                      const Shape& expected) {
  const StoredTensor* tensor = Find(name);
  if (tensor == nullptr) {
    return absl::NotFoundError(absl::StrCat(
        description_, ": tensor \"", name, "\" is missing, expected with shape ",
        ShapeString(expected), "; the model is incomplete or of another architecture"));
  }
  if (tensor->view.shape != expected) return WrongShape(name, *tensor, expected);
  Ignore(name);
  return tensor;
}

absl::StatusOr<TensorView> TensorSource::Get(absl::string_view name, const Shape& shape,
                                             absl::Span<const DType> allowed) {
  NIBU_ASSIGN_OR_RETURN(const StoredTensor* tensor, Use(name, shape));
  if (!absl::c_linear_search(allowed, tensor->view.dtype)) return WrongType(name, *tensor, allowed);
  return tensor->view;
}

absl::StatusOr<MatrixView> TensorSource::GetMatrix(absl::string_view name, int64_t in, int64_t out,
                                                   bool out_in) {
  const Shape shape = out_in ? Shape{out, in} : Shape{in, out};
  NIBU_ASSIGN_OR_RETURN(const StoredTensor* tensor, Use(name, shape));
  if (!absl::c_linear_search(kFloats, tensor->view.dtype)) {
    if (tensor->view.dtype != DType::kInt8 && tensor->view.dtype != DType::kInt16) {
      return WrongType(name, *tensor, kFloats);
    }
    if (tensor->scales.size() != 1 && tensor->scales.size() != static_cast<size_t>(out)) {
      return Invalid(tensor->file->path(), ": integer tensor \"", name, "\" of shape ",
                     ShapeString(shape), " has ", tensor->scales.size(), " scales, expected 1 or ",
                     out);
    }
  }
  for (const float scale : tensor->scales) {
    if (!std::isfinite(scale) || scale <= 0.0f) {
      return Invalid(tensor->file->path(), ": tensor \"", name,
                     "\" has a scale that makes no sense, ", scale);
    }
  }
  MatrixView matrix{tensor->view, out_in, tensor->scales, tensor->activation_scale};
  // The view shows the matrix as it is laid out.
  if (tensor->transposed) {
    std::swap(matrix.values.shape[0], matrix.values.shape[1]);
    matrix.out_in = !out_in;
  }
  return matrix;
}

StoredTensor* TensorSource::Mutable(absl::string_view name) {
  const auto it = tensors_.find(name);
  return it == tensors_.end() ? nullptr : &it->second;
}

absl::StatusOr<TensorView> TensorSource::GetVector(absl::string_view name, int64_t size) {
  const StoredTensor* tensor = Find(name);
  const bool is_row = tensor != nullptr && tensor->view.shape == Shape{1, size};
  NIBU_ASSIGN_OR_RETURN(TensorView view, Get(name, is_row ? Shape{1, size} : Shape{size}, kFloats));
  view.shape = {size};
  return view;
}

absl::Status TensorSource::CheckAllUsed() const {
  constexpr size_t kNamed = 3;
  std::vector<absl::string_view> unused;
  size_t count = 0;
  for (const auto& [name, tensor] : tensors_) {
    if (used_.contains(name)) continue;
    if (++count <= kNamed) unused.push_back(name);
  }
  if (count == 0) return absl::OkStatus();
  return Invalid(
      description_, ": ", count, " tensor", count == 1 ? "" : "s",
      " of no known use: ", absl::StrJoin(unused, ", "), count > kNamed ? ", ..." : "",
      "; weights and configuration do not belong together, or the architecture is not supported");
}

void TensorSource::DropPages() const {
  std::set<const FileBytes*> files;
  for (const auto& [name, tensor] : tensors_) files.insert(tensor.file.get());
  for (const FileBytes* file : files) file->DropPages();
}

}  // namespace nibu::internal
