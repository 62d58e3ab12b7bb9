// Matmul: prepares rows in the type that the kernels read, cuts them into pieces, and hands each to
// a back end.
#include "engine/ops/matmul.h"

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "engine/core/aligned_buffer.h"
#include "engine/ops/backend/int8_backend.h"
#include "engine/ops/backend/int8_product.h"
#include "engine/ops/backend/onednn_backend.h"
#include "engine/ops/backend/packed_linear.h"
#include "engine/ops/quantize.h"

namespace nibu::internal {
namespace {

// The rows of an int8 hidden layer that all go through the first map before they go through the
// second one. The weights of either map then stay in L2 for all of these rows.
constexpr int kHiddenRows = 4 * kMostRows;

// Calls f(first, n) for pieces of `rows` rows, at most `most` each.
template <typename F>
void ForEachPiece(int rows, int most, F f) {
  for (int first = 0; first < rows; first += most) {
    f(static_cast<size_t>(first), std::min(most, rows - first));
  }
}

size_t InputBytes(ComputeType type) { return dnnl::memory::data_type_size(SourceType(type)); }

}  // namespace

struct Matmul::State {
  explicit State(MatmulKernels choice) : kernels(choice) {}

  const MatmulKernels kernels;
  OneDnnBackend onednn;
  Int8Backend int8;
  MatmulObserver* observer = nullptr;
  AlignedBuffer<char> input;         // activations as the int8 and bfloat16 products read them
  AlignedBuffer<float> hidden;       // a piece of ApplyPair's hidden layer
  AlignedBuffer<char> hidden_input;  // int8: all of it, as the second product reads it
  AlignedBuffer<float> row_scales;   // int8: of the rows of the input
  const void* prepared = nullptr;    // the rows that the next products read

  // Returns the back end for a map. Our own kernels run on one thread, so that oneDNN multiplies
  // when more may be used.
  MatmulBackend& BackendFor(const Linear::Packed& map) {
    const bool is_own =
        kernels == MatmulKernels::kAuto && onednn.threads() == 1 && Int8Backend::Has(map);
    return is_own ? static_cast<MatmulBackend&>(int8) : onednn;
  }

  // Multiplies, and tells the observer of it.
  void Run(const Linear& linear, const MatmulInput& x, int rows, const MatmulOutput& y) {
    const Linear::Packed& map = *linear.packed();
    MatmulBackend& backend = BackendFor(map);
    if (observer == nullptr) return backend.Run(map, x, rows, y);
    using Clock = std::chrono::steady_clock;
    const Clock::time_point start = Clock::now();
    backend.Run(map, x, rows, y);
    const std::chrono::duration<double> seconds = Clock::now() - start;
    observer->Observe(
        {linear, rows, y.dtype, onednn.threads(), &backend == &int8, seconds.count()});
  }

  // Returns the prepared input from row `first` on.
  MatmulInput InputOf(const Linear::Packed& map, size_t first) const {
    const size_t row = static_cast<size_t>(map.spec.in) * InputBytes(map.spec.type);
    const bool is_int8 = map.spec.type == ComputeType::kInt8;
    return {static_cast<const char*>(prepared) + first * row,
            is_int8 ? row_scales.data() + first : nullptr};
  }

