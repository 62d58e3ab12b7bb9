// What a MatmulContext keeps, and the calls that its traces note. Internal to engine/ops.
#ifndef NIBU_ENGINE_OPS_MATMUL_STATE_H_
#define NIBU_ENGINE_OPS_MATMUL_STATE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <dnnl.hpp>
#include <map>
#include <memory>
#include <tuple>

#include "engine/core/aligned_buffer.h"
#include "engine/ops/linear.h"
#include "engine/ops/packed_linear.h"

namespace nibu::internal {

// A primitive and its arguments. The data handles of x, y and the scratchpad change from call to
// call; those of a Linear's weights belong to it.
struct MatmulKernel {
  explicit MatmulKernel(const dnnl::matmul::primitive_desc& description, int made_for)
      : primitive(description),
        x(description.src_desc(), CpuEngine(), DNNL_MEMORY_NONE),
        y(description.dst_desc(), CpuEngine(), DNNL_MEMORY_NONE),
        weights(description.weights_desc(), CpuEngine(), DNNL_MEMORY_NONE),
        scratchpad(description.scratchpad_desc(), CpuEngine(), DNNL_MEMORY_NONE),
        scratchpad_bytes(description.scratchpad_desc().get_size()),
        threads(made_for) {}

  dnnl::primitive primitive;
  dnnl::memory x;
  dnnl::memory y;
  dnnl::memory weights;  // for Multiply
  dnnl::memory scratchpad;
  size_t scratchpad_bytes;
  int threads;  // that it was made for
};

struct MatmulTrace {
  // A kernel (null: MultiplyInt8 for so many rows), its weights (null: any that end with their
  // sentence), and which part of them.
  using Call = std::tuple<MatmulKernel*, int, const Linear::Packed*, size_t>;
  // The different calls with the first such weights, and the order in which they were made. Not
  // Abseil's, whose maps do not survive a failed allocation.
  std::map<Call, std::shared_ptr<const Linear::Packed>> calls;
  std::deque<const decltype(calls)::value_type*> order;
  double seconds = 0;  // of all calls, where they were made

  void Note(MatmulKernel* kernel, int rows, const Linear& linear, size_t part) {
    const Linear::Packed* const packed = linear.packed().get();
    const Call call(kernel, rows, packed->lasting ? packed : nullptr, part);
    order.push_back(&*calls.try_emplace(call, linear.packed()).first);
  }
};

struct MatmulContext::State {
  // Where a kernel's weights come from. Packed ones of one shape and type share one layout, so a
  // primitive serves them all. The others are rows of activations, [k, n] or [n, k].
  enum class Weights : uint8_t { kPacked, kPlain, kTransposed };
  using Key = std::tuple<MatmulSpec, Weights, int, int>;  // rows, threads

  dnnl::stream stream{CpuEngine()};
  std::map<Key, MatmulKernel> kernels;
  AlignedBuffer<char> scratchpad;
  AlignedBuffer<char> input;         // activations as the int8 and bfloat16 matmuls read them
  AlignedBuffer<char> part_input;    // the same, for a part of the weights
  AlignedBuffer<char> output;        // with more padding rows than the caller has room for
  AlignedBuffer<float> hidden;       // of ApplyBoth, a piece
  AlignedBuffer<char> hidden_input;  // int8: all of it, as the second matmul reads it
  AlignedBuffer<float> row_scales;
  const void* prepared = nullptr;  // what the next matmul reads
  const int8_t* in_l2 = nullptr;   // the latest weights of MultiplyInt8
  int threads = 1;
  int asked_threads = 1;               // at most, so far
  int most_threads = 1;                // that the system had then
  std::shared_ptr<MatmulTrace> trace;  // null: none is made

  // `packed`: one of the weights, for kPacked.
  MatmulKernel& Find(const MatmulSpec& spec, Weights weights, int rows, int with_threads,
                     const dnnl::memory* packed);
  // `bias`: null for none.
  void Execute(MatmulKernel& kernel, const void* x, const dnnl::memory& weights, dnnl_memory_t bias,
               void* y);
  // y = x W (+ b, activation), all in the types of `spec`; whether it is finished: false for sums
  // of int8. `scales`: of the rows. At most kMostRows.
  bool Run(const MatmulSpec& spec, const Linear& linear, const void* x, const float* scales,
           int rows, void* y);
  // The same for a part of the inputs, and as many rows as there are kernels for.
  void RunPart(const MatmulSpec& spec, const Linear& linear, size_t part, const void* x, int rows,
               void* y);
  // x as the matmul wants it to `prepared`: itself, or converted into `input`.
  void Prepare(const Linear::Packed& packed, const float* x, int rows);
  // int8: sums into outputs, in place.
  void Dequantize(const Linear::Packed& packed, const float* scales, int rows, float* y);
  // int8: y [rows, out] by a product of our own.
  void MultiplyInt8(const Linear::Packed& packed, const void* x, const float* scales, int rows,
                    float* y);
  // int8: `hidden`, of `packed`, into rows of hidden_input from `first` on, for `next`, a row at a
  // time while it is in L1.
  void Requantize(const Linear::Packed& packed, size_t first, int rows, bool is_finished,
                  const Linear::Packed& next);
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_OPS_MATMUL_STATE_H_
