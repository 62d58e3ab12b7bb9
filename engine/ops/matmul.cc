// Matmul: prepares rows in the type that the kernels read, cuts them into pieces, and hands each to
// a back end.
#include "engine/ops/matmul.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>

#include "absl/base/macros.h"
#include "engine/core/aligned_buffer.h"
#include "engine/ops/backend/int4_backend.h"
#include "engine/ops/backend/int4_product.h"
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
  for (int first = 0; first < rows; first += most) f(first, std::min(most, rows - first));
}

// Returns whether x and y fit a map from `in` to `out` columns, have room for padding, and do not
// overlap.
bool Fit(int in, int out, const RowSpan<const float>& x, const RowSpan<float>& y) {
  const int room = Matmul::RoomFor(x.rows());
  const auto end = [](const auto& rows) {
    return rows.data() + static_cast<size_t>(rows.rows()) * static_cast<size_t>(rows.columns());
  };
  const bool overlaps = std::less<>()(x.data(), end(y)) && std::less<>()(y.data(), end(x));
  return !overlaps && x.columns() == in && y.columns() == out && x.rows() == y.rows() &&
         x.room() >= room && y.room() >= room;
}

QuantizationRange RangeOf(const Linear::Packed& map) {
  return ActivationRange(map.spec.type, CurrentIsa());
}

size_t InputBytes(ComputeType type) { return dnnl::memory::data_type_size(SourceType(type)); }

}  // namespace

struct Matmul::State {
  explicit State(MatmulKernels choice) : kernels(choice) {}

  const MatmulKernels kernels;
  OneDnnBackend onednn;
  Int8Backend int8;
  Int4Backend int4;
  MatmulObserver* observer = nullptr;
  AlignedBuffer<char> input;         // activations as the int8 and bfloat16 products read them
  AlignedBuffer<float> hidden;       // a piece of ApplyPair's hidden layer
  AlignedBuffer<char> hidden_input;  // int8: all of it, as the second product reads it
  AlignedBuffer<float> row_scales;   // int8: of the rows of the input
  // The rows that the next products read.
  const void* prepared = nullptr;
  int prepared_rows = 0;
  int prepared_columns = 0;
  int prepared_room = 0;
  ComputeType prepared_type = ComputeType::kFloat32;

  // Returns the back end for a map and so many rows. Our own int8 kernels run on one thread, so
  // that oneDNN multiplies when more may be used.
  MatmulBackend& BackendFor(const Linear::Packed& map, int rows) {
    if (map.spec.type == ComputeType::kInt4) return int4;
    const bool is_own =
        kernels == MatmulKernels::kAuto && onednn.threads() == 1 && Int8Backend::Has(map, rows);
    return is_own ? static_cast<MatmulBackend&>(int8) : onednn;
  }

  // Multiplies, and tells the observer of it.
  void Run(const Linear& linear, const MatmulInput& x, int rows, const MatmulOutput& y) {
    const Linear::Packed& map = *linear.packed();
    MatmulBackend& backend = BackendFor(map, rows);
    if (observer == nullptr) return backend.Run(map, x, rows, y);
    using Clock = std::chrono::steady_clock;
    const Clock::time_point start = Clock::now();
    backend.Run(map, x, rows, y);
    const std::chrono::duration<double> seconds = Clock::now() - start;
    observer->Observe(
        {linear, rows, y.dtype, onednn.threads(), &backend != &onednn, seconds.count()});
  }

  // Returns the prepared input from row `first` on.
  MatmulInput InputFrom(const Linear::Packed& map, int first) const {
    const size_t row = static_cast<size_t>(map.spec.in) * InputBytes(map.spec.type);
    const bool is_int8 = HasInt8Inputs(map.spec.type);
    return {static_cast<const char*>(prepared) + static_cast<size_t>(first) * row,
            is_int8 ? row_scales.data() + first : nullptr, prepared_room - first};
  }

  // Says which rows the next products read.
  void SetPrepared(ComputeType type, const void* data, int rows, int columns, int room) {
    prepared_type = type;
    prepared = data;
    prepared_rows = rows;
    prepared_columns = columns;
    prepared_room = room;
  }

  // Has the next products read x, in the type that the map reads: x itself, or converted into
  // `input`.
  void Prepare(const Linear::Packed& map, const RowSpan<const float>& x) {
    SetPrepared(map.spec.type, x.data(), x.rows(), x.columns(), x.room());
    if (map.spec.type == ComputeType::kFloat32) return;
    const auto in = static_cast<size_t>(map.spec.in);
    const auto n = static_cast<size_t>(x.rows());
    const int room = x.rows() + kMostPaddedRows;
    input.Reserve(static_cast<size_t>(room) * in * InputBytes(map.spec.type));
    SetPrepared(map.spec.type, input.data(), x.rows(), x.columns(), room);
    if (map.spec.type == ComputeType::kBFloat16) {
      RoundToBFloat16(x.data(), n * in, reinterpret_cast<uint16_t*>(input.data()));
    } else {
      row_scales.Reserve(n);
      QuantizeRows(x.data(), n, in, RangeOf(map), map.static_scale,
                   reinterpret_cast<uint8_t*>(input.data()), row_scales.data());
    }
  }

