// Embedding tables, sinusoidal positions, and biases by distance.
#include "engine/ops/embedding.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <utility>

#include "absl/base/macros.h"
#include "absl/strings/str_cat.h"
#include "engine/core/status_macros.h"
#include "engine/ops/convert.h"
#include "engine/ops/quantize.h"

namespace nibu::internal {

absl::StatusOr<EmbeddingTable> EmbeddingTable::Share(const TensorView& table,
                                                     absl::Span<const float> scales,
                                                     std::shared_ptr<const void> owner) {
  if (table.shape.size() != 2 || table.shape[0] < 1 || table.shape[1] < 1 ||
      table.shape[0] > INT32_MAX || table.shape[1] > INT32_MAX) {
    return absl::InvalidArgumentError(absl::StrCat(
        "an embedding table must have rank 2, found shape ", ShapeString(table.shape)));
  }
  const bool integer = table.dtype == DType::kInt8 || table.dtype == DType::kInt16;
  if (!integer && table.dtype != DType::kFloat32 && table.dtype != DType::kFloat16 &&
      table.dtype != DType::kBFloat16) {
    return absl::InvalidArgumentError(
        absl::StrCat("an embedding table cannot have type ", DTypeName(table.dtype)));
  }
  const auto rows = static_cast<size_t>(table.shape[0]);
  if (integer ? scales.size() != 1 && scales.size() != rows : !scales.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("an embedding table of ", rows, " rows has ", scales.size(), " scales"));
  }
  EmbeddingTable result;
  result.rows_ = static_cast<int>(table.shape[0]);
  result.dim_ = static_cast<int>(table.shape[1]);
  result.dtype_ = table.dtype;
  result.scales_.assign(scales.begin(), scales.end());
  for (float& scale : result.scales_) scale = 1.0f / scale;
  if (!AllFinite(result.scales_.data(), result.scales_.size())) {
    return absl::InvalidArgumentError("it has a scale that is zero or not finite");
  }
  result.owner_ = std::move(owner);
  result.data_ = static_cast<const char*>(table.data);
  return result;
}

DType EmbeddingTable::HeldType(DType stored, ComputeType compute_type) {
  const DType type = HasInt8Inputs(compute_type)              ? DType::kInt8
                     : compute_type == ComputeType::kBFloat16 ? DType::kBFloat16
                                                              : DType::kFloat32;
  return DTypeSize(type) < DTypeSize(stored) ? type : stored;
}

absl::StatusOr<EmbeddingTable> EmbeddingTable::Create(const TensorView& table,
                                                      absl::Span<const float> scales,
                                                      ComputeType compute_type) {
  NIBU_ASSIGN_OR_RETURN(EmbeddingTable result, Share(table, scales, nullptr));
  result.dtype_ = HeldType(table.dtype, compute_type);
  const bool is_kept = result.dtype_ == table.dtype;
  if (!is_kept) result.scales_.clear();
  const auto dim = static_cast<size_t>(result.dim_);
  const size_t row_bytes = dim * DTypeSize(result.dtype_);
  auto copy = std::make_shared<AlignedBuffer<char>>(static_cast<size_t>(result.rows_) * row_bytes);
  if (is_kept) std::memcpy(copy->data(), table.data, table.bytes());
  std::vector<float> row(dim);
  const char* from = static_cast<const char*>(table.data);
  for (size_t r = 0; r < static_cast<size_t>(result.rows_); ++r) {
    // Values are divided by the scale, as nibu-convert does; Lookup multiplies by its reciprocal.
    ConvertToFloat(table.dtype, from + r * dim * DTypeSize(table.dtype), dim, row.data());
    for (size_t i = 0; i < dim && !scales.empty(); ++i)
      row[i] /= scales[scales.size() == 1 ? 0 : r];
    if (!AllFinite(row.data(), row.size())) {
      return absl::InvalidArgumentError("it holds NaN or infinite values");
    }
    char* const to = copy->data() + r * row_bytes;
    if (is_kept) continue;
    if (result.dtype_ == DType::kBFloat16) {
      RoundToBFloat16(row.data(), dim, reinterpret_cast<uint16_t*>(to));
    } else {
      const float scale = QuantizeWeights(row.data(), dim, 1, reinterpret_cast<int8_t*>(to));
      result.scales_.push_back(1.0f / FileScale(scale));  // as a file has it; see JoinAsInt8
    }
  }
  result.data_ = copy->data();
  result.owner_ = std::move(copy);
  return result;
}

