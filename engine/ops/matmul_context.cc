#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>
#include <dnnl.hpp>
#include <map>
#include <tuple>
#include <utility>

#include "engine/core/aligned_buffer.h"
#include "engine/ops/linear.h"
#include "engine/ops/packed_linear.h"

namespace nibu {

using dnnl::memory;

namespace {

// The smallest count that holds `rows` rows. REQUIRES: at most kMostRows.
int RoundUpRows(const MatmulRule& rule, int rows) {
  return *std::lower_bound(rule.row_counts.begin(), rule.row_counts.end(), rows);
}

// Calls f(first, n) for pieces of `rows` rows that a single matmul takes.
template <typename F>
void ForEachPiece(int rows, F f) {
  for (int first = 0; first < rows; first += MatmulContext::kMostRows) {
    f(static_cast<size_t>(first), std::min(MatmulContext::kMostRows, rows - first));
  }
}

// A primitive and its arguments. The data handles of x, y and the scratchpad change from call to
// call; those of a Linear's weights belong to it.
struct Kernel {
  explicit Kernel(const dnnl::matmul::primitive_desc& description, int made_for)
      : primitive(description),
        x(description.src_desc(), CpuEngine(), DNNL_MEMORY_NONE),
        y(description.dst_desc(), CpuEngine(), DNNL_MEMORY_NONE),
        weights(description.weights_desc(), CpuEngine(), DNNL_MEMORY_NONE),
        scratchpad(description.scratchpad_desc(), CpuEngine(), DNNL_MEMORY_NONE),
        scratchpad_bytes(description.scratchpad_desc().get_size()),
        threads(made_for) {}

  dnnl::primitive primitive;
  memory x;
  memory y;
  memory weights;  // for Multiply
  memory scratchpad;
  size_t scratchpad_bytes;
  int threads;  // that it was made for
  bool bias = false;
  std::shared_ptr<const Linear::Packed> sample;  // the weights last traced with it
};

}  // namespace

struct MatmulTrace {
  struct Call {
    Kernel* kernel;
    std::weak_ptr<const Linear::Packed> packed;  // shortlists' weights end with their sentence
    size_t part;
  };
  // The different calls, and the order in which they were made.
  std::vector<Call> calls;
  // Not Abseil's, whose maps do not survive a failed allocation.
  std::map<std::tuple<const Kernel*, const Linear::Packed*, size_t>, uint32_t> call_ids;
  std::deque<uint32_t> order;
};

struct MatmulContext::State {
  // Where a kernel's weights come from. Packed ones of one shape and type share one layout, so a
  // primitive serves them all. The others are rows of activations, [k, n] or [n, k].
  enum class Weights : uint8_t { kPacked, kPlain, kTransposed };
  using Key = std::tuple<MatmulSpec, Weights, int, int>;  // rows, threads

  dnnl::stream stream{CpuEngine()};
  std::map<Key, Kernel> kernels;
  AlignedBuffer<char> scratchpad;
  AlignedBuffer<char> input;    // activations as the int8 and bfloat16 matmuls read them
  AlignedBuffer<char> parts;    // the same cut into parts, one after the other
  AlignedBuffer<char> output;   // with more padding rows than the caller has room for
  AlignedBuffer<float> hidden;  // of ApplyBoth
  AlignedBuffer<float> row_scales;
  const void* prepared = nullptr;  // by SetInput
  int threads = 1;
  std::shared_ptr<MatmulTrace> trace;  // null: none is made

