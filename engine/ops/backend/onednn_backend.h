// Matmuls by oneDNN's primitives. Internal to engine/ops, since it includes dnnl.hpp.
#ifndef NIBU_ENGINE_OPS_BACKEND_ONEDNN_BACKEND_H_
#define NIBU_ENGINE_OPS_BACKEND_ONEDNN_BACKEND_H_

#include <cstddef>
#include <cstdint>
#include <dnnl.hpp>
#include <map>
#include <tuple>

#include "engine/core/aligned_buffer.h"
#include "engine/ops/backend/backend.h"
#include "engine/ops/backend/packed_linear.h"

namespace nibu::internal {

// Keeps a primitive for each shape and row count, created on first use. Row counts come from a
// small set (row_counts.h), since oneDNN's fast kernels have fixed shapes. Calls set the number of
// OpenMP threads of the thread they are made on.
class OneDnnBackend final : public MatmulBackend {
 public:
  // See Matmul::SetThreads.
  void SetThreads(int threads);
  int threads() const { return threads_; }

  // Returns true for bfloat16 maps whose inputs are not cut into parts: parts are added up in
  // float32.
  bool WritesBFloat16(const Linear::Packed& map) const override;
  void Run(const Linear::Packed& map, const MatmulInput& x, int rows,
           const MatmulOutput& y) override;

  // Returns the number of primitives created so far.
  int primitives() const { return static_cast<int>(kernels_.size()); }

 private:
  // A primitive and its arguments. The data handles of x, y and the scratchpad change from call to
  // call; those of a map's weights belong to the map. Packed weights of one shape and type share
  // one layout, so a primitive serves them all.
  struct Kernel {
    Kernel(const dnnl::matmul::primitive_desc& description, int made_for);
    dnnl::primitive primitive;
    dnnl::memory x;
    dnnl::memory y;
    dnnl::memory scratchpad;
    size_t scratchpad_bytes;
    int threads;  // the threads that it was made for
  };
  using Key = std::tuple<MatmulSpec, int, int>;  // matmul, rows, threads

  // Returns the kernel of a matmul; creates it at first.
  Kernel& Find(const MatmulSpec& spec, int rows, const dnnl::memory& weights);
  // Runs a kernel. `bias`: null for none.
  void Execute(Kernel& kernel, const void* x, const dnnl::memory& weights, dnnl_memory_t bias,
               void* y);
  // Sets y [rows, out] = x W (+ b, activation), in the types of `spec`; for int8, to the sums. Pads
  // the rows and adds the parts of the inputs up.
  void RunAll(const MatmulSpec& spec, const Linear::Packed& map, const MatmulInput& x, int rows,
              const MatmulOutput& y);
  // Does the same for a part of the inputs and a row count of the rule, which needs no padding.
  void RunPart(const MatmulSpec& spec, const Linear::Packed& map, size_t part, const void* x,
               int rows, void* y);

  dnnl::stream stream_{CpuEngine()};
  std::map<Key, Kernel> kernels_;  // not Abseil's, which does not survive a failed allocation
  AlignedBuffer<char> scratchpad_;
  AlignedBuffer<char> part_input_;  // x for a part of the inputs
  AlignedBuffer<char> output_;      // y, if it has more padding rows than the caller has room for
  int threads_ = 1;
  int asked_threads_ = 1;  // the most threads that have been asked for
  int most_threads_ = 1;   // the most threads that the system had when it was asked
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_OPS_BACKEND_ONEDNN_BACKEND_H_