EmbeddingTable EmbeddingTable::Tie(OutputReader outputs) {
  EmbeddingTable result;
  result.rows_ = outputs.out();
  result.dim_ = outputs.in();
  result.outputs_ = std::make_shared<const OutputReader>(std::move(outputs));
  return result;
}

size_t EmbeddingTable::bytes() const {
  if (outputs_ != nullptr) return 0;
  return static_cast<size_t>(rows_) * static_cast<size_t>(dim_) * DTypeSize(dtype_) +
         scales_.size() * sizeof(float);
}

void EmbeddingTable::Lookup(int row, float scale, float* out) const {
  ABSL_ASSERT(0 <= row && row < rows_);
  if (outputs_ != nullptr) return outputs_->Read(row, scale, out);
  const auto dim = static_cast<size_t>(dim_);
  ConvertToFloat(dtype_, data_ + static_cast<size_t>(row) * dim * DTypeSize(dtype_), dim, out);
  if (!scales_.empty()) scale *= scales_[scales_.size() == 1 ? 0 : static_cast<size_t>(row)];
  if (scale == 1.0f) return;
  for (size_t i = 0; i < dim; ++i) out[i] *= scale;
}

AlignedBuffer<float> SinusoidalPositions(PositionKind kind, int positions, int offset, int dim) {
  const int half = dim / 2;
  const int denominator = kind == PositionKind::kSinusoidalHalfMinusOne ? half - 1 : half;
  const bool interleaved = kind == PositionKind::kSinusoidalInterleaved;
  AlignedBuffer<float> table(static_cast<size_t>(positions) * static_cast<size_t>(dim));
  for (size_t i = 0; i < table.size(); ++i) table[i] = 0;  // an odd last column stays 0
  for (int i = 0; i < half; ++i) {
    const double frequency =
        denominator > 0 ? std::pow(10000.0, -static_cast<double>(i) / denominator) : 1.0;
    // z = e^(i angle) is turned by the frequency from one position to the next. In double
    // precision, the error stays far below a float's last bit.
    const std::complex<double> turn = std::polar(1.0, frequency);
    std::complex<double> z = std::polar(1.0, frequency * offset);
    for (int p = 0; p < positions; ++p) {
      float* row = table.data() + static_cast<size_t>(p) * static_cast<size_t>(dim);
      row[interleaved ? 2 * i : i] = static_cast<float>(z.imag());
      row[interleaved ? 2 * i + 1 : half + i] = static_cast<float>(z.real());
      z *= turn;
    }
  }
  return table;
}

namespace {

// Returns the bucket of a distance >= 0: see DistanceBiases.
int DistanceBucket(int distance, int buckets, int max_distance) {
  const int exact = buckets / 2;
  if (distance < exact) return distance;
  const double part = std::log(static_cast<double>(distance) / exact) /
                      std::log(static_cast<double>(max_distance) / exact);
  // A bucket's first distance must not fall below it by a rounding error.
  const double bucket = exact + (buckets - exact) * part + 1e-9;
  return std::min(static_cast<int>(bucket), buckets - 1);
}

}  // namespace

std::vector<float> DistanceBiases(absl::Span<const float> table, int heads, bool both_ways,
                                  int max_distance) {
  const int rows = static_cast<int>(table.size()) / heads;
  const int buckets = both_ways ? rows / 2 : rows;
  ABSL_ASSERT(buckets / 2 > 0 && max_distance > buckets / 2);
  std::vector<float> biases;
  biases.reserve(static_cast<size_t>(heads) * (2 * static_cast<size_t>(max_distance) + 1));
  for (int h = 0; h < heads; ++h) {
    for (int d = -max_distance; d <= max_distance; ++d) {
      int row = DistanceBucket(d > 0 && !both_ways ? 0 : std::abs(d), buckets, max_distance);
      if (d > 0 && both_ways) row += buckets;
      biases.push_back(
          table[static_cast<size_t>(row) * static_cast<size_t>(heads) + static_cast<size_t>(h)]);
    }
  }
  return biases;
}

}  // namespace nibu::internal
