#include <omp.h>

#include <algorithm>
#include <cstring>
#include <dnnl.hpp>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "engine/core/huge_memory.h"
#include "engine/core/profile.h"
#include "engine/ops/int8_product.h"
#include "engine/ops/linear.h"
#include "engine/ops/matmul_state.h"
#include "engine/ops/packed_linear.h"

namespace nibu::internal {

using dnnl::memory;

namespace {

// The smallest count that holds `rows` rows. REQUIRES: at most kMostRows.
int RoundUpRows(const MatmulRule& rule, int rows) {
  return *std::lower_bound(rule.row_counts.begin(), rule.row_counts.end(), rows);
}

// Rows of an int8 hidden layer that go through one map before they go through the next one, whose
// weights then stay in L2 for all of them.
constexpr int kHiddenRows = 4 * MatmulContext::kMostRows;

// Calls f(first, n) for pieces of `rows` rows, at most `most` each.
template <typename F>
void ForEachPiece(int rows, int most, F f) {
  for (int first = 0; first < rows; first += most) {
    f(static_cast<size_t>(first), std::min(most, rows - first));
  }
}

// Whether the system has so many more threads at once.
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

MatmulKernel& MatmulContext::State::Find(const MatmulSpec& spec, Weights weights, int rows,
                                         int with_threads, const memory* packed) {
  const Key key(spec, weights, rows, with_threads);
  const auto found = kernels.find(key);
  if (found != kernels.end()) return found->second;
  using Tag = memory::format_tag;
  const memory::desc layout =
      packed != nullptr ? packed->get_desc()
                        : memory::desc({spec.in, spec.out}, WeightType(spec.type),
                                       weights == Weights::kTransposed ? Tag::ba : Tag::ab);
  omp_set_num_threads(with_threads);  // which a primitive keeps
  // oneDNN 2.6 does not survive a failed allocation, nor OpenMP a thread without a stack: this one
  // fails first.
  MapHuge(static_cast<size_t>(with_threads) << 24);
  return kernels.try_emplace(key, DescribeMatmul(spec, rows, layout), with_threads).first->second;
}

void MatmulContext::State::Execute(MatmulKernel& kernel, const void* x, const memory& weights,
                                   dnnl_memory_t bias, void* y) {
  if (kernel.threads > 1) omp_set_dynamic(0);  // so that it gets all its threads: see SetThreads
  omp_set_num_threads(kernel.threads);
  scratchpad.Reserve(kernel.scratchpad_bytes);
  kernel.x.set_data_handle(const_cast<void*>(x));
  kernel.y.set_data_handle(y);
  kernel.scratchpad.set_data_handle(scratchpad.data());
  const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_SRC, kernel.x.get()},
                                       {DNNL_ARG_WEIGHTS, weights.get()},
                                       {DNNL_ARG_DST, kernel.y.get()},
                                       {DNNL_ARG_SCRATCHPAD, kernel.scratchpad.get()},
                                       {DNNL_ARG_BIAS, bias}};
  const int count = bias != nullptr ? 5 : 4;
  const dnnl_status_t status =
      dnnl_primitive_execute(kernel.primitive.get(), stream.get(), count, arguments);
  if (status != dnnl_success) throw dnnl::error(status, "oneDNN failed in a matmul");
}

bool MatmulContext::State::Run(const MatmulSpec& spec, const Linear& linear, const void* x,
                               const float* scales, int rows, void* y) {
  const Linear::Packed& packed = *linear.packed();
  if (packed.int8_weights != nullptr && threads == 1) {
    {
      double none = 0;
      ScopedTimer timer(trace != nullptr ? &trace->seconds : &none);
      MultiplyInt8(packed, x, scales, rows, static_cast<float*>(y));
    }
    if (trace != nullptr) trace->Note(nullptr, rows, linear, 0);
    return FinishesInt8(packed.header().activation);
  }
  const int count = RoundUpRows(packed.rule, rows);
  const size_t row = static_cast<size_t>(spec.out) * (spec.bfloat16_output ? 2 : 4);
  void* to = y;
  // Others may follow a whole piece.
  if (count > (rows == PieceRows(linear) ? rows : UsualRows(rows))) {
    output.Reserve(static_cast<size_t>(count) * row);
    to = output.data();
  }
  if (packed.parts.size() == 1) {
    RunPart(spec, linear, 0, x, count, to);
  } else {
    const size_t element = memory::data_type_size(SourceType(spec.type));
    const size_t stride = static_cast<size_t>(spec.in) * element;
    part_input.Reserve(static_cast<size_t>(count) * stride);
    const char* from = static_cast<const char*>(x);
    for (size_t i = 0; i < packed.parts.size(); ++i) {
      const MatmulSpec part_spec = packed.PartSpec(i);
      const size_t width = static_cast<size_t>(part_spec.in) * element;
      for (size_t r = 0; r < static_cast<size_t>(rows); ++r) {
        std::memcpy(part_input.data() + r * width, from + r * stride, width);
      }
      RunPart(part_spec, linear, i, part_input.data(), count, to);
      from += width;
    }
  }
  if (to != y) std::memcpy(y, to, static_cast<size_t>(rows) * row);
  return spec.type != ComputeType::kInt8;
}

