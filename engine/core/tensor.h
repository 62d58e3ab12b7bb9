// Tensor views: the type, the shape and the address of a tensor in a file or a buffer.
#ifndef NIBU_ENGINE_CORE_TENSOR_H_
#define NIBU_ENGINE_CORE_TENSOR_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/container/inlined_vector.h"

namespace nibu::internal {

enum class DType : uint8_t { kFloat32, kFloat16, kBFloat16, kInt8, kInt16, kInt32, kInt64, kUint8 };

// Returns the bytes of one element.
size_t DTypeSize(DType dtype);
// Returns "float32", "float16", "bfloat16", "int8", ...
const char* DTypeName(DType dtype);

using Shape = absl::InlinedVector<int64_t, 4>;

// Returns a shape as text, such as "[512, 2048]".
std::string ShapeString(const Shape& shape);

// A non-owning, typed, row-major view. `data` need not be aligned: files hold tensors at any
// offset.
struct TensorView {
  DType dtype = DType::kFloat32;
  Shape shape;
  const void* data = nullptr;

  int64_t elements() const;
  size_t bytes() const { return static_cast<size_t>(elements()) * DTypeSize(dtype); }
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_CORE_TENSOR_H_