  // `packed`: one of the weights, for kPacked.
  Kernel& Find(const MatmulSpec& spec, Weights weights, int rows, int with_threads,
               const memory* packed);
  // `bias`: null for none.
  void Execute(Kernel& kernel, const memory& weights, dnnl_memory_t bias);
  // y = x W (+ b, activation), all in the types of `spec`. At most kMostRows.
  void Run(const MatmulSpec& spec, const Linear& linear, const void* x, int rows, void* y);
  // The same for a part of the inputs, and as many rows as there are kernels for.
  void RunPart(const MatmulSpec& spec, const Linear& linear, size_t part, const void* x, int rows,
               void* y);
  // x [rows, in] into `parts`: a matrix of `count` rows for each.
  const char* Cut(const Linear::Packed& packed, const void* x, int rows, int count);
  void Trace(Kernel& kernel, const std::shared_ptr<const Linear::Packed>& packed, size_t part);
  // x as the matmul wants it: itself, or converted into `input`.
  const void* Prepare(const Linear::Packed& packed, const float* x, int rows);
  // int8: sums into outputs, in place.
  void Dequantize(const Linear::Packed& packed, const float* scales, int rows, float* y);
  // int8: the sums of `packed` into the input of `next`, a row at a time while it is in L1.
  // Overwrites `y`.
  const void* Requantize(const Linear::Packed& packed, int rows, float* y,
                         const Linear::Packed& next);
};

Kernel& MatmulContext::State::Find(const MatmulSpec& spec, Weights weights, int rows,
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
  Kernel kernel(DescribeMatmul(spec, rows, layout), with_threads);
  kernel.bias = spec.bias;
  return kernels.emplace(key, std::move(kernel)).first->second;
}

void MatmulContext::State::Execute(Kernel& kernel, const memory& weights, dnnl_memory_t bias) {
  if (kernel.threads > 1) omp_set_dynamic(0);  // so that it gets all its threads: see SetThreads
  omp_set_num_threads(kernel.threads);
  scratchpad.Reserve(kernel.scratchpad_bytes);
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

void MatmulContext::State::Run(const MatmulSpec& spec, const Linear& linear, const void* x,
                               int rows, void* y) {
  const Linear::Packed& packed = *linear.packed();
  const int count = RoundUpRows(packed.rule, rows);
  const size_t row = static_cast<size_t>(spec.out) * (spec.bfloat16_output ? 2 : 4);
  void* to = y;
  if (count > PaddedRows(rows)) {
    output.Reserve(static_cast<size_t>(count) * row);
    to = output.data();
  }
  if (packed.parts.size() == 1) {
    RunPart(spec, linear, 0, x, count, to);
  } else {
    const char* from = Cut(packed, x, rows, count);
    for (size_t part = 0; part < packed.parts.size(); ++part) {
      const MatmulSpec part_spec = packed.PartSpec(part);
      RunPart(part_spec, linear, part, from, count, to);
      from +=
          static_cast<size_t>(count * part_spec.in) * memory::data_type_size(SourceType(spec.type));
    }
  }
  if (to != y) std::memcpy(y, to, static_cast<size_t>(rows) * row);
}

void MatmulContext::State::RunPart(const MatmulSpec& spec, const Linear& linear, size_t part,
                                   const void* x, int rows, void* y) {
  const Linear::Packed& packed = *linear.packed();
  const memory& weights = packed.parts[part];
  Kernel& kernel = Find(spec, Weights::kPacked, rows, threads, &weights);
  kernel.x.set_data_handle(const_cast<void*>(x));
  kernel.y.set_data_handle(y);
  Execute(kernel, weights, kernel.bias ? packed.bias.get() : nullptr);
  if (trace != nullptr) Trace(kernel, linear.packed(), part);
}

const char* MatmulContext::State::Cut(const Linear::Packed& packed, const void* x, int rows,
                                      int count) {
  const size_t element = memory::data_type_size(SourceType(packed.spec.type));
  const size_t row = static_cast<size_t>(packed.spec.in) * element;
  parts.Reserve(static_cast<size_t>(count) * row);
  char* to = parts.data();
  const char* from = static_cast<const char*>(x);
  for (size_t part = 0; part < packed.parts.size(); ++part) {
    const size_t width = static_cast<size_t>(packed.PartSpec(part).in) * element;
    for (size_t r = 0; r < static_cast<size_t>(rows); ++r) {
      std::memcpy(to + r * width, from + r * row, width);
    }
    to += static_cast<size_t>(count) * width;
    from += width;
  }
  return parts.data();
}

void MatmulContext::State::Trace(Kernel& kernel,
                                 const std::shared_ptr<const Linear::Packed>& packed, size_t part) {
  std::vector<MatmulTrace::Call>& calls = trace->calls;
  const std::tuple key(&kernel, packed.get(), part);
  auto found = trace->call_ids.find(key);
  if (found == trace->call_ids.end()) {
    calls.push_back({&kernel, packed, part});
    found = trace->call_ids.emplace(key, static_cast<uint32_t>(calls.size() - 1)).first;
  }
  // What is gone left its address to another.
  if (calls[found->second].packed.expired()) calls[found->second].packed = packed;
  kernel.sample = packed;
  trace->order.push_back(found->second);
}

const void* MatmulContext::State::Prepare(const Linear::Packed& packed, const float* x, int rows) {
  const auto in = static_cast<size_t>(packed.spec.in);
  const auto n = static_cast<size_t>(rows);
  const size_t room = static_cast<size_t>(PaddedRows(rows)) * in;
  switch (packed.spec.type) {
    case ComputeType::kFloat32:
      return x;
    case ComputeType::kBFloat16:
      input.Reserve((n + kMostPaddedRows) * in * sizeof(uint16_t));
      RoundToBFloat16(x, n * in, reinterpret_cast<uint16_t*>(input.data()));
      return input.data();
    case ComputeType::kInt8:
      input.Reserve(room);
      row_scales.Reserve(n);
      QuantizeRows(x, n, in, ActivationRange(CurrentIsa()), packed.header().static_scale,
                   reinterpret_cast<uint8_t*>(input.data()), row_scales.data());
      return input.data();
  }
  return nullptr;
}

void MatmulContext::State::Dequantize(const Linear::Packed& packed, const float* scales, int rows,
                                      float* y) {
  const Dequantization dequantization{packed.scales, packed.zero_sums, packed.bias_data,
                                      packed.header().activation};
  DequantizeRows(dequantization, scales, static_cast<size_t>(rows),
                 static_cast<size_t>(packed.spec.out), y);
}

const void* MatmulContext::State::Requantize(const Linear::Packed& packed, int rows, float* y,
                                             const Linear::Packed& next) {
  const auto columns = static_cast<size_t>(packed.spec.out);
  input.Reserve(static_cast<size_t>(PaddedRows(rows)) * columns);
  auto* quantized = reinterpret_cast<uint8_t*>(input.data());
  for (size_t row = 0; row < static_cast<size_t>(rows); ++row) {
    float* values = y + row * columns;
    float* scale = row_scales.data() + row;
    Dequantize(packed, scale, 1, values);
    QuantizeRows(values, 1, columns, ActivationRange(CurrentIsa()), next.header().static_scale,
                 quantized + row * columns, scale);
  }
  return input.data();
}

MatmulContext::MatmulContext() : state_(std::make_unique<State>()) {}

void MatmulContext::SetThreads(int threads) {
  // A primitive shares its work out to the threads it was made for, whether or not it gets them.
  const int most = omp_get_max_active_levels() < 1 ? 1 : omp_get_thread_limit();
  state_->threads = std::clamp(threads, 1, std::max(most, 1));
}

MatmulContext::~MatmulContext() = default;

// What few small maps need beyond it, they keep to themselves.
int MatmulContext::PaddedRows(int rows) {
  const int rest = rows % kMostRows;
  return rows - rest + UsualRows(rest);
}

// Piece by piece, so that what one pass writes is in L2 when the next one reads it.
void MatmulContext::Apply(const Linear& linear, const float* x, int rows, float* y) {
  const Linear::Packed& packed = *linear.packed();
  ForEachPiece(rows, [&](size_t first, int n) {
    float* const to = y + first * static_cast<size_t>(packed.spec.out);
    SetInput(linear, x + first * static_cast<size_t>(packed.spec.in), n);
    ApplyToInput(linear, 0, n, to);
  });
}

void MatmulContext::SetInput(const Linear& linear, const float* x, int rows) {
  state_->prepared = state_->Prepare(*linear.packed(), x, rows);
}

void MatmulContext::ApplyToInput(const Linear& linear, int first, int n, float* y) {
  const Linear::Packed& packed = *linear.packed();
  const auto from = static_cast<size_t>(first);
  const size_t row =
      static_cast<size_t>(packed.spec.in) * memory::data_type_size(SourceType(packed.spec.type));
  state_->Run(packed.spec, linear, static_cast<const char*>(state_->prepared) + from * row, n, y);
  if (packed.spec.type == ComputeType::kInt8) {
    state_->Dequantize(packed, state_->row_scales.data() + from, n, y);
  }
}

void MatmulContext::ApplyBoth(const Linear& first, const Linear& second, const float* x, int rows,
                              float* y) {
  const Linear::Packed& up = *first.packed();
  const Linear::Packed& down = *second.packed();
  // The hidden layer is made in the type the second matmul reads: oneDNN itself writes bfloat16.
  MatmulSpec spec = up.spec;
  spec.bfloat16_output = up.spec.type == ComputeType::kBFloat16 && up.parts.size() == 1;
  ForEachPiece(rows, [&](size_t row, int n) {
    const int room = spec.bfloat16_output ? (n + kMostPaddedRows) / 2 + 1 : PaddedRows(n);
    state_->hidden.Reserve(static_cast<size_t>(room) * static_cast<size_t>(up.spec.out));
    float* const hidden = state_->hidden.data();
    float* const to = y + row * static_cast<size_t>(down.spec.out);
    const void* input = state_->Prepare(up, x + row * static_cast<size_t>(up.spec.in), n);
    state_->Run(spec, first, input, n, hidden);
    input = up.spec.type == ComputeType::kInt8 ? state_->Requantize(up, n, hidden, down)
            : spec.bfloat16_output             ? hidden
                                               : state_->Prepare(down, hidden, n);
    state_->Run(down.spec, second, input, n, to);
    if (up.spec.type == ComputeType::kInt8)
      state_->Dequantize(down, state_->row_scales.data(), n, to);
  });
}

bool MatmulContext::HasFastBFloat16() { return CurrentIsa() >= Isa::kAvx512Bf16; }

void MatmulContext::Multiply(const uint16_t* a, const uint16_t* b, bool transposed, int m, int k,
                             int n, float* y) {
  const MatmulSpec spec{ComputeType::kBFloat16, k, n};
  Kernel& kernel = state_->Find(
      spec, transposed ? State::Weights::kTransposed : State::Weights::kPlain, m, 1, nullptr);
  kernel.x.set_data_handle(const_cast<uint16_t*>(a));
  kernel.weights.set_data_handle(const_cast<uint16_t*>(b));
  kernel.y.set_data_handle(y);
  state_->Execute(kernel, kernel.weights, /*bias=*/nullptr);
}

int MatmulContext::primitives() const { return static_cast<int>(state_->kernels.size()); }

void MatmulContext::StartTrace() { state_->trace = std::make_shared<MatmulTrace>(); }

std::shared_ptr<const MatmulTrace> MatmulContext::FinishTrace() { return std::move(state_->trace); }

double MatmulContext::ReplayTrace(const MatmulTrace& trace) {
  size_t x_bytes = 0;
  size_t y_bytes = 0;
  std::vector<std::shared_ptr<const Linear::Packed>> weights;
  for (const MatmulTrace::Call& call : trace.calls) {
    weights.push_back(call.packed.lock());
    if (weights.back() == nullptr) weights.back() = call.kernel->sample;
    x_bytes = std::max(x_bytes, call.kernel->x.get_desc().get_size());
    y_bytes = std::max(y_bytes, call.kernel->y.get_desc().get_size());
  }
  AlignedBuffer<char> x(x_bytes);
  AlignedBuffer<char> y(y_bytes);
  std::memset(x.data(), 0, x.size());
  std::memset(y.data(), 0, y.size());  // some calls add to it
  const auto replay = [&] {
    const auto start = std::chrono::steady_clock::now();
    for (const uint32_t id : trace.order) {
      const MatmulTrace::Call& call = trace.calls[id];
      call.kernel->x.set_data_handle(x.data());
      call.kernel->y.set_data_handle(y.data());
      const dnnl_memory_t bias = call.kernel->bias ? weights[id]->bias.get() : nullptr;
      state_->Execute(*call.kernel, weights[id]->parts[call.part], bias);
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  constexpr double kLongEnough = 0.2;  // seconds; what is shorter is warmed up and done again
  double best = replay();
  for (double total = best; total < kLongEnough && !trace.order.empty();) {
    const double seconds = replay();
    best = std::min(best, seconds);
    total += seconds;
  }
  return best;
}

}  // namespace nibu