void MatmulContext::State::RunPart(const MatmulSpec& spec, const Linear& linear, size_t part,
                                   const void* x, int rows, void* y) {
  const Linear::Packed& packed = *linear.packed();
  const memory& weights = packed.parts[part];
  MatmulKernel& kernel = Find(spec, Weights::kPacked, rows, threads, &weights);
  if (trace == nullptr) return Execute(kernel, x, weights, packed.BiasOf(part), y);
  {
    ScopedTimer timer(&trace->seconds);
    Execute(kernel, x, weights, packed.BiasOf(part), y);
  }
  trace->Note(&kernel, rows, linear, part);
}

void MatmulContext::State::MultiplyInt8(const Linear::Packed& packed, const void* x,
                                        const float* scales, int rows, float* y) {
  const bool fetches = packed.int8_weights != std::exchange(in_l2, packed.int8_weights);
  const auto in = static_cast<size_t>(packed.spec.in);
  const auto out = static_cast<size_t>(packed.spec.out);
  nibu::internal::MultiplyInt8(CurrentIsa(), {packed.int8_weights, in, out}, fetches,
                               static_cast<const uint8_t*>(x), static_cast<size_t>(rows),
                               packed.dequantization(), scales, y);
}

void MatmulContext::State::Prepare(const Linear::Packed& packed, const float* x, int rows) {
  prepared = x;
  if (packed.spec.type == ComputeType::kFloat32) return;
  const auto in = static_cast<size_t>(packed.spec.in);
  const auto n = static_cast<size_t>(rows);
  input.Reserve((n + kMostPaddedRows) * in * memory::data_type_size(SourceType(packed.spec.type)));
  prepared = input.data();
  if (packed.spec.type == ComputeType::kBFloat16) {
    RoundToBFloat16(x, n * in, reinterpret_cast<uint16_t*>(input.data()));
  } else {
    row_scales.Reserve(n);
    QuantizeRows(x, n, in, ActivationRange(CurrentIsa()), packed.header().static_scale,
                 reinterpret_cast<uint8_t*>(input.data()), row_scales.data());
  }
}

void MatmulContext::State::Dequantize(const Linear::Packed& packed, const float* scales, int rows,
                                      float* y) {
  const auto columns = static_cast<size_t>(packed.spec.out);
  DequantizeRows(packed.dequantization(), scales, static_cast<size_t>(rows), columns,
                 reinterpret_cast<const int32_t*>(y), columns, y, columns);
}

void MatmulContext::State::Requantize(const Linear::Packed& packed, size_t first, int rows,
                                      bool is_finished, const Linear::Packed& next) {
  const auto columns = static_cast<size_t>(packed.spec.out);
  for (size_t row = 0; row < static_cast<size_t>(rows); ++row) {
    float* const values = hidden.data() + row * columns;
    float* const scale = row_scales.data() + first + row;
    if (!is_finished) Dequantize(packed, scale, 1, values);
    QuantizeRows(values, 1, columns, ActivationRange(CurrentIsa()), next.header().static_scale,
                 reinterpret_cast<uint8_t*>(hidden_input.data()) + (first + row) * columns, scale);
  }
}

MatmulContext::MatmulContext() : state_(std::make_unique<State>()) {}

void MatmulContext::SetThreads(int threads) {
  // A primitive shares its work out to the threads it was made for, whether or not it gets them.
  const int most = omp_get_max_active_levels() < 1 ? 1 : omp_get_thread_limit();
  threads = std::clamp(threads, 1, std::max(most, 1));
  // OpenMP ends the process where it gets no thread. Twice as many: those that were started here
  // may count for a moment longer.
  if (threads > state_->asked_threads) {
    state_->asked_threads = threads;
    if (HasThreads(2 * (threads - 1))) state_->most_threads = threads;
  }
  state_->threads = std::min(threads, state_->most_threads);
}

MatmulContext::~MatmulContext() = default;

// Whatever the pieces. What few small maps need beyond it, they keep to themselves.
int MatmulContext::PaddedRows(int rows) {
  const auto padded = [rows](int piece) { return rows - rows % piece + UsualRows(rows % piece); };
  return std::max(padded(kLeastPieceRows), padded(kMostRows));
}

int MatmulContext::PieceRows(const Linear& linear) {
  return nibu::internal::PieceRows(linear.compute_type(), CurrentIsa());
}

