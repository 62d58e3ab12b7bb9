// Says how the rows of a matmul are padded and cut, so that a row's result does not depend on how
// many rows there are. The rules state what measurements of oneDNN's kernels have shown
// (engine/PERFORMANCE.md). They are pure functions of their arguments.
#ifndef NIBU_ENGINE_OPS_BACKEND_ROW_COUNTS_H_
#define NIBU_ENGINE_OPS_BACKEND_ROW_COUNTS_H_

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "engine/ops/cpu.h"
#include "engine/ops/quantize.h"

namespace nibu::internal {

// The most rows of a single matmul. Its results are then still in L2 when the next pass reads them,
// and its weights when the next piece of the rows does.
constexpr int kMostRows = 96;

// Returns the rows of the pieces into which a matmul is cut, kLeastPieceRows to kMostRows. Pieces
// are smaller on AMX, so that they leave more of L2 to the weights, except in float32, where
// fetching the weights again for more pieces takes longer than that gains.
int PieceRows(ComputeType type, Isa isa);
constexpr int kLeastPieceRows = 64;

// Returns the range of integers to which activations are quantized for int8 and int4 kernels.
QuantizationRange ActivationRange(ComputeType type, Isa isa);

// Returns whether sentences with different shortlists may share one matmul over the union of their
// tokens, although each needs only a part of the results. They may where results stay bit-identical
// (int8), and where a call of its own for each would take longer than the additional products (with
// VNNI).
bool SharesOutputs(ComputeType type, Isa isa);

// Everything that the rules depend on.
struct MatmulKind {
  ComputeType type;
  int in;
  int out;
  bool blocked;  // oneDNN has brgemm kernels with blocked weights for it, else gemm kernels
  Isa isa;
  int onednn;  // its major version
};

struct MatmulRule {
  // Rows are padded up to the next of these counts, which ascend. The last one is at least
  // kMostRows and at most kMostPaddedRows.
  absl::InlinedVector<int, 20> row_counts;
  // Reductions over more inputs are cut into parts of so many inputs (the last part has the rest),
  // whose results are added up.
  int part_inputs;
};
constexpr int kMostPaddedRows = 320;

MatmulRule RuleFor(const MatmulKind& kind);

// Returns the largest row count to which a rule pads so many rows. It leaves out the rules of
// bfloat16 maps of few inputs or outputs, which may pad to more. A whole piece (PieceRows) is not
// padded. REQUIRES: 0 <= rows <= kMostRows.
int UsualRows(int rows);

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_OPS_BACKEND_ROW_COUNTS_H_
