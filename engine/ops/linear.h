// Affine maps y = act(x W + b) on oneDNN matmul primitives (int8 with VNNI or AMX: products of our
// own, see int8_product.h). The only part of nibu that knows oneDNN.
//
// A Linear holds a weight matrix packed once, at load, into the layout that oneDNN's kernels for
// this CPU want. A MatmulContext belongs to one worker and keeps the primitives (one for each shape
// and row count, created on first use) and the scratch memory.
//
// Row counts come from a small set (MatmulContext::PaddedRows): oneDNN's fast kernels have fixed
// shapes. Buffers handed to Apply therefore have room for PaddedRows(rows) rows; what is in the
// padding rows is ignored, and the padding rows of the output are overwritten with anything.
// A row's result never depends on the number of rows.
//
// Nothing here ends the process. Loading (Create, FromPacked) returns oneDNN's errors as statuses;
// Linear::Select and the calls of a MatmulContext throw them (they are std::exceptions). All may
// throw std::bad_alloc. What has thrown can be used again, and its results are right.
#ifndef NIBU_ENGINE_OPS_LINEAR_H_
#define NIBU_ENGINE_OPS_LINEAR_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "engine/core/huge_heap.h"
#include "engine/core/tensor.h"
#include "engine/ops/activation.h"

namespace nibu::internal {

enum class ComputeType : uint8_t { kFloat32, kBFloat16, kInt8 };

// "float32", "bfloat16" or "int8".
const char* ComputeTypeName(ComputeType type);

// The instruction set that oneDNN's kernels use here: "avx2", "avx512_core_vnni", ...
std::string InstructionSet();

// What is fastest here: int8 wherever oneDNN has kernels for it (x86-64 with SSE4.1), else float32.
ComputeType FastestComputeType();

// Whether there are kernels for it here: bfloat16 needs AVX-512 (and is emulated on some of those).
bool IsSupported(ComputeType type);

// What decides the layout of packed weights: instruction set and oneDNN version.
std::string PackFingerprint();

// A weight matrix as a file holds it: rank 2, any dtype.
struct MatrixView {
  TensorView values;
  // true: [out, in] (PyTorch, CTranslate2); false: [in, out] (Marian).
  bool out_in = true;
  // Integer dtypes only: weight = value / scale. One scale, or one for each output.
  absl::Span<const float> scales;
  // Where the model fixes it: inputs are quantized as round(x * activation_scale). 0: it does not.
  float activation_scale = 0;
};

// Immutable after creation; threads may share it. Copies share the weights.
class Linear {
 public:
  // Packs the given matrices side by side along the output dimension (q, k and v make one map).
  // `biases`: one rank-1 (or [1, out]) tensor a matrix, or none at all for no bias. All matrices
  // have the same number of inputs. The views need not outlive the call.
  // InvalidArgument: shapes that do not fit, non-finite values.
  static absl::StatusOr<Linear> Create(absl::Span<const MatrixView> matrices,
                                       absl::Span<const TensorView> biases, Activation activation,
                                       ComputeType compute_type);

  // Uses what packed_bytes() of an equal Linear gave, from where it lies (64-byte aligned; `owner`
  // keeps it alive). Padding may be written to, with the values it has.
  // FailedPrecondition: packed for another CPU or oneDNN. InvalidArgument: not such bytes.
  static absl::StatusOr<Linear> FromPacked(absl::Span<char> bytes,
                                           std::shared_ptr<const void> owner);

  // The chosen outputs of maps that together are one, in the given order; `blocks` are equally wide
  // but for the last one, and of one type. out() is rounded up, so that few shapes of matmuls are
  // needed: outputs beyond the chosen ones hold anything. No activation. Its memory comes from
  // `heap`, which outlives it.
  // REQUIRES: at least one output, each below the blocks' sum.
  static Linear Select(absl::Span<const Linear> blocks, absl::Span<const int> outputs,
                       HugeHeap* heap);

  int in() const;
  int out() const;
  ComputeType compute_type() const;
  Activation activation() const;
  size_t bytes() const;  // of the packed weights and the bias
  absl::string_view packed_bytes() const;

  struct Packed;
  const std::shared_ptr<const Packed>& packed() const { return packed_; }

 private:
  std::shared_ptr<const Packed> packed_;
};

struct MatmulTrace;  // the calls of a MatmulContext

// One worker's oneDNN primitives and scratch. Not thread-safe: each thread has its own. Calls set
// the number of OpenMP threads of the thread they are made on.
class MatmulContext {
 public:
  MatmulContext();
  ~MatmulContext();
  MatmulContext(const MatmulContext&) = delete;
  MatmulContext& operator=(const MatmulContext&) = delete;

  // OpenMP threads that calls use from now on, as far as OMP_THREAD_LIMIT and the like allow, and
  // the system has threads when so many are first asked for; 1 at first. With more, sums of float32
  // and bfloat16 may be taken in another order; those of int8 are exact.
  void SetThreads(int threads);

  // Rows of a single matmul, at most kMostRows: what it writes is still in L2 for the pass after
  // it, and its weights for the next piece.
  static constexpr int kMostRows = 96;
  static int PieceRows(const Linear& linear);

  // Whether rows that need different outputs of a map are faster in one call, and the same: see
  // matmul_rule.h.
  static bool SharesOutputs(const Linear& linear);

  // Rows that the buffers of a call with `rows` rows must have room for.
  static int PaddedRows(int rows);

  // y [rows, out] = act(x [rows, in] W + b). x and y do not overlap.
  void Apply(const Linear& linear, const float* x, int rows, float* y);

  // The same for maps with an input in common (the blocks of an output layer), which is quantized
  // once: after SetInput, ApplyToInput gives y [n, out] for rows first .. first + n - 1 of x.
  // `first` is a multiple of PieceRows, n at most kMostRows, `linear` one of the maps. x stays
  // valid; other calls end it.
  void SetInput(const Linear& linear, const float* x, int rows);
  void ApplyToInput(const Linear& linear, int first, int n, float* y);

  // y [rows, out of second] = second(first(x)). The hidden layer stays in here, in the compute
  // type.
  void ApplyBoth(const Linear& first, const Linear& second, const float* x, int rows, float* y);

  // From how many positions on attention gains by products in bfloat16 here, if ever.
  static int LeastBFloat16Positions();
  // y [m, n] = a [m, k] b in bfloat16, for two matrices of activations: b is [k, n], or [n, k] if
  // `transposed`. Rows follow each other; 64-byte aligned. Always on one thread. For few different
  // shapes: each has a primitive. REQUIRES: AVX-512.
  void Multiply(const uint16_t* a, const uint16_t* b, bool transposed, int m, int k, int n,
                float* y);

  // Number of primitives created so far (constant once warm).
  int primitives() const;

  // The matmul floor: between StartTrace and FinishTrace, every call with a Linear is noted,
  // and how long it takes (TracedSeconds, of all of them). ReplayTrace runs exactly those calls of
  // this context several times, nothing between them, and returns the seconds they took, the
  // median. For the weights of Linear::Select, which end with their sentence, others of their shape
  // stand in.
  void StartTrace();
  std::shared_ptr<const MatmulTrace> FinishTrace();
  static double TracedSeconds(const MatmulTrace& trace);
  double ReplayTrace(const MatmulTrace& trace);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_OPS_LINEAR_H_
