#include "engine/ops/linear.h"

#include <dnnl_debug.h>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dnnl.hpp>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/core/aligned_buffer.h"
#include "engine/core/status_macros.h"
#include "engine/ops/convert.h"

namespace nibu {
namespace {

using dnnl::memory;
using dnnl::primitive_attr;

// The one CPU engine: a constant without state, shared by packed weights and primitives.
const dnnl::engine& CpuEngine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

// Row counts that primitives are made for. brgemm kernels take any; 32 and more divide into full
// blocks. The older gemm kernels (AVX2) sum in another order in a row block of less than 4 rows,
// and work in blocks of 6, so their rows come in sixes.
constexpr int kBrgemmRows[] = {1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256};
constexpr int kGemmRows[] = {6, 12, 24, 48, 96, 144, 192, 240};
constexpr int kPackRows = 64;  // the row count that the packed layout is chosen for

// The smallest count of `counts` that holds `rows` rows; the largest one when none does.
int RoundUpRows(absl::Span<const int> counts, int rows) {
  for (int count : counts) {
    if (rows <= count) return count;
  }
  return counts.back();
}

// `rows` split into calls of the largest count and a rounded-up rest.
int PaddedTotal(absl::Span<const int> counts, int rows) {
  const int most = counts.back();
  const int rest = rows % most;
  return rows - rest + (rest > 0 ? RoundUpRows(counts, rest) : 0);
}

primitive_attr Attributes(Activation activation) {
  primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  dnnl::post_ops post_ops;
  switch (activation) {
    case Activation::kNone:
      break;
    case Activation::kRelu:
      post_ops.append_eltwise(1.0f, dnnl::algorithm::eltwise_relu, 0.0f, 0.0f);
      break;
    case Activation::kGelu:
      post_ops.append_eltwise(1.0f, dnnl::algorithm::eltwise_gelu_erf, 0.0f, 0.0f);
      break;
    case Activation::kGeluTanh:
      post_ops.append_eltwise(1.0f, dnnl::algorithm::eltwise_gelu_tanh, 0.0f, 0.0f);
      break;
    case Activation::kGeluSigmoid:
      post_ops.append_eltwise(1.0f, dnnl::algorithm::eltwise_swish, 1.702f, 0.0f);
      break;
    case Activation::kSwish:
      post_ops.append_eltwise(1.0f, dnnl::algorithm::eltwise_swish, 1.0f, 0.0f);
      break;
  }
  attributes.set_post_ops(post_ops);
  return attributes;
}

// `weights`: a fixed layout, or format_tag::any to let oneDNN choose.
dnnl::matmul::primitive_desc Describe(int rows, int in, int out, const memory::desc& weights,
                                      bool bias, Activation activation) {
  const memory::desc x({rows, in}, memory::data_type::f32, memory::format_tag::ab);
  const memory::desc y({rows, out}, memory::data_type::f32, memory::format_tag::ab);
  const memory::desc b({1, out}, memory::data_type::f32, memory::format_tag::ab);
  const auto op = bias ? dnnl::matmul::desc(x, weights, b, y) : dnnl::matmul::desc(x, weights, y);
  return dnnl::matmul::primitive_desc(op, Attributes(activation), CpuEngine());
}

// A matmul that oneDNN refuses at run time although it took it at load: memory is exhausted, or the
// program is wrong. Neither can be repaired here.
[[noreturn]] void Fatal(const char* what, const char* why) {
  std::fprintf(stderr, "nibu: fatal: oneDNN %s: %s\n", what, why);
  std::abort();
}

}  // namespace

struct Linear::Packed {
  int in = 0;
  int out = 0;
  Activation activation = Activation::kNone;
  bool blocked_rows = false;  // row counts of kBrgemmRows, else of kGemmRows
  AlignedBuffer<char> data;
  AlignedBuffer<float> bias_data;
  // Views of the two buffers above. Made once: setting a data handle would write to the padding.
  memory weights;
  memory bias;

