// Matches the tensors of two name tables, and converts values row by row.
#include "models/assembly/tensor_plan.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "engine/ops/convert.h"
#include "engine/ops/quantize.h"
#include "models/assembly/build_model.h"
#include "models/assembly/name_table.h"

namespace nibu::internal {
namespace {

bool IsInteger(DType dtype) { return dtype == DType::kInt8 || dtype == DType::kInt16; }

enum class Kind { kMatrix, kOther };  // linears and tables of tokens, and all others

// Returns the type in which a tensor is written (see Quantization).
DType WrittenType(Kind kind, DType stored, Quantization quantization) {
  if (!quantization.has_value()) return stored;
  if (*quantization == ComputeType::kFloat32) return DType::kFloat32;
  if (kind == Kind::kOther) return stored;
  return *quantization == ComputeType::kBFloat16 ? DType::kBFloat16 : DType::kInt8;
}

// Adds the tensors of one weight after the other to a plan.
class Planner {
 public:
  Planner(const OpenedModel& model, Quantization quantization)
      : names_(model.names), source_(*model.source), quantization_(quantization) {}

  absl::Status Plan(const ListedWeight& weight, const TensorNames& from, const TensorNames& to,
                    bool out_in) {
    switch (weight.kind) {
      case ListedWeight::Kind::kTable:
        return Table(weight, from.weights[0], to.weights[0]);
      case ListedWeight::Kind::kLinear: {
        const size_t first = plan_.size();
        NIBU_RETURN_IF_ERROR(Weights(weight, from.weights, out_in, to.weights));
        NIBU_RETURN_IF_ERROR(Biases(weight, from.biases, to.biases));
        for (size_t i = first; i < plan_.size(); ++i) plan_[i].is_of_linear = true;
        return absl::OkStatus();
      }
      case ListedWeight::Kind::kNorm:
        NIBU_RETURN_IF_ERROR(Vector(from.weights[0], weight.rows, 0, weight.rows, to.weights[0]));
        return Biases(weight, from.biases, to.biases);
    }
    return absl::OkStatus();
  }

  absl::Status Refuse(const std::string& from) const {
    return NotSupported(source_.description(), ": \"", from,
                        "\" has no place in the format to be written");
  }

  std::vector<PlannedTensor> Take() { return std::move(plan_); }

 private:
  absl::Status Table(const ListedWeight& weight, const std::string& from, const std::string& to) {
    NIBU_ASSIGN_OR_RETURN(const MatrixView matrix,
                          source_.GetMatrix(from, weight.columns, weight.rows, true));
    const bool is_tokens = absl::EndsWith(weight.name, ".tokens");
    NIBU_RETURN_IF_ERROR(
        Add(is_tokens ? Kind::kMatrix : Kind::kOther, to, from, matrix, 0, weight.rows));
    plan_.back().activation_scale = 0;
    plan_.back().is_of_linear = is_tokens && IsTiedToOutput(from, names_, source_);
    return absl::OkStatus();
  }

  // Plans elements [first, first + rows) of a vector of `size`; zeros if `from` is empty.
  absl::Status Vector(const std::string& from, int size, int64_t first, int64_t rows,
                      const std::string& to) {
    if (from.empty() && to.empty()) return absl::OkStatus();
    if (from.empty()) {
      PlannedTensor& zeros = plan_.emplace_back();
      zeros.name = to;
      zeros.shape = {rows};
      zeros.rows = rows;
      return absl::OkStatus();
    }
    NIBU_ASSIGN_OR_RETURN(TensorView view, source_.GetVector(from, size));
    view.shape = {size, 1};
    NIBU_RETURN_IF_ERROR(Add(Kind::kOther, to, from, MatrixView{view, true, {}}, first, rows));
    plan_.back().shape = {rows};
    return absl::OkStatus();
  }

  // Plans the matrices of a linear. The source may have them side by side in one tensor (q, k and
  // v), of which each written one takes its rows.
  absl::Status Weights(const ListedWeight& weight, const std::vector<std::string>& from,
                       bool out_in, const std::vector<std::string>& to) {
    const auto sources = static_cast<int>(from.size());
    const auto targets = static_cast<int>(to.size());
    if (targets % sources != 0 || weight.rows % targets != 0) {
      return absl::InternalError(absl::StrCat("cannot write ", sources, " tensors as ", targets));
    }
    const int stored = weight.rows / sources;
    const int written = weight.rows / targets;
    for (int i = 0; i < targets; ++i) {
      const std::string& name = from[static_cast<size_t>(i * written / stored)];
      NIBU_ASSIGN_OR_RETURN(const MatrixView matrix,
                            source_.GetMatrix(name, weight.columns, stored, out_in));
      NIBU_RETURN_IF_ERROR(Add(Kind::kMatrix, to[static_cast<size_t>(i)], name, matrix,
                               i * written % stored, written));
    }
    return absl::OkStatus();
  }