  // Multiplies the prepared rows from `first` on, as many as y has.
  void RunOnInput(const Linear& linear, int first, const RowSpan<float>& y) {
    Run(linear, InputFrom(*linear.packed(), first), y.rows(), {y.data(), y.room()});
  }
};

Matmul::Matmul(MatmulKernels kernels) : state_(std::make_unique<State>(kernels)) {}
Matmul::~Matmul() = default;

void Matmul::SetThreads(int threads) {
  state_->onednn.SetThreads(threads);
  state_->int4.SetThreads(state_->onednn.threads());
}

void Matmul::SetObserver(MatmulObserver* observer) { state_->observer = observer; }

// Enough for either piece size. The few small maps that need more rows have a buffer of their own
// for them, in OneDnnBackend.
int Matmul::RoomFor(int rows) {
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
void Matmul::Apply(const Linear& linear, RowSpan<const float> x, RowSpan<float> y) {
  ABSL_ASSERT(Fit(linear.in(), linear.out(), x, y));
  ForEachPiece(x.rows(), PieceRows(linear), [&](int first, int n) {
    state_->Prepare(*linear.packed(), x.Slice(first, n));
    state_->RunOnInput(linear, 0, y.Slice(first, n));
  });
}

void Matmul::SetInput(const Linear& linear, RowSpan<const float> x) {
  ABSL_ASSERT(x.columns() == linear.in() && x.room() >= RoomFor(x.rows()));
  state_->Prepare(*linear.packed(), x);
}

void Matmul::ApplyToInput(const Linear& linear, int first, RowSpan<float> y) {
  ABSL_ASSERT(linear.in() == state_->prepared_columns && linear.out() == y.columns());
  ABSL_ASSERT(linear.compute_type() == state_->prepared_type);
  ABSL_ASSERT(first % kLeastPieceRows == 0 || first % kMostRows == 0);
  ABSL_ASSERT(first + y.rows() <= state_->prepared_rows);
  ABSL_ASSERT(y.rows() <= kMostRows && y.room() >= RoomFor(y.rows()));
  state_->RunOnInput(linear, first, y);
}

void Matmul::Multiply(const Linear& linear, const MatmulInput& x, int rows, const MatmulOutput& y) {
  ABSL_ASSERT(0 < rows && rows <= kMostRows);
  ABSL_ASSERT(x.room >= kMostPaddedRows && y.room >= kMostPaddedRows);
  state_->Run(linear, x, rows, y);
}

// The hidden layer [rows, width] is made in the type that the second map reads. In int8, up to
// kHiddenRows rows go through the first map and are quantized, piece by piece, before all of them
// go through the second one. In bfloat16, a back end that can do so writes the hidden layer in that
// type; otherwise it is rounded by Prepare.
void Matmul::ApplyPair(const Linear& first, const Linear& second, RowSpan<const float> x,
                       RowSpan<float> y) {
  ABSL_ASSERT(Fit(first.in(), second.out(), x, y) && first.out() == second.in());
  State& state = *state_;
  const Linear::Packed& up = *first.packed();
  const Linear::Packed& down = *second.packed();
  const bool is_int8 = HasInt8Inputs(up.spec.type);
  const bool is_bfloat16 = state.BackendFor(up, x.rows()).WritesBFloat16(up);
  const int piece = PieceRows(first);
  const int width = up.spec.out;
  const auto columns = static_cast<size_t>(width);
  ForEachPiece(x.rows(), is_int8 ? kHiddenRows : piece, [&](int row, int n) {
    const int most = std::min(n, piece);
    const int room = is_bfloat16 ? kMostPaddedRows : RoomFor(most);
    // `hidden` has elements of four bytes; those of bfloat16 take up half of them.
    state.hidden.Reserve(static_cast<size_t>(is_bfloat16 ? (room + 1) / 2 : room) * columns);
    float* const hidden = state.hidden.data();
    state.Prepare(up, x.Slice(row, n));
    if (is_int8) {
      const int next_room = RoomFor(n) + std::max(kInt8Rows, static_cast<int>(kInt4Inputs));
      state.hidden_input.Reserve(static_cast<size_t>(next_room) * columns);
      auto* const next = reinterpret_cast<uint8_t*>(state.hidden_input.data());
      ForEachPiece(n, piece, [&](int from, int some) {
        state.RunOnInput(first, from, {hidden, some, width, room});
        QuantizeRows(hidden, static_cast<size_t>(some), columns, RangeOf(down), down.static_scale,
                     next + static_cast<size_t>(from) * columns, state.row_scales.data() + from);
      });
      state.SetPrepared(down.spec.type, next, n, width, next_room);
    } else if (is_bfloat16) {
      state.Run(first, state.InputFrom(up, 0), n, {hidden, room, DType::kBFloat16});
      state.SetPrepared(down.spec.type, hidden, n, width, room);
    } else {
      state.RunOnInput(first, 0, {hidden, n, width, room});
      state.Prepare(down, {hidden, n, width, room});
    }
    ForEachPiece(n, piece, [&](int from, int some) {
      state.RunOnInput(second, from, y.Slice(row + from, some));
    });
  });
}

int Matmul::primitives() const { return state_->onednn.primitives(); }

}  // namespace nibu::internal
