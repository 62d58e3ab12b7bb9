// The weights of affine maps y = act(x W + b), packed once, at load, into the layout that the
// kernels for this CPU want. matmul.h applies them.
//
// Create and FromPacked return oneDNN's errors as statuses; Select throws them (they are
// std::exceptions). All may throw std::bad_alloc. Nothing here ends the process.
#ifndef NIBU_ENGINE_OPS_LINEAR_H_
#define NIBU_ENGINE_OPS_LINEAR_H_

#include <cstddef>
#include <memory>
#include <memory_resource>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "engine/core/tensor.h"
#include "engine/ops/activation.h"
#include "engine/ops/cpu.h"

namespace nibu::internal {

// A weight matrix as a file holds it: rank 2, any dtype. It owns nothing.
struct MatrixView {
  TensorView values;
  // true: [out, in] (PyTorch, CTranslate2); false: [in, out] (Marian).
  bool out_in = true;
  // Only for integer dtypes: weight = value / scale. One scale, or one for each output.
  absl::Span<const float> scales;
  // Inputs are quantized as round(x * activation_scale). 0: each row gets a scale of its own.
  float activation_scale = 0;
};

// What a map was made of: one matrix [out, in], in the type that it is packed in.
struct PlainLinear {
  DType dtype = DType::kFloat32;
  int in = 0;
  int out = 0;
  std::string values;
  std::vector<float> scales;  // int8: weight = value / scale, one for each output
  std::vector<float> bias;    // [out]; empty: none
  Activation activation = Activation::kNone;
  float activation_scale = 0;  // see MatrixView

  MatrixView matrix() const {
    return {{dtype, {out, in}, values.data()}, true, scales, activation_scale};
  }
};

// Immutable after creation; threads may share it. Copies share the weights.
class Linear {
 public:
  // Packs the given matrices side by side along the output dimension (q, k and v make one map).
  // `biases`: one rank-1 (or [1, out]) tensor for each matrix; empty: no bias. All matrices have
  // the same number of inputs. The views need not outlive the call. InvalidArgument: shapes that do
  // not fit, non-finite values.
  static absl::StatusOr<Linear> Create(absl::Span<const MatrixView> matrices,
                                       absl::Span<const TensorView> biases, Activation activation,
                                       ComputeType compute_type);

  // Makes a map of packed_bytes(), which it uses where they lie, kept alive by `owner`. The bytes
  // must be writable: oneDNN may write the value that padding has already to it.
  // FailedPrecondition: they were packed for another CPU or oneDNN. InvalidArgument: they are no
  // packed bytes. REQUIRES: they are 64-byte aligned.
  static absl::StatusOr<Linear> FromPacked(absl::Span<char> bytes,
                                           std::shared_ptr<const void> owner);

  // Undoes the packing of packed_bytes() of any CPU and oneDNN: Create makes the same map of the
  // result again, except that weights of 4 bits, which every CPU can use where they lie, become
  // float32 and would be rounded anew. InvalidArgument: they are no packed bytes. REQUIRES: they
  // are 64-byte aligned.
  static absl::StatusOr<PlainLinear> Unpack(absl::string_view bytes);

  // Returns a map of the chosen outputs, in the given order, without an activation. The blocks
  // together are one map; they have the same type and the same number of outputs, except that the
  // last one may have fewer. out() is rounded up, so that few shapes of matmuls are needed; outputs
  // beyond the chosen ones are anything. The map's memory comes from `memory`, which outlives it.
  // REQUIRES: at least one block and one output; each output is one of the blocks'.
  static Linear Select(absl::Span<const Linear> blocks, absl::Span<const int> outputs,
                       std::pmr::memory_resource* memory);

  int in() const;
  int out() const;
  ComputeType compute_type() const;
  Activation activation() const;
  size_t bytes() const;  // the size of packed_bytes()
  bool has_bias() const;
  bool is_selected() const;  // Select has made it, for a sentence
  // The weights, the bias and whatever else is packed with them, for FromPacked.
  absl::string_view packed_bytes() const;

  struct Packed;
  const std::shared_ptr<const Packed>& packed() const { return packed_; }

 private:
  std::shared_ptr<const Packed> packed_;
};

// Reads single outputs of the map that some blocks make together, as an embedding table that is
// tied to the output layer. Immutable; threads may share it.
class OutputReader {
 public:
  // REQUIRES: the blocks are as Linear::Select takes them.
  explicit OutputReader(std::vector<Linear> blocks);

  int in() const { return blocks_[0].in(); }
  int out() const;
  // Sets weights [in] = scale * the weights of an output. REQUIRES: 0 <= output < out().
  void Read(int output, float scale, float* weights) const;

 private:
  std::vector<Linear> blocks_;
  // The offset of each input in its part, in bytes. The last block, which may be narrower, may have
  // another layout than the others.
  std::vector<size_t> offsets_;
  std::vector<size_t> last_offsets_;
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_OPS_LINEAR_H_
