// Matmuls by oneDNN: threads, primitives made on first use, padding of rows, parts of the inputs.
#include "engine/ops/backend/onednn_backend.h"

#include <omp.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "absl/base/macros.h"
#include "engine/core/huge_memory.h"
#include "engine/ops/backend/row_counts.h"
#include "engine/ops/quantize.h"

namespace nibu::internal {

using dnnl::memory;

namespace {

// Returns the smallest row count of the rule that holds `rows` rows. REQUIRES: at most kMostRows.
int RoundUpRows(const MatmulRule& rule, int rows) {
  ABSL_ASSERT(0 < rows && rows <= kMostRows);
  return *std::lower_bound(rule.row_counts.begin(), rule.row_counts.end(), rows);
}

// Returns whether the system can start so many more threads. Those that it starts wait for a mutex,
// so that all of them exist at once.
bool HasThreads(int count) try {
  std::mutex mutex;
  std::vector<std::jthread> threads;
  const std::lock_guard<std::mutex> all(mutex);
  while (count-- > 0) threads.emplace_back([&] { const std::lock_guard<std::mutex> one(mutex); });
  return true;
} catch (const std::system_error&) {
  return false;
}

}  // namespace

OneDnnBackend::Kernel::Kernel(const dnnl::matmul::primitive_desc& description, int made_for)
    : primitive(description),
      x(description.src_desc(), CpuEngine(), DNNL_MEMORY_NONE),
      y(description.dst_desc(), CpuEngine(), DNNL_MEMORY_NONE),
      scratchpad(description.scratchpad_desc(), CpuEngine(), DNNL_MEMORY_NONE),
      scratchpad_bytes(description.scratchpad_desc().get_size()),
      threads(made_for) {}

void OneDnnBackend::SetThreads(int threads) {
  // A primitive shares its work out to the threads that it was made for, whether or not OpenMP
  // gives it so many. So `threads` is never more than OpenMP will give.
  const int most = omp_get_max_active_levels() < 1 ? 1 : omp_get_thread_limit();
  threads = std::clamp(threads, 1, std::max(most, 1));
  // OpenMP ends the process if it cannot start a thread. So this is tried first, with twice as many
  // threads: those started here may still count for a moment after they have ended.
  if (threads > asked_threads_) {
    asked_threads_ = threads;
    if (HasThreads(2 * (threads - 1))) most_threads_ = threads;
  }
  threads_ = std::min(threads, most_threads_);
}

OneDnnBackend::Kernel& OneDnnBackend::Find(const MatmulSpec& spec, int rows,
                                           const memory& weights) {
  const Key key(spec, rows, threads_);
  const auto found = kernels_.find(key);
  if (found != kernels_.end()) return found->second;
  omp_set_num_threads(threads_);  // a primitive is made for the number that is set now
  // oneDNN 2.6 does not survive a failed allocation, nor does OpenMP if a thread gets no stack.
  ProbeMemory(static_cast<size_t>(threads_) << 24);
  const auto description = DescribeMatmul(spec, rows, weights.get_desc());
  return kernels_.try_emplace(key, description, threads_).first->second;
}

void OneDnnBackend::Execute(Kernel& kernel, const void* x, const memory& weights,
                            dnnl_memory_t bias, void* y) {
  if (kernel.threads > 1) omp_set_dynamic(0);  // so that it gets all its threads: see SetThreads
  omp_set_num_threads(kernel.threads);
  scratchpad_.Reserve(kernel.scratchpad_bytes);
  kernel.x.set_data_handle(const_cast<void*>(x));
  kernel.y.set_data_handle(y);
  kernel.scratchpad.set_data_handle(scratchpad_.data());
  const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_SRC, kernel.x.get()},
                                       {DNNL_ARG_WEIGHTS, weights.get()},
                                       {DNNL_ARG_DST, kernel.y.get()},
                                       {DNNL_ARG_SCRATCHPAD, kernel.scratchpad.get()},
                                       {DNNL_ARG_BIAS, bias}};
  const int count = bias != nullptr ? 5 : 4;
  const dnnl_status_t status =
      dnnl_primitive_execute(kernel.primitive.get(), stream_.get(), count, arguments);
  if (status != dnnl_success) throw dnnl::error(status, "oneDNN failed in a matmul");
}

bool OneDnnBackend::WritesBFloat16(const Linear::Packed& map) const {
  return map.spec.type == ComputeType::kBFloat16 && map.parts.size() == 1;
}

// oneDNN 2 has no scales for each row, so the sums of int8 are turned into floats here, in place.
void OneDnnBackend::Run(const Linear::Packed& map, const MatmulInput& x, int rows,
                        const MatmulOutput& y) {
  ABSL_ASSERT(0 < rows && rows <= kMostRows);
  ABSL_ASSERT(x.room >= UsualRows(rows) && y.room >= UsualRows(rows));
  ABSL_ASSERT(y.dtype == DType::kFloat32 || WritesBFloat16(map));
  MatmulSpec spec = map.spec;
  spec.bfloat16_output = y.dtype == DType::kBFloat16;
  RunAll(spec, map, x, rows, y);
  if (map.spec.type != ComputeType::kInt8) return;
  const auto columns = static_cast<size_t>(map.spec.out);
  DequantizeRows(map.dequantization(), x.scales, static_cast<size_t>(rows), columns,
                 static_cast<const int32_t*>(y.rows), columns, static_cast<float*>(y.rows),
                 columns);
}

void OneDnnBackend::RunAll(const MatmulSpec& spec, const Linear::Packed& map, const MatmulInput& x,
                           int rows, const MatmulOutput& y) {
  const int count = RoundUpRows(map.rule, rows);
  const size_t row = static_cast<size_t>(spec.out) * (spec.bfloat16_output ? 2 : 4);
  void* to = y.rows;
  // A few small maps pad to more rows than there need be in float32 results, which then go to
  // output_ first.
  if (!spec.bfloat16_output && count > UsualRows(rows)) {
    output_.Reserve(static_cast<size_t>(count) * row);
    to = output_.data();
  } else {
    ABSL_ASSERT(count <= y.room);
  }
  if (map.parts.size() == 1) {
    ABSL_ASSERT(count <= x.room);
    RunPart(spec, map, 0, x.rows, count, to);
  } else {
    const size_t element = memory::data_type_size(SourceType(spec.type));
    const size_t stride = static_cast<size_t>(spec.in) * element;
    // Copy the columns of x that a part needs side by side; each matmul adds to the sum in `to`.
    part_input_.Reserve(static_cast<size_t>(count) * stride);
    const char* from = static_cast<const char*>(x.rows);
    for (size_t i = 0; i < map.parts.size(); ++i) {
      const MatmulSpec part_spec = map.PartSpec(i);
      const size_t width = static_cast<size_t>(part_spec.in) * element;
      for (size_t r = 0; r < static_cast<size_t>(rows); ++r) {
        std::memcpy(part_input_.data() + r * width, from + r * stride, width);
      }
      RunPart(part_spec, map, i, part_input_.data(), count, to);
      from += width;
    }
  }
  if (to != y.rows) std::memcpy(y.rows, to, static_cast<size_t>(rows) * row);
}

void OneDnnBackend::RunPart(const MatmulSpec& spec, const Linear::Packed& map, size_t part,
                            const void* x, int rows, void* y) {
  const memory& weights = map.parts[part];
  Execute(Find(spec, rows, weights), x, weights, map.BiasOf(part), y);
}

}  // namespace nibu::internal