  // Points `prepared` to x as the map reads it: x itself, or converted into `input`.
  void Prepare(const Linear::Packed& map, const float* x, int rows) {
    prepared = x;
    if (map.spec.type == ComputeType::kFloat32) return;
    const auto in = static_cast<size_t>(map.spec.in);
    const auto n = static_cast<size_t>(rows);
    input.Reserve((n + kMostPaddedRows) * in * InputBytes(map.spec.type));
    prepared = input.data();
    if (map.spec.type == ComputeType::kBFloat16) {
      RoundToBFloat16(x, n * in, reinterpret_cast<uint16_t*>(input.data()));
    } else {
      row_scales.Reserve(n);
      QuantizeRows(x, n, in, ActivationRange(CurrentIsa()), map.header().static_scale,
                   reinterpret_cast<uint8_t*>(input.data()), row_scales.data());
    }
  }
};

Matmul::Matmul(MatmulKernels kernels) : state_(std::make_unique<State>(kernels)) {}
Matmul::~Matmul() = default;

void Matmul::SetThreads(int threads) { state_->onednn.SetThreads(threads); }

void Matmul::SetObserver(MatmulObserver* observer) { state_->observer = observer; }

// Enough for either piece size. The few small maps that need more rows have a buffer of their own
// for them, in OneDnnBackend.
int Matmul::PaddedRows(int rows) {
  const auto padded = [rows](int piece) { return rows - rows % piece + UsualRows(rows % piece); };
  return std::max(padded(kLeastPieceRows), padded(kMostRows));
}

int Matmul::PieceRows(const Linear& linear) {
  return internal::PieceRows(linear.compute_type(), CurrentIsa());
}

bool Matmul::SharesOutputs(const Linear& linear) {
  return internal::SharesOutputs(linear.compute_type(), CurrentIsa());
}

// Each piece is prepared just before it is multiplied, so that it is still in L2 then.
void Matmul::Apply(const Linear& linear, const float* x, int rows, float* y) {
  const Linear::Packed& map = *linear.packed();
  ForEachPiece(rows, PieceRows(linear), [&](size_t first, int n) {
    SetInput(linear, x + first * static_cast<size_t>(map.spec.in), n);
    ApplyToInput(linear, 0, n, y + first * static_cast<size_t>(map.spec.out));
  });
}

void Matmul::SetInput(const Linear& linear, const float* x, int rows) {
  state_->Prepare(*linear.packed(), x, rows);
}

void Matmul::ApplyToInput(const Linear& linear, int first, int n, float* y) {
  state_->Run(linear, state_->InputOf(*linear.packed(), static_cast<size_t>(first)), n, {y});
}

void Matmul::Multiply(const Linear& linear, const MatmulInput& x, int rows, const MatmulOutput& y) {
  state_->Run(linear, x, rows, y);
}

// The hidden layer [rows, width] is made in the type that the second map reads. In int8, up to
// kHiddenRows rows go through the first map and are quantized, piece by piece, before all of them
// go through the second one. In bfloat16, a back end that can do so writes the hidden layer in that
// type; otherwise it is rounded by Prepare.
void Matmul::ApplyPair(const Linear& first, const Linear& second, const float* x, int rows,
                       float* y) {
  State& state = *state_;
  const Linear::Packed& up = *first.packed();
  const Linear::Packed& down = *second.packed();
  const bool is_int8 = up.spec.type == ComputeType::kInt8;
  const bool is_bfloat16 = state.BackendFor(up).WritesBFloat16(up);
  const int piece = PieceRows(first);
  const auto in = static_cast<size_t>(up.spec.in);
  const auto width = static_cast<size_t>(up.spec.out);
  ForEachPiece(rows, is_int8 ? kHiddenRows : piece, [&](size_t row, int n) {
    const int most = std::min(n, piece);
    // `hidden` has elements of four bytes; rows of bfloat16 take up half of them.
    const int room = is_bfloat16 ? (most + kMostPaddedRows) / 2 + 1 : PaddedRows(most);
    state.hidden.Reserve(static_cast<size_t>(room) * width);
    float* const hidden = state.hidden.data();
    SetInput(first, x + row * in, n);
    if (is_int8) {
      state.hidden_input.Reserve(static_cast<size_t>(PaddedRows(n) + kInt8Rows) * width);
      auto* const next = reinterpret_cast<uint8_t*>(state.hidden_input.data());
      ForEachPiece(n, piece, [&](size_t from, int some) {
        state.Run(first, state.InputOf(up, from), some, {hidden});
        QuantizeRows(hidden, static_cast<size_t>(some), width, ActivationRange(CurrentIsa()),
                     down.header().static_scale, next + from * width,
                     state.row_scales.data() + from);
      });
      state.prepared = next;
    } else if (is_bfloat16) {
      state.Run(first, state.InputOf(up, 0), n, {hidden, DType::kBFloat16});
      state.prepared = hidden;
    } else {
      state.Run(first, state.InputOf(up, 0), n, {hidden});
      state.Prepare(down, hidden, n);
    }
    ForEachPiece(n, piece, [&](size_t from, int some) {
      ApplyToInput(second, static_cast<int>(from), some,
                   y + (row + from) * static_cast<size_t>(down.spec.out));
    });
  });
}

int Matmul::primitives() const { return state_->onednn.primitives(); }

}  // namespace nibu::internal