  absl::Span<const int> row_counts() const {
    if (blocked_rows) return kBrgemmRows;
    return kGemmRows;
  }
};

Linear::Linear() = default;
Linear::Linear(Linear&&) noexcept = default;
Linear& Linear::operator=(Linear&&) noexcept = default;
Linear::~Linear() = default;

int Linear::in() const { return packed_->in; }
int Linear::out() const { return packed_->out; }
size_t Linear::bytes() const {
  return packed_->data.size() + packed_->bias_data.size() * sizeof(float);
}

namespace {

// All matrices side by side as float32: [out, in] when they are out_in, else [in, out].
absl::StatusOr<AlignedBuffer<float>> Gather(absl::Span<const MatrixView> matrices, int in,
                                            int out) {
  AlignedBuffer<float> all(static_cast<size_t>(in) * static_cast<size_t>(out));
  size_t column = 0;
  for (const MatrixView& matrix : matrices) {
    const auto rows = static_cast<size_t>(matrix.values.shape[0]);
    const auto columns = static_cast<size_t>(matrix.values.shape[1]);
    const auto row_bytes = columns * DTypeSize(matrix.values.dtype);
    const size_t outputs = matrix.out_in ? rows : columns;
    for (size_t r = 0; r < rows; ++r) {
      float* to = matrix.out_in ? all.data() + (column + r) * columns
                                : all.data() + r * static_cast<size_t>(out) + column;
      ConvertToFloat(matrix.values.dtype,
                     static_cast<const char*>(matrix.values.data) + r * row_bytes, columns, to);
      if (matrix.scales.empty()) continue;
      for (size_t c = 0; c < columns; ++c) {
        const size_t output = matrix.out_in ? r : c;
        to[c] /= matrix.scales.size() == 1 ? matrix.scales[0] : matrix.scales[output];
      }
    }
    column += outputs;
  }
  if (!AllFinite(all.data(), all.size())) {
    return absl::InvalidArgumentError("it holds NaN or infinite values");
  }
  return all;
}

// Checks shapes; returns {in, out} of the whole map.
absl::StatusOr<std::pair<int, int>> CheckShapes(absl::Span<const MatrixView> matrices,
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
  return std::make_pair(static_cast<int>(in), static_cast<int>(out));
}

}  // namespace

absl::StatusOr<Linear> Linear::Create(absl::Span<const MatrixView> matrices,
                                      absl::Span<const TensorView> biases, Activation activation,
                                      ComputeType compute_type) {
  NIBU_ASSIGN_OR_RETURN(const auto shape, CheckShapes(matrices, biases));
  const auto [in, out] = shape;
  auto packed = std::make_unique<Packed>();
  packed->in = in;
  packed->out = out;
  packed->activation = activation;
  if (compute_type != ComputeType::kFloat32) {
    return absl::UnimplementedError("compute types other than float32 are not supported");
  }
  NIBU_ASSIGN_OR_RETURN(AlignedBuffer<float> values, Gather(matrices, in, out));
  if (!biases.empty()) {
    packed->bias_data = AlignedBuffer<float>(static_cast<size_t>(out));
    float* to = packed->bias_data.data();
    for (const TensorView& bias : biases) {
      ConvertToFloat(bias.dtype, bias.data, static_cast<size_t>(bias.elements()), to);
      to += bias.elements();
    }
    if (!AllFinite(packed->bias_data.data(), packed->bias_data.size())) {
      return absl::InvalidArgumentError("its bias holds NaN or infinite values");
    }
  }
  try {
    const memory::desc any({in, out}, memory::data_type::f32, memory::format_tag::any);
    const auto description = Describe(kPackRows, in, out, any, !biases.empty(), activation);
    const memory::desc layout = description.weights_desc();
    packed->blocked_rows = std::strncmp(description.impl_info_str(), "brg", 3) == 0;
    packed->data = AlignedBuffer<char>(layout.get_size());
    packed->weights = memory(layout, CpuEngine(), packed->data.data());
    if (!biases.empty()) {
      packed->bias = memory({{1, out}, memory::data_type::f32, memory::format_tag::ab}, CpuEngine(),
                            packed->bias_data.data());
    }
    const memory::dims strides = matrices[0].out_in ? memory::dims{1, in} : memory::dims{out, 1};
    memory plain({{in, out}, memory::data_type::f32, strides}, CpuEngine(), values.data());
    dnnl::stream stream(CpuEngine());
    dnnl::reorder(plain, packed->weights).execute(stream, plain, packed->weights);
    stream.wait();
  } catch (const dnnl::error& e) {
    return absl::InternalError(absl::StrCat("oneDNN cannot pack a weight of ", in, " inputs and ",
                                            out, " outputs: ", e.what()));
  }
  Linear linear;
  linear.packed_ = std::move(packed);
  return linear;
}

namespace {

// A primitive and its argument list. The data handles of x, y and the scratchpad change from call
// to call; those of the weights belong to the Linear.
struct Kernel {
  dnnl::primitive primitive;
  memory x;
  memory y;
  memory scratchpad;
};

}  // namespace

struct MatmulContext::State {
  // in, out, rows, bias, activation. Weights of one shape share one packed layout.
  using Key = std::tuple<int, int, int, bool, Activation>;
  struct Call {
    Kernel* kernel;
    const Linear::Packed* packed;
  };

