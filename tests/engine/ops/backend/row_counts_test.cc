// Tests of the rules about the numbers of rows for which oneDNN's kernels are used, for every type,
// CPU and version of oneDNN, whatever this machine has.
#include "engine/ops/backend/row_counts.h"

#include <algorithm>
#include <cstdlib>
#include <dnnl.hpp>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/ascii.h"
#include "engine/ops/backend/onednn.h"
#include "engine/ops/matmul.h"
#include "gtest/gtest.h"

namespace nibu::internal {
namespace {

constexpr Isa kIsas[] = {Isa::kNone,       Isa::kSse41,      Isa::kAvx,
                         Isa::kAvx2,       Isa::kAvx2Vnni,   Isa::kAvx512,
                         Isa::kAvx512Vnni, Isa::kAvx512Bf16, Isa::kAmx};

// Calls f(kind) for every type, CPU, version of oneDNN, and for small and large shapes.
template <typename F>
void ForEachKind(F f) {
  for (ComputeType type : {ComputeType::kFloat32, ComputeType::kBFloat16, ComputeType::kInt8}) {
    for (Isa isa : kIsas) {
      for (int onednn : {2, 3, 4}) {
        for (bool blocked : {false, true}) {
          for (int in :
               {1, 16, 24, 63, 64, 126, 256, 512, 1280, 1281, 1247, 1536, 2048, 4096, 100000}) {
            for (int out : {1, 2, 3, 16, 50, 64, 128, 129, 256, 257, 512, 1536, 2048, 300000}) {
              f(MatmulKind{type, in, out, blocked, isa, onednn});
            }
          }
        }
      }
    }
  }
}

int Padded(const MatmulRule& rule, int rows) {
  return *std::lower_bound(rule.row_counts.begin(), rule.row_counts.end(), rows);
}

TEST(RowCountsTest, AnyNumberOfRowsHasARoom) {
  ForEachKind([](const MatmulKind& kind) {
    const MatmulRule rule = RuleFor(kind);
    ASSERT_TRUE(std::is_sorted(rule.row_counts.begin(), rule.row_counts.end()));
    ASSERT_GE(rule.row_counts.back(), kMostRows);
    ASSERT_LE(rule.row_counts.back(), kMostPaddedRows);
    ASSERT_GE(rule.part_inputs, 1);
    ASSERT_LE(rule.part_inputs, kind.in);
    const int piece = PieceRows(kind.type, kind.isa);
    ASSERT_EQ(UsualRows(piece), piece);  // the next piece's rows lie where its padding would be
    // Callers' buffers have so much room; bfloat16's small maps bring their own.
    if (kind.type == ComputeType::kBFloat16 && (kind.in < 64 || kind.out < 129)) return;
    for (int rows = 1; rows <= 400; ++rows) {
      const int last = rows % piece;
      ASSERT_LE(last == 0 ? rows : rows - last + Padded(rule, last), Matmul::RoomFor(rows));
    }
  });
}

// Padding rows take time, so few are added.
TEST(RowCountsTest, FewRowsAreLost) {
  ForEachKind([](const MatmulKind& kind) {
    // Bfloat16 is left out, whose kernels give different results for most numbers of rows.
    if (kind.type == ComputeType::kBFloat16) return;
    const MatmulRule rule = RuleFor(kind);
    for (int rows = 4; rows <= kMostRows; ++rows) {
      ASSERT_LE(Padded(rule, rows), rows + std::max(rows / 2, 7)) << ComputeTypeName(kind.type);
    }
    // These numbers of rows are usual in batches.
    for (int rows : {16, 48, 64}) ASSERT_EQ(Padded(rule, rows), rows);
    ASSERT_TRUE(kind.type != ComputeType::kInt8 || Padded(rule, 1) == 1);
  });
}

// Int8 results are exact, so sentences with different shortlists may share one matmul.
TEST(RowCountsTest, OutputsAreSharedInInt8WithVnni) {
  ForEachKind([](const MatmulKind& kind) {
    ASSERT_EQ(SharesOutputs(kind.type, kind.isa),
              kind.type == ComputeType::kInt8 && kind.isa >= Isa::kAvx512Vnni);
  });
}

TEST(RowCountsTest, PiecesAreSmallerWithAmx) {
  ForEachKind([](const MatmulKind& kind) {
    const bool is_small = kind.isa >= Isa::kAmx && kind.type != ComputeType::kFloat32;
    ASSERT_EQ(PieceRows(kind.type, kind.isa), is_small ? 64 : 96);
  });
}

// Returns whether a kernel's results for so many rows differ from those for more rows, as measured.
bool RowsDiffer(const MatmulKind& kind, int rows) {
  if (kind.type == ComputeType::kInt8) return false;
  if (!kind.blocked) return rows % 6 >= 1 && rows % 6 <= 3;
  const bool bfloat16 = kind.type == ComputeType::kBFloat16;
  if (kind.onednn >= 3) {
    if (bfloat16 && kind.isa == Isa::kAmx) {
      const int most = kind.in >= 64  ? 0
                       : kind.in > 24 ? 1
                       : kind.in > 20 ? 2
                       : kind.in > 8  ? 4
                                      : 12;
      return rows <= most;
    }
    return rows == 1 && kind.in > 1024;
  }
  if (!bfloat16 || kind.isa < Isa::kAmx) return false;
  return rows * kind.out <= 256 || (rows == 1 && kind.in == 256);
}

TEST(RowCountsTest, OnlyRowCountsThatAgree) {
  ForEachKind([](const MatmulKind& kind) {
    const MatmulRule rule = RuleFor(kind);
    for (int in : {rule.part_inputs, kind.in % rule.part_inputs}) {
      if (in == 0) continue;
      MatmulKind part = kind;
      part.in = in;
      for (int rows : rule.row_counts) {
        ASSERT_FALSE(RowsDiffer(part, rows)) << ComputeTypeName(kind.type) << " " << kind.in
                                             << " -> " << kind.out << ", " << rows << " rows";
      }
    }
  });
}

TEST(RowCountsTest, LongReductionsAreCutWhereTheyDependOnTheRows) {
  ForEachKind([](const MatmulKind& kind) {
    const bool depends =
        kind.type == ComputeType::kBFloat16 && kind.isa == Isa::kAmx && kind.onednn == 2;
    const int part = RuleFor(kind).part_inputs;
    if (depends) {
      ASSERT_LE(part, kind.in % 2 == 0 ? 1280 : 512);
    } else {
      ASSERT_EQ(part, kind.in);
    }
  });
}

TEST(RowCountsTest, WhatCrashesIsNotUsed) {
  const MatmulKind kind{ComputeType::kInt8, 126, 512, true, Isa::kAmx, 2};
  const auto has = [](MatmulKind k, int rows) { return Padded(RuleFor(k), rows) == rows; };
  EXPECT_FALSE(has(kind, 80));
  for (const auto& [in, isa, onednn] :
       {std::tuple(128, Isa::kAmx, 2), std::tuple(126, Isa::kAvx512Bf16, 2),
        std::tuple(126, Isa::kAmx, 3)}) {
    EXPECT_TRUE(has({ComputeType::kInt8, in, 512, true, isa, onednn}, 80)) << in;
  }
}

TEST(RowCountsTest, WhatCpusCanDo) {
  for (Isa isa : kIsas) {
    EXPECT_TRUE(IsSupported(ComputeType::kFloat32, isa));
    EXPECT_TRUE(IsSupported(ComputeType::kInt8, isa));
    EXPECT_EQ(IsSupported(ComputeType::kBFloat16, isa), isa >= Isa::kAvx512);
    const bool seven_bits = isa < Isa::kAvx2Vnni || isa == Isa::kAvx512;
    EXPECT_EQ(ActivationRange(ComputeType::kInt8, isa).levels, seven_bits ? 63 : 127);
    EXPECT_EQ(ActivationRange(ComputeType::kInt4, isa).levels, 127);
  }
}

constexpr std::pair<dnnl::cpu_isa, Isa> kKnown[] = {
    {dnnl::cpu_isa::sse41, Isa::kSse41},
    {dnnl::cpu_isa::avx, Isa::kAvx},
    {dnnl::cpu_isa::avx2, Isa::kAvx2},
    {dnnl::cpu_isa::avx2_vnni, Isa::kAvx2Vnni},
    {dnnl::cpu_isa::avx512_core, Isa::kAvx512},
    {dnnl::cpu_isa::avx512_core_vnni, Isa::kAvx512Vnni},
    {dnnl::cpu_isa::avx512_core_bf16, Isa::kAvx512Bf16},
    {dnnl::cpu_isa::avx512_core_amx, Isa::kAmx}};

uint32_t Value(dnnl::cpu_isa isa) { return static_cast<uint32_t>(isa); }

// A newer instruction set counts as the newest known one that it includes.
TEST(RowCountsTest, NewerInstructionSets) {
  for (const auto& [isa, level] : kKnown) {
    EXPECT_EQ(IsaOf(Value(isa)), level);
    EXPECT_EQ(IsaOf(Value(isa) | 0x100000), level);
    EXPECT_EQ(IsaName(Value(isa) | 0x100000), IsaName(Value(isa)) + "+");
    EXPECT_EQ(IsaName(Value(isa)).find('+'), std::string::npos);
  }
  EXPECT_EQ(IsaOf(0), Isa::kNone);
  EXPECT_EQ(IsaName(Value(dnnl::cpu_isa::avx512_core_amx)), "avx512_core_amx");
#if DNNL_VERSION_MAJOR >= 3
  EXPECT_EQ(IsaOf(Value(dnnl::cpu_isa::avx512_core_fp16)), Isa::kAvx512Bf16);
  EXPECT_EQ(IsaOf(Value(dnnl::cpu_isa::avx512_core_amx_fp16)), Isa::kAmx);
  EXPECT_EQ(IsaOf(Value(dnnl::cpu_isa::avx2_vnni_2)), Isa::kAvx2Vnni);
#endif
}

// Skips with a message that says which kernels this CPU could not run.
TEST(InstructionSetTest, IsTheOneThatTheRunIsFor) {
  const char* limit = std::getenv("ONEDNN_MAX_CPU_ISA");
  const std::string wanted = absl::AsciiStrToLower(limit == nullptr ? "AVX512_CORE_AMX" : limit);
  for (const auto& [isa, level] : kKnown) {
    if (IsaName(Value(isa)) != wanted) continue;
    if (CurrentIsa() < level) {
      GTEST_SKIP() << "no kernels of " << wanted << " were run, this CPU has " << InstructionSet();
    }
    return;
  }
  FAIL() << "unknown: " << wanted;
}

}  // namespace
}  // namespace nibu::internal
