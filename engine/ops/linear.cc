// Linear::Create: checks matrices, joins them, quantizes or rounds them, and packs them. The other
// constructors are Linear::FromPacked, here, and Linear::Select, in backend/select_outputs.cc.
// backend/read_outputs.cc reads packed weights back.
#include "engine/ops/linear.h"

#include <algorithm>
#include <cstring>
#include <dnnl.hpp>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/core/aligned_buffer.h"
#include "engine/core/status_macros.h"
#include "engine/ops/backend/packed_linear.h"
#include "engine/ops/convert.h"
#include "engine/ops/quantize.h"

namespace nibu::internal {

int Linear::in() const { return packed_->spec.in; }
int Linear::out() const { return packed_->spec.out; }
ComputeType Linear::compute_type() const { return packed_->spec.type; }
Activation Linear::activation() const { return packed_->header().activation; }
size_t Linear::bytes() const { return packed_->header().size; }
bool Linear::has_bias() const { return packed_->header().has_bias != 0; }
bool Linear::is_selected() const { return !packed_->is_lasting; }
absl::string_view Linear::packed_bytes() const { return {packed_->blob, bytes()}; }

absl::StatusOr<Linear> Linear::FromPacked(absl::Span<char> bytes,
                                          std::shared_ptr<const void> owner) {
  Linear linear;
  try {
    NIBU_RETURN_IF_ERROR(CheckPacked({bytes.data(), bytes.size()}));
    linear.packed_ = std::make_unique<Packed>(bytes.data(), std::move(owner));
  } catch (const dnnl::error& e) {
    return absl::InvalidArgumentError(absl::StrCat("a packed weight is damaged: ", e.what()));
  }
  return linear;
}

namespace {

// The layout of a plain matrix with `in` inputs and `out` outputs, [out, in] or [in, out].
struct Layout {
  int in;
  int out;
  bool out_in;

