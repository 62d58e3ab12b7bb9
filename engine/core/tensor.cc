// The sizes and names of element types, and the text of shapes.
#include "engine/core/tensor.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace nibu::internal {

namespace {

struct Type {
  size_t size;
  const char* name;
};

// The size and the name of each DType, in the order of that enum.
constexpr Type kTypes[] = {{4, "float32"}, {2, "float16"}, {2, "bfloat16"}, {1, "int8"},
                           {2, "int16"},   {4, "int32"},   {8, "int64"},    {1, "uint8"}};

}  // namespace

size_t DTypeSize(DType dtype) { return kTypes[static_cast<size_t>(dtype)].size; }

const char* DTypeName(DType dtype) { return kTypes[static_cast<size_t>(dtype)].name; }

std::string ShapeString(const Shape& shape) {
  return absl::StrCat("[", absl::StrJoin(shape, ", "), "]");
}

int64_t TensorView::elements() const {
  int64_t n = 1;
  for (int64_t d : shape) n *= d;
  return n;
}

}  // namespace nibu::internal
