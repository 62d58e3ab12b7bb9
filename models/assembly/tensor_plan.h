// Plans which tensors a writer writes, under the names of another table, and converts them one by
// one to their written types. Linears are written as [out, in], with one tensor for each of q, k
// and v.
#ifndef NIBU_MODELS_ASSEMBLY_TENSOR_PLAN_H_
#define NIBU_MODELS_ASSEMBLY_TENSOR_PLAN_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/ops/linear.h"
#include "models/assembly/opened_model.h"

namespace nibu::internal {

// The types of written weights. Without a value, each tensor keeps its type. kFloat32: all are
// float32. kBFloat16: linears and token embeddings are bfloat16. kInt8: they are int8 with a scale
// for each output or token; those that are int8 already keep their scales. All others keep their
// types.
using Quantization = std::optional<ComputeType>;

// A tensor to be written. Valid as long as its TensorSource.
struct PlannedTensor {
  std::string name;
  DType dtype = DType::kFloat32;
  Shape shape;
  float activation_scale = 0;
  bool is_of_linear = false;  // a linear, or a table that is tied to the output layer, has it

  // The tensor is rows [first_row, first_row + rows) of this matrix, seen as [out, in] however it
  // is stored. A vector is a matrix of one column.
  MatrixView from;
  int64_t first_row = 0;
  int64_t rows = 0;
  std::string from_name;  // empty: the model has no such tensor, which means zeros
  std::string from_file;
};

// Returns a plan for every tensor of the model. Unimplemented: `to` has no name for a tensor that
// the model has. Other errors are those of BuildModel, unused tensors among them.
absl::StatusOr<std::vector<PlannedTensor>> PlanTensors(const OpenedModel& model,
                                                       const NameTable& to,
                                                       Quantization quantization);

// The values of a planned tensor.
struct TensorData {
  std::string bytes;          // row-major, of the planned type
  std::vector<float> scales;  // for integers: weight = value / scale; one, or one for each row
};

// Reads and converts one tensor. InvalidArgument naming it: it has NaN or infinite values.
absl::StatusOr<TensorData> ConvertTensor(const PlannedTensor& tensor);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_ASSEMBLY_TENSOR_PLAN_H_
