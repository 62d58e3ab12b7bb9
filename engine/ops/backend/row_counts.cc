#include "engine/ops/backend/row_counts.h"

#include <algorithm>

#include "absl/types/span.h"

namespace nibu::internal {
namespace {

// brgemm takes any row count, and multiples of 8 at full speed.
constexpr int kBrgemm[] = {1, 2, 4, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96};
// 192 and 320: for maps of one or two outputs.
constexpr int kBFloat16[] = {2, 4, 8, 16, 24, 32, 48, 64, 96, 192, kMostPaddedRows};
// The older gemm kernels take as long as their rows are many. They work in blocks of 6 rows and sum
// in another order in a rest of less than 4, which int8 does not mind.
constexpr int kGemm[] = {4, 6, 10, 12, 16, 18, 24, 30, 36, 42, 48, 60, 64, 72, 84, 96};
constexpr int kGemmInt8[] = {1,  2,  3,  4,  6,  8,  10, 12, 16, 20,
                             24, 30, 36, 42, 48, 56, 64, 72, 84, 96};

// Fewer rows are summed in another order, or by another kernel.
int LeastRows(const MatmulKind& kind) {
  const bool is_old = kind.onednn < 3;
  switch (kind.type) {
    case ComputeType::kInt8:  // sums are exact
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

// oneDNN 2.6's AMX kernels share longer reductions out to passes, and how many depends on the rows;
// odd ones sooner.
int PartInputs(const MatmulKind& kind) {
  if (kind.type != ComputeType::kBFloat16 || kind.isa < Isa::kAmx || kind.onednn >= 3) {
    return kind.in;
  }
  if (kind.in % 2 != 0) return std::min(kind.in, 512);
  return kind.in > 1280 ? 1024 : kind.in;
}

// oneDNN 2.6's AMX kernels end in an illegal instruction with 64 and 16 rows of nearly two blocks
// of inputs.
bool Crashes(const MatmulKind& kind, int rows) {
  return kind.type == ComputeType::kInt8 && kind.isa == Isa::kAmx && kind.onednn < 3 &&
         kind.in > 124 && kind.in < 128 && rows == 80;
}

}  // namespace

QuantizationRange ActivationRange(Isa isa) {
  const bool has_vnni = isa == Isa::kAvx2Vnni || isa >= Isa::kAvx512Vnni;
  return has_vnni ? kFullRange : kSevenBitRange;  // else pairs of products are summed in 16 bits
}

int PieceRows(ComputeType type, Isa isa) {
  return isa >= Isa::kAmx && type != ComputeType::kFloat32 ? kLeastPieceRows : kMostRows;
}

bool SharesOutputs(ComputeType type, Isa isa) {
  return type == ComputeType::kInt8 && isa >= Isa::kAvx512Vnni;
}

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
  if (rows == 0) return 0;
  const auto round_up = [rows](absl::Span<const int> counts) {
    return *std::lower_bound(counts.begin(), counts.end(), rows);
  };
  return std::max({round_up(kBrgemm), round_up(kBFloat16), round_up(kGemm), round_up(kGemmInt8)});
}

}  // namespace nibu::internal
