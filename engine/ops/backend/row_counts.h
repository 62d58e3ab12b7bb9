// How the rows of a matmul are padded and cut, so that a row's result does not depend on how many
// rows there are. The rules hold what was measured of oneDNN's kernels; they know nothing but their
// arguments.
#ifndef NIBU_ENGINE_OPS_BACKEND_ROW_COUNTS_H_
#define NIBU_ENGINE_OPS_BACKEND_ROW_COUNTS_H_

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "engine/ops/cpu.h"
#include "engine/ops/quantize.h"

namespace nibu::internal {

// The rows of a single matmul, at most. What it writes is then still in L2 for the pass after it,
// and its weights for the next piece of the rows.
constexpr int kMostRows = 96;

// The rows of the pieces into which a matmul is cut, kLeastPieceRows to kMostRows. With AMX,
// weights are what fills L2; in float32, fetching them again takes longer than that.
int PieceRows(ComputeType type, Isa isa);
constexpr int kLeastPieceRows = 64;

// The range of integers to which int8 kernels want activations quantized.
QuantizationRange ActivationRange(Isa isa);

// Returns whether sentences with different shortlists may share one matmul over the union of their
// tokens, of which each needs only a part. They may where results stay bit-identical (int8), and
// where the call takes longer than the additional products (with VNNI).
bool SharesOutputs(ComputeType type, Isa isa);

struct MatmulKind {
  ComputeType type;
  int in;
  int out;
  bool blocked;  // brgemm kernels with blocked weights, else gemm
  Isa isa;
  int onednn;  // major version
};

struct MatmulRule {
  // Rows are padded up to the next of these, ascending. The last is at least kMostRows, and at most
  // kMostPaddedRows.
  absl::InlinedVector<int, 20> row_counts;
  // Longer reductions are cut into parts of so many inputs (the last has the rest), which add up.
  int part_inputs;
};
constexpr int kMostPaddedRows = 320;

MatmulRule RuleFor(const MatmulKind& kind);

// Returns what so many rows, at most kMostRows, are padded to by any rule, except those of bfloat16
// maps of few inputs or outputs.
int UsualRows(int rows);

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_OPS_BACKEND_ROW_COUNTS_H_