  size_t elements() const { return static_cast<size_t>(in) * static_cast<size_t>(out); }
  // The elements from one input (or output) to the next.
  size_t in_stride() const { return out_in ? 1 : static_cast<size_t>(out); }
  size_t out_stride() const { return out_in ? static_cast<size_t>(in) : 1; }
};

// Checks the shapes of matrices and biases and returns the layout of all matrices side by side.
absl::StatusOr<Layout> CheckShapes(absl::Span<const MatrixView> matrices,
                                   absl::Span<const TensorView> biases) {
  int64_t in = -1;
  int64_t out = 0;
  if (matrices.empty() || (!biases.empty() && biases.size() != matrices.size())) {
    return absl::InvalidArgumentError("one bias a matrix, or none");
  }
  for (size_t i = 0; i < matrices.size(); ++i) {
    const Shape& shape = matrices[i].values.shape;
    if (shape.size() != 2 || shape[0] < 1 || shape[1] < 1 || shape[0] > INT32_MAX ||
        shape[1] > INT32_MAX || matrices[i].out_in != matrices[0].out_in) {
      return absl::InvalidArgumentError(
          absl::StrCat("a weight matrix must have rank 2, found shape ", ShapeString(shape)));
    }
    const int64_t inputs = matrices[i].out_in ? shape[1] : shape[0];
    const int64_t outputs = matrices[i].out_in ? shape[0] : shape[1];
    if (in >= 0 && inputs != in) {
      return absl::InvalidArgumentError(
          absl::StrCat("matrices of ", in, " and ", inputs, " inputs cannot be joined"));
    }
    const size_t scales = matrices[i].scales.size();
    if (scales > 1 && scales != static_cast<size_t>(outputs)) {
      return absl::InvalidArgumentError(absl::StrCat(scales, " scales for ", outputs, " outputs"));
    }
    if (!biases.empty() && biases[i].elements() != outputs) {
      return absl::InvalidArgumentError(absl::StrCat(
          "a bias of shape ", ShapeString(biases[i].shape), " for ", outputs, " outputs"));
    }
    in = inputs;
    out += outputs;
  }
  if (out > INT32_MAX) return absl::InvalidArgumentError("too many outputs");
  return Layout{static_cast<int>(in), static_cast<int>(out), matrices[0].out_in};
}

// Calls f(matrix, row, offset) for each row of each matrix as it lies in memory. `offset`: the
// element of the joined matrix where the row begins.
template <typename F>
void ForEachRow(absl::Span<const MatrixView> matrices, const Layout& layout, F f) {
  size_t first_output = 0;
  for (const MatrixView& matrix : matrices) {
    const auto rows = static_cast<size_t>(matrix.values.shape[0]);
    const auto columns = static_cast<size_t>(matrix.values.shape[1]);
    for (size_t r = 0; r < rows; ++r) {
      f(matrix, r,
        layout.out_in ? (first_output + r) * columns
                      : r * static_cast<size_t>(layout.out) + first_output);
    }
    first_output += layout.out_in ? rows : columns;
  }
}

const char* RowData(const MatrixView& matrix, size_t row) {
  return static_cast<const char*>(matrix.values.data) +
         row * static_cast<size_t>(matrix.values.shape[1]) * DTypeSize(matrix.values.dtype);
}

// Returns all matrices side by side as float32, in the orientation that they have.
absl::StatusOr<AlignedBuffer<float>> JoinAsFloat(absl::Span<const MatrixView> matrices,
                                                 const Layout& layout) {
  AlignedBuffer<float> all(layout.elements());
  ForEachRow(matrices, layout, [&](const MatrixView& matrix, size_t row, size_t offset) {
    const auto columns = static_cast<size_t>(matrix.values.shape[1]);
    float* to = all.data() + offset;
    ConvertToFloat(matrix.values.dtype, RowData(matrix, row), columns, to);
    if (matrix.scales.empty()) return;
    for (size_t c = 0; c < columns; ++c) {
      to[c] /= matrix.scales[matrix.scales.size() == 1 ? 0 : layout.out_in ? row : c];
    }
  });
  if (!AllFinite(all.data(), all.size())) {
    return absl::InvalidArgumentError("it holds NaN or infinite values");
  }
  return all;
}

// Returns all matrices side by side as s8, in the orientation that they have, and sets `scales`
// [out]: weight = value * scale. Matrices that are int8 already keep their values.
absl::StatusOr<AlignedBuffer<int8_t>> JoinAsInt8(absl::Span<const MatrixView> matrices,
                                                 const Layout& layout, float* scales) {
  AlignedBuffer<int8_t> values(layout.elements());
  const auto out = static_cast<size_t>(layout.out);
  const bool quantized =
      std::all_of(matrices.begin(), matrices.end(), [](const MatrixView& matrix) {
        return matrix.values.dtype == DType::kInt8 && !matrix.scales.empty();
      });
  if (!quantized) {
    NIBU_ASSIGN_OR_RETURN(const AlignedBuffer<float> all, JoinAsFloat(matrices, layout));
    for (size_t n = 0; n < out; ++n) {
      const size_t offset = n * layout.out_stride();
      const float scale = QuantizeWeights(all.data() + offset, static_cast<size_t>(layout.in),
                                          layout.in_stride(), values.data() + offset);
      // Rounding as files do makes a map equal whether it is quantized here or read from one.
      scales[n] = 1.0f / FileScale(scale);
    }
    return values;
  }
  ForEachRow(matrices, layout, [&](const MatrixView& matrix, size_t row, size_t offset) {
    std::memcpy(values.data() + offset, RowData(matrix, row),
                static_cast<size_t>(matrix.values.shape[1]));
  });
  float* scale = scales;
  for (const MatrixView& matrix : matrices) {
    const auto outputs = static_cast<size_t>(matrix.values.shape[layout.out_in ? 0 : 1]);
    for (size_t n = 0; n < outputs; ++n) {
      *scale++ = 1.0f / matrix.scales[matrix.scales.size() == 1 ? 0 : n];
    }
  }
  if (!AllFinite(scales, out)) {
    return absl::InvalidArgumentError("it has a scale that is zero or not finite");
  }
  return values;
}

// Fills packed->parts from plain values of the type that they have there: float, bfloat16 or
// int8_t. It does not use oneDNN's reorder, since that of oneDNN 3.7 leaves elements out at the
// ends of blocks on some CPUs (seen on AMD's Zen 5).
template <typename T>
void Pack(const Layout& layout, const T* values, Linear::Packed* packed) {
  for (size_t i = 0; i < packed->parts.size(); ++i) {
    char* const to = static_cast<char*>(packed->parts[i].get_data_handle());
    const Blocking& blocking = packed->header().blockings()[i];
    const auto offsets = [&blocking](size_t dimension) {
      std::vector<size_t> all(static_cast<size_t>(blocking.dims[dimension]));
      for (size_t k = 0; k < all.size(); ++k) all[k] = OffsetOf(blocking, dimension, k, sizeof(T));
      return all;
    };
    // Rows and columns are those of the plain matrix, so that it is read in the order of memory.
    const std::vector<size_t> rows = offsets(layout.out_in ? 1 : 0);
    const std::vector<size_t> columns = offsets(layout.out_in ? 0 : 1);
    const size_t stride = layout.out_in ? layout.out_stride() : layout.in_stride();
    for (size_t r = 0; r < rows.size(); ++r) {
      const T* const row = values + r * stride;
      char* const first = to + rows[r];
      for (size_t c = 0; c < columns.size(); ++c) {
        std::memcpy(first + columns[c], row + c, sizeof(T));
      }
    }
    values += static_cast<size_t>(packed->PartSpec(i).in) * layout.in_stride();
  }
}

// Packs s8 weights and sets zero_sums[n] = zero * sum over k of W[k][n] (see quantize.h).
void PackInt8(const Layout& layout, const AlignedBuffer<int8_t>& values, Linear::Packed* packed) {
  const int8_t* value = values.data();
  const auto rows = static_cast<size_t>(layout.out_in ? layout.out : layout.in);
  const size_t columns = layout.elements() / rows;
  for (size_t r = 0; r < rows; ++r) {
    for (size_t c = 0; c < columns; ++c) packed->zero_sums[layout.out_in ? r : c] += *value++;
  }
  for (int n = 0; n < layout.out; ++n) packed->zero_sums[n] *= packed->header().zero;
  Pack(layout, values.data(), packed);
}

// Returns the coarsest activation scale of all matrices, so that it clips no more than any of them
// would; 0: a matrix has none.
float ActivationScale(absl::Span<const MatrixView> matrices) {
  float smallest = matrices[0].activation_scale;
  for (const MatrixView& matrix : matrices) smallest = std::min(smallest, matrix.activation_scale);
  return smallest;
}

}  // namespace

// 1. Check the shapes. 2. Make room for the packed weight. 3. Join the matrices in the compute type
// and pack them. 4. Join the biases.
absl::StatusOr<Linear> Linear::Create(absl::Span<const MatrixView> matrices,
                                      absl::Span<const TensorView> biases, Activation activation,
                                      ComputeType compute_type) {
  NIBU_ASSIGN_OR_RETURN(const Layout layout, CheckShapes(matrices, biases));
  PackedHeader header{};
  header.type = compute_type;
  header.activation = activation;
  header.has_bias = biases.empty() ? 0 : 1;
  header.in = layout.in;
  header.out = layout.out;
  header.activation_scale = ActivationScale(matrices);
  std::unique_ptr<Packed> packed;
  try {
    packed = std::make_unique<Packed>(header, /*from=*/nullptr);
    if (compute_type == ComputeType::kInt8) {
      NIBU_ASSIGN_OR_RETURN(const AlignedBuffer<int8_t> values,
                            JoinAsInt8(matrices, layout, packed->scales));
      PackInt8(layout, values, packed.get());
    } else {
      NIBU_ASSIGN_OR_RETURN(const AlignedBuffer<float> values, JoinAsFloat(matrices, layout));
      if (compute_type == ComputeType::kFloat32) {
        Pack(layout, values.data(), packed.get());
      } else if (compute_type == ComputeType::kInt4) {
        const Int4Weights weights = Int4WeightsIn(packed->blob);
        for (size_t n = 0; n < weights.out; ++n) {
          packed->scales[n] = SetInt4Output(weights, n, values.data() + n * layout.out_stride(),
                                            layout.in_stride());
        }
      } else {
        AlignedBuffer<uint16_t> rounded(values.size());
        RoundToBFloat16(values.data(), values.size(), rounded.data());
        Pack(layout, rounded.data(), packed.get());
      }
    }
  } catch (const dnnl::error& e) {
    return absl::InternalError(absl::StrCat("oneDNN cannot pack a weight of ", layout.in,
                                            " inputs and ", layout.out, " outputs: ", e.what()));
  }
  float* to = packed->bias_data;
  for (const TensorView& bias : biases) {
    ConvertToFloat(bias.dtype, bias.data, static_cast<size_t>(bias.elements()), to);
    to += bias.elements();
  }
  if (!biases.empty() && !AllFinite(packed->bias_data, static_cast<size_t>(layout.out))) {
    return absl::InvalidArgumentError("its bias holds NaN or infinite values");
  }
  Linear linear;
  linear.packed_ = std::move(packed);
  return linear;
}

}  // namespace nibu::internal
