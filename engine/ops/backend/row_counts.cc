// The rules of row counts, as measured; engine/PERFORMANCE.md has the measurements.
#include "engine/ops/backend/row_counts.h"

#include <algorithm>

#include "absl/base/macros.h"
#include "absl/types/span.h"

namespace nibu::internal {
namespace {

// brgemm kernels take any row count, and reach full speed at multiples of 8.
constexpr int kBrgemm[] = {1, 2, 4, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96};
// Only maps of one or two outputs need 192 and 320 rows: see LeastRows.
constexpr int kBFloat16[] = {2, 4, 8, 16, 24, 32, 48, 64, 96, 192, kMostPaddedRows};
// The time of the older gemm kernels grows with the number of rows. They work in blocks of 6 rows
// and sum in another order in a rest of less than 4 rows. The sums of int8 are exact in any order.
constexpr int kGemm[] = {4, 6, 10, 12, 16, 18, 24, 30, 36, 42, 48, 60, 64, 72, 84, 96};
constexpr int kGemmInt8[] = {1,  2,  3,  4,  6,  8,  10, 12, 16, 20,
                             24, 30, 36, 42, 48, 56, 64, 72, 84, 96};

// Returns the fewest rows that oneDNN sums in the same order, by the same kernel, as many rows.
int LeastRows(const MatmulKind& kind) {
  const bool is_old = kind.onednn < 3;
  switch (kind.type) {
    case ComputeType::kInt8:  // sums are exact
    case ComputeType::kInt4:  // not oneDNN's
      return 1;
    case ComputeType::kFloat32:
      return is_old || kind.in <= 1024 ? 1 : 2;
    case ComputeType::kBFloat16:
      if (kind.isa < Isa::kAmx) return 2;
      // AMX leaves small products to AVX-512: those of few results, or few inputs.
      if (is_old) return std::max(2, 256 / kind.out + 1);
      return kind.in < 64 ? 16 : 2;
  }
  return 1;
}

// Returns MatmulRule::part_inputs. oneDNN 2.6's AMX kernels split long reductions into passes, and
// the number of passes depends on the number of rows. They do so sooner if the number of inputs is
// odd.
int PartInputs(const MatmulKind& kind) {
  if (kind.type != ComputeType::kBFloat16 || kind.isa < Isa::kAmx || kind.onednn >= 3) {
    return kind.in;
  }
  if (kind.in % 2 != 0) return std::min(kind.in, 512);
  return kind.in > 1280 ? 1024 : kind.in;
}

// Returns whether oneDNN crashes with so many rows. oneDNN 2.6's AMX kernels end in an illegal
// instruction for 80 rows, which they cut into 64 and 16, of nearly two blocks of 64 inputs.
bool Crashes(const MatmulKind& kind, int rows) {
  return kind.type == ComputeType::kInt8 && kind.isa == Isa::kAmx && kind.onednn < 3 &&
         kind.in > 124 && kind.in < 128 && rows == 80;
}

}  // namespace

QuantizationRange ActivationRange(ComputeType type, Isa isa) {
  if (type == ComputeType::kInt4) return kSignedRange;
  const bool has_vnni = isa == Isa::kAvx2Vnni || isa >= Isa::kAvx512Vnni;
  // Without VNNI, pairs of products are summed in saturating 16 bits: see QuantizationRange.
  return has_vnni ? kFullRange : kSevenBitRange;
}

int PieceRows(ComputeType type, Isa isa) {
  return isa >= Isa::kAmx && type != ComputeType::kFloat32 ? kLeastPieceRows : kMostRows;
}

bool SharesOutputs(ComputeType type, Isa isa) {
  return type == ComputeType::kInt8 && isa >= Isa::kAvx512Vnni;
}

// Takes the counts of the kernels' kind, without those that are too small or crash, and stops at
// the first one that holds kMostRows.
MatmulRule RuleFor(const MatmulKind& kind) {
  MatmulRule rule;
  absl::Span<const int> counts = kBrgemm;
  if (kind.type == ComputeType::kBFloat16) counts = kBFloat16;
  if (!kind.blocked) counts = kGemm;
  if (!kind.blocked && kind.type == ComputeType::kInt8) counts = kGemmInt8;
  const int least = kind.blocked ? LeastRows(kind) : 1;
  for (const int rows : counts) {
    const bool is_enough = !rule.row_counts.empty() && rule.row_counts.back() >= kMostRows;
    if (rows >= least && !is_enough && !Crashes(kind, rows)) rule.row_counts.push_back(rows);
  }
  rule.part_inputs = PartInputs(kind);
  return rule;
}

int UsualRows(int rows) {
  ABSL_ASSERT(0 <= rows && rows <= kMostRows);
  if (rows == 0) return 0;
  const auto round_up = [rows](absl::Span<const int> counts) {
    return *std::lower_bound(counts.begin(), counts.end(), rows);
  };
  return std::max({round_up(kBrgemm), round_up(kBFloat16), round_up(kGemm), round_up(kGemmInt8)});
}

}  // namespace nibu::internal