bool MatmulContext::SharesOutputs(const Linear& linear) {
  return nibu::internal::SharesOutputs(linear.compute_type(), CurrentIsa());
}

// Piece by piece, so that what one pass writes is in L2 when the next one reads it.
void MatmulContext::Apply(const Linear& linear, const float* x, int rows, float* y) {
  const Linear::Packed& packed = *linear.packed();
  ForEachPiece(rows, PieceRows(linear), [&](size_t first, int n) {
    float* const to = y + first * static_cast<size_t>(packed.spec.out);
    SetInput(linear, x + first * static_cast<size_t>(packed.spec.in), n);
    ApplyToInput(linear, 0, n, to);
  });
}

void MatmulContext::SetInput(const Linear& linear, const float* x, int rows) {
  state_->Prepare(*linear.packed(), x, rows);
}

void MatmulContext::ApplyToInput(const Linear& linear, int first, int n, float* y) {
  const Linear::Packed& packed = *linear.packed();
  const auto from = static_cast<size_t>(first);
  const size_t row =
      static_cast<size_t>(packed.spec.in) * memory::data_type_size(SourceType(packed.spec.type));
  const char* const x = static_cast<const char*>(state_->prepared) + from * row;
  const bool is_int8 = packed.spec.type == ComputeType::kInt8;
  const float* const scales = is_int8 ? state_->row_scales.data() + from : nullptr;
  if (!state_->Run(packed.spec, linear, x, scales, n, y)) {
    state_->Dequantize(packed, scales, n, y);
  }
}

void MatmulContext::ApplyBoth(const Linear& first, const Linear& second, const float* x, int rows,
                              float* y) {
  const Linear::Packed& up = *first.packed();
  const Linear::Packed& down = *second.packed();
  const bool is_int8 = up.spec.type == ComputeType::kInt8;
  const int piece = PieceRows(first);
  const auto in = static_cast<size_t>(up.spec.in);
  const auto width = static_cast<size_t>(up.spec.out);
  // The hidden layer is made in the type the second matmul reads: oneDNN itself writes bfloat16.
  MatmulSpec spec = up.spec;
  spec.bfloat16_output = up.spec.type == ComputeType::kBFloat16 && up.parts.size() == 1;
  ForEachPiece(rows, is_int8 ? kHiddenRows : piece, [&](size_t row, int n) {
    const int most = std::min(n, piece);
    const int room = spec.bfloat16_output ? (most + kMostPaddedRows) / 2 + 1 : PaddedRows(most);
    state_->hidden.Reserve(static_cast<size_t>(room) * width);
    SetInput(first, x + row * in, n);
    if (is_int8) {
      state_->hidden_input.Reserve(static_cast<size_t>(PaddedRows(n) + kInt8Rows) * width);
      const char* const input = state_->input.data();
      ForEachPiece(n, piece, [&](size_t from, int some) {
        const float* const scales = state_->row_scales.data() + from;
        const bool is_finished =
            state_->Run(spec, first, input + from * in, scales, some, state_->hidden.data());
        state_->Requantize(up, from, some, is_finished, down);
      });
      state_->prepared = state_->hidden_input.data();
    } else {
      state_->Run(spec, first, state_->prepared, /*scales=*/nullptr, n, state_->hidden.data());
      if (spec.bfloat16_output) {
        state_->prepared = state_->hidden.data();
      } else {
        state_->Prepare(down, state_->hidden.data(), n);
      }
    }
    float* const to = y + row * static_cast<size_t>(down.spec.out);
    ForEachPiece(n, piece, [&](size_t from, int some) {
      ApplyToInput(second, static_cast<int>(from), some,
                   to + from * static_cast<size_t>(down.spec.out));
    });
  });
}

int MatmulContext::LeastBFloat16Positions() {
#if defined(__x86_64__)
  const bool is_amd = __builtin_cpu_is("amd") != 0;
#else
  const bool is_amd = false;
#endif
  static const int least = nibu::internal::LeastBFloat16Positions(CurrentIsa(), is_amd);
  return least;
}

void MatmulContext::Multiply(const uint16_t* a, const uint16_t* b, bool transposed, int m, int k,
                             int n, float* y) {
  const MatmulSpec spec{ComputeType::kBFloat16, k, n};
  MatmulKernel& kernel = state_->Find(
      spec, transposed ? State::Weights::kTransposed : State::Weights::kPlain, m, 1, nullptr);
  kernel.weights.set_data_handle(const_cast<uint16_t*>(b));
  state_->Execute(kernel, a, kernel.weights, /*bias=*/nullptr, y);
}

int MatmulContext::primitives() const { return static_cast<int>(state_->kernels.size()); }

}  // namespace nibu::internal
