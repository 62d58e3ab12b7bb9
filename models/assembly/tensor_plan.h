// A model's tensors under another table's names, one by one in another type: what every writer
// writes. Linears come out as [out, in], one tensor for each of q, k and v.
#ifndef NIBU_MODELS_ASSEMBLY_TENSOR_PLAN_H_
#define NIBU_MODELS_ASSEMBLY_TENSOR_PLAN_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/ops/linear.h"
#include "models/assembly/opened_model.h"

namespace nibu::internal {

// The types of written weights. Empty: each tensor's own. kFloat32: all float32. kBFloat16:
// linears and embeddings. kInt8: linears, with a scale for each output (what is quantized already
// stays as it is). The rest stays what it is.
using Quantization = std::optional<ComputeType>;

// A tensor to be written. Valid as long as its TensorSource.
struct PlannedTensor {
  std::string name;
  DType dtype = DType::kFloat32;
  Shape shape;
  float activation_scale = 0;

  // Rows [first_row, first_row + rows) of a matrix, its transpose where that is stored as
  // [in, out]; a vector is a matrix of one column.
  MatrixView from;
  int64_t first_row = 0;
  int64_t rows = 0;
  std::string from_name;  // empty: the model has no such tensor, which means zeros
  std::string from_file;
};

// All tensors of the model, whose names in `to` are not empty; what `to` knows no name for must be
// absent in the model. Errors as BuildModel's, unused tensors among them.
absl::StatusOr<std::vector<PlannedTensor>> PlanTensors(const OpenedModel& model,
                                                       const NameTable& to,
                                                       Quantization quantization);

struct TensorData {
  std::string bytes;          // row-major, of the planned type
  std::vector<float> scales;  // integers: weight = value / scale; one, or one a row
};

// InvalidArgument naming the tensor: it holds NaN or infinite values.
absl::StatusOr<TensorData> ConvertTensor(const PlannedTensor& tensor);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_ASSEMBLY_TENSOR_PLAN_H_
