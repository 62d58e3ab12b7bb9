// How matmuls are padded and cut, so that a row's result does not depend on how many rows there
// are. What was measured of oneDNN's kernels, as rules that know nothing but their arguments.
#ifndef NIBU_ENGINE_OPS_MATMUL_RULE_H_
#define NIBU_ENGINE_OPS_MATMUL_RULE_H_

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "engine/ops/linear.h"
#include "engine/ops/quantize.h"

namespace nibu::internal {

// Instruction sets, as far as matmuls differ. Newer ones are what they include.
enum class Isa : uint8_t {
  kNone,
  kSse41,
  kAvx,
  kAvx2,
  kAvx2Vnni,
  kAvx512,
  kAvx512Vnni,
  kAvx512Bf16,
  kAmx
};

// Whether oneDNN has kernels for a compute type.
bool IsSupported(ComputeType type, Isa isa);

// Sequences from so many positions on gain by attention with products in bfloat16: tiles of shorter
// ones are mostly padding. AMX's are fast, AMD's AVX512_BF16 takes half the time of float32 (Zen
// 4); Intel's three times as long, so that none do.
int LeastBFloat16Positions(Isa isa, bool is_amd);

// How int8 kernels want activations.
QuantizationRange ActivationRange(Isa isa);

// Rows of a single matmul at most, from kLeastPieceRows to MatmulContext::kMostRows. With AMX
// weights are what fills L2; in float32 fetching them again takes longer than that.
int PieceRows(ComputeType type, Isa isa);
constexpr int kLeastPieceRows = 64;

// Whether one matmul of all rows is worth outputs that most of them do not need, and changes
// nothing: each has a call of its own otherwise. Without VNNI it is the products that take the
// time.
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
  // Rows are padded up to the next of these, ascending. The last is at least
  // MatmulContext::kMostRows, and at most kMostPaddedRows.
  absl::InlinedVector<int, 20> row_counts;
  // Longer reductions are cut into parts of so many inputs (the last has the rest), which add up.
  int part_inputs;
};
constexpr int kMostPaddedRows = 320;

MatmulRule RuleFor(const MatmulKind& kind);

// What so many rows, at most MatmulContext::kMostRows, are padded to by any rule, but for bfloat16
// maps of few inputs or outputs.
int UsualRows(int rows);

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_OPS_MATMUL_RULE_H_