  dnnl::stream stream{CpuEngine()};
  std::map<Key, Kernel> kernels;
  AlignedBuffer<char> scratchpad;
  bool tracing = false;
  std::vector<Call> trace;

  Kernel& Find(const Linear::Packed& packed, int rows);
  void Execute(Kernel& kernel, const Linear::Packed& packed);
};

Kernel& MatmulContext::State::Find(const Linear::Packed& packed, int rows) {
  const bool bias = packed.bias_data.size() > 0;
  const Key key(packed.in, packed.out, rows, bias, packed.activation);
  const auto found = kernels.find(key);
  if (found != kernels.end()) return found->second;
  try {
    const auto description =
        Describe(rows, packed.in, packed.out, packed.weights.get_desc(), bias, packed.activation);
    Kernel kernel;
    kernel.primitive = dnnl::matmul(description);
    kernel.x = memory(description.src_desc(), CpuEngine(), DNNL_MEMORY_NONE);
    kernel.y = memory(description.dst_desc(), CpuEngine(), DNNL_MEMORY_NONE);
    kernel.scratchpad = memory(description.scratchpad_desc(), CpuEngine(), DNNL_MEMORY_NONE);
    scratchpad.Reserve(description.scratchpad_desc().get_size());
    return kernels.emplace(key, std::move(kernel)).first->second;
  } catch (const dnnl::error& e) {
    Fatal("cannot create a matmul", e.what());
  }
}

void MatmulContext::State::Execute(Kernel& kernel, const Linear::Packed& packed) {
  kernel.scratchpad.set_data_handle(scratchpad.data());
  const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_SRC, kernel.x.get()},
                                       {DNNL_ARG_WEIGHTS, packed.weights.get()},
                                       {DNNL_ARG_DST, kernel.y.get()},
                                       {DNNL_ARG_SCRATCHPAD, kernel.scratchpad.get()},
                                       {DNNL_ARG_BIAS, packed.bias.get(true)}};
  const int count = packed.bias_data.size() > 0 ? 5 : 4;
  const dnnl_status_t status =
      dnnl_primitive_execute(kernel.primitive.get(), stream.get(), count, arguments);
  if (status != dnnl_success) Fatal("failed in a matmul", dnnl_status2str(status));
}

MatmulContext::MatmulContext(int threads) : state_(std::make_unique<State>()) {
  omp_set_num_threads(threads);
}

MatmulContext::~MatmulContext() = default;

int MatmulContext::PaddedRows(int rows) {
  return std::max(PaddedTotal(kBrgemmRows, rows), PaddedTotal(kGemmRows, rows));
}

void MatmulContext::Apply(const Linear& linear, const float* x, int rows, float* y) {
  const Linear::Packed& packed = linear.packed();
  const int most = packed.row_counts().back();
  while (rows > 0) {
    Kernel& kernel = state_->Find(packed, RoundUpRows(packed.row_counts(), rows));
    kernel.x.set_data_handle(const_cast<float*>(x));
    kernel.y.set_data_handle(y);
    state_->Execute(kernel, packed);
    if (state_->tracing) state_->trace.push_back({&kernel, &packed});
    x += static_cast<size_t>(most) * static_cast<size_t>(packed.in);
    y += static_cast<size_t>(most) * static_cast<size_t>(packed.out);
    rows -= most;
  }
}

int MatmulContext::primitives() const { return static_cast<int>(state_->kernels.size()); }

void MatmulContext::StartTrace() {
  state_->tracing = true;
  state_->trace.clear();
}

double MatmulContext::ReplayTrace() {
  state_->tracing = false;
  size_t x_bytes = 0;
  size_t y_bytes = 0;
  for (const State::Call& call : state_->trace) {
    x_bytes = std::max(x_bytes, call.kernel->x.get_desc().get_size());
    y_bytes = std::max(y_bytes, call.kernel->y.get_desc().get_size());
  }
  AlignedBuffer<char> x(x_bytes);
  AlignedBuffer<char> y(y_bytes);
  std::memset(x.data(), 0, x.size());
  const auto start = std::chrono::steady_clock::now();
  for (const State::Call& call : state_->trace) {
    call.kernel->x.set_data_handle(x.data());
    call.kernel->y.set_data_handle(y.data());
    state_->Execute(*call.kernel, *call.packed);
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace nibu