  absl::Status Biases(const ListedWeight& weight, const std::vector<std::string>& from,
                      const std::vector<std::string>& to) {
    if (to.empty()) return from.empty() ? absl::OkStatus() : Refuse(from[0]);
    const int stored = weight.rows / std::max(1, static_cast<int>(from.size()));
    const int written = weight.rows / static_cast<int>(to.size());
    for (int i = 0; i < static_cast<int>(to.size()); ++i) {
      const std::string name = from.empty() ? "" : from[static_cast<size_t>(i * written / stored)];
      NIBU_RETURN_IF_ERROR(
          Vector(name, stored, i * written % stored, written, to[static_cast<size_t>(i)]));
    }
    return absl::OkStatus();
  }

  absl::Status Add(Kind kind, const std::string& name, const std::string& from_name,
                   const MatrixView& from, int64_t first_row, int64_t rows) {
    if (name.empty()) return Refuse(from_name);
    PlannedTensor& tensor = plan_.emplace_back();
    tensor.name = name;
    tensor.dtype = WrittenType(kind, from.values.dtype, quantization_);
    tensor.shape = {rows, from.values.shape[from.out_in ? 1 : 0]};
    tensor.activation_scale = kind == Kind::kMatrix ? from.activation_scale : 0;
    tensor.from = from;
    tensor.first_row = first_row;
    tensor.rows = rows;
    tensor.from_name = from_name;
    tensor.from_file = source_.Find(from_name)->file->path();
    return absl::OkStatus();
  }

  const NameTable& names_;
  TensorSource& source_;
  const Quantization quantization_;
  std::vector<PlannedTensor> plan_;
};

// Appends `values` to `data` as one row of type `dtype`; an int8 row gets a scale of its own.
void AppendRow(DType dtype, const std::vector<float>& values, TensorData* data) {
  const size_t at = data->bytes.size();
  data->bytes.resize(at + values.size() * DTypeSize(dtype));
  char* out = data->bytes.data() + at;
  switch (dtype) {
    case DType::kBFloat16: {
      std::vector<uint16_t> rounded(values.size());
      RoundToBFloat16(values.data(), values.size(), rounded.data());
      std::memcpy(out, rounded.data(), rounded.size() * sizeof(uint16_t));
      break;
    }
    case DType::kInt8: {
      const float scale =
          QuantizeWeights(values.data(), values.size(), 1, reinterpret_cast<int8_t*>(out));
      data->scales.push_back(FileScale(scale));
      break;
    }
    default:  // float32
      std::memcpy(out, values.data(), values.size() * sizeof(float));
  }
}

}  // namespace

absl::StatusOr<std::vector<PlannedTensor>> PlanTensors(const OpenedModel& model,
                                                       const NameTable& to,
                                                       Quantization quantization) {
  Planner planner(model, quantization);
  for (const ListedWeight& weight : ListWeights(model.config)) {
    const auto from = model.names.tensors.find(weight.name);
    const auto target = to.tensors.find(weight.name);
    if (from == model.names.tensors.end() || target == to.tensors.end()) {
      return planner.Refuse(weight.name);
    }
    NIBU_RETURN_IF_ERROR(
        planner.Plan(weight, from->second, target->second,
                     weight.name == "output" ? model.names.output_out_in : model.names.out_in));
  }
  NIBU_RETURN_IF_ERROR(CheckLeftovers(model.names, model.source.get()));
  return planner.Take();
}

absl::StatusOr<TensorData> ConvertTensor(const PlannedTensor& tensor) {
  TensorData data;
  const auto columns = static_cast<size_t>(tensor.shape.size() == 2 ? tensor.shape[1] : 1);
  const size_t row_bytes = columns * DTypeSize(tensor.dtype);
  if (tensor.from_name.empty()) {
    data.bytes.assign(static_cast<size_t>(tensor.rows) * row_bytes, '\0');
    return data;
  }
  const MatrixView& from = tensor.from;
  const bool kept = tensor.dtype == from.values.dtype;
  std::string row(columns * DTypeSize(from.values.dtype), '\0');
  std::vector<float> values(columns);
  data.bytes.reserve(static_cast<size_t>(tensor.rows) * row_bytes);
  for (int64_t r = tensor.first_row; r < tensor.first_row + tensor.rows; ++r) {
    CopyRow(from, r, row.data());
    const size_t scale = from.scales.size() == 1 ? 0 : static_cast<size_t>(r);
    // A row that keeps its type is copied; if it is of floating point, its values are checked.
    if (kept) {
      data.bytes.append(row);
      if (from.scales.size() > 1) data.scales.push_back(from.scales[scale]);
      if (IsInteger(tensor.dtype)) continue;
    }
    ConvertToFloat(from.values.dtype, row.data(), columns, values.data());
    if (!AllFinite(values.data(), columns)) {
      return Invalid(tensor.from_file, ": tensor \"", tensor.from_name,
                     "\" holds NaN or infinite values; the file is damaged");
    }
    if (kept) continue;
    if (!from.scales.empty()) {
      for (float& value : values) value /= from.scales[scale];
    }
    AppendRow(tensor.dtype, values, &data);
  }
  if (kept && from.scales.size() == 1) data.scales.assign(1, from.scales[0]);
  return data;
}

}  // namespace nibu::internal
