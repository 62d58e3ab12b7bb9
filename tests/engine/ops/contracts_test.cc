// Contracts of engine/ops: shapes and room of matmuls, chosen outputs, alignment, tables.
#include <memory_resource>
#include <vector>

#include "engine/ops/backend/int8_backend.h"
#include "engine/ops/backend/int8_product.h"
#include "engine/ops/backend/onednn_backend.h"
#include "engine/ops/backend/packed_linear.h"
#include "engine/ops/embedding.h"
#include "engine/ops/matmul.h"
#include "tests/contracts.h"
#include "tests/engine/row_buffer.h"

namespace nibu::internal {
namespace {

Linear Zeros(int in, int out, ComputeType type = ComputeType::kFloat32) {
  const std::vector<float> w(static_cast<size_t>(in) * static_cast<size_t>(out));
  return *Linear::Create({MatrixView{View(w, {out, in}), true, {}}}, {}, Activation::kNone, type);
}

class OpsContracts : public ContractTest {
 protected:
  Matmul matmul_;
  Linear linear_ = Zeros(8, 16);
  RowBuffer x_{5, 8};
  RowBuffer y_{5, 16};
};

TEST_F(OpsContracts, MatmulsGetTheRowsThatTheMapHas) {
  matmul_.Apply(linear_, x_.span(), y_.span());
  EXPECT_BROKEN(matmul_.Apply(linear_, y_.span(), y_.span()), "Fit(");
  EXPECT_BROKEN(matmul_.Apply(linear_, x_.span(), x_.span()), "Fit(");
  EXPECT_BROKEN(matmul_.Apply(linear_, x_.span().Slice(0, 4), y_.span()), "Fit(");
  const Linear square = Zeros(8, 8);
  EXPECT_BROKEN(matmul_.Apply(square, x_.span(), x_.span()), "Fit(");
}

TEST_F(OpsContracts, MatmulsHaveRoomForPadding) {
  const RowSpan<float> x(x_.data(), 5, 8, 5);
  const RowSpan<float> y(y_.data(), 5, 16, 5);
  EXPECT_BROKEN(matmul_.Apply(linear_, x, y_.span()), "Fit(");
  EXPECT_BROKEN(matmul_.Apply(linear_, x_.span(), y), "Fit(");
  EXPECT_BROKEN(matmul_.ApplyPair(linear_, Zeros(16, 16), x_.span(), y), "Fit(");
  EXPECT_BROKEN(matmul_.SetInput(linear_, x), "x.room() >= RoomFor(x.rows())");
  matmul_.SetInput(linear_, x_.span());
  EXPECT_BROKEN(matmul_.ApplyToInput(linear_, 0, y), "y.room() >= RoomFor(y.rows())");
}

TEST_F(OpsContracts, APairOfMapsFits) {
  EXPECT_BROKEN(matmul_.ApplyPair(linear_, Zeros(8, 16), x_.span(), y_.span()),
                "first.out() == second.in()");
}

TEST_F(OpsContracts, PiecesAreThoseOfTheInput) {
  EXPECT_BROKEN(matmul_.SetInput(linear_, y_.span()), "x.columns() == linear.in()");
  matmul_.SetInput(linear_, x_.span());
  matmul_.ApplyToInput(linear_, 0, y_.span());
  EXPECT_BROKEN(matmul_.ApplyToInput(linear_, 1, y_.span().Slice(0, 1)), "first % kLeastPieceRows");
  EXPECT_BROKEN(matmul_.ApplyToInput(Zeros(9, 16), 0, y_.span()), "prepared_columns");
  EXPECT_BROKEN(matmul_.ApplyToInput(Zeros(8, 16, ComputeType::kInt8), 0, y_.span()),
                "prepared_type");
  RowBuffer more(6, 16);
  EXPECT_BROKEN(matmul_.ApplyToInput(linear_, 0, more.span()), "prepared_rows");
  RowBuffer many(Matmul::kMostRows + 1, 8);
  RowBuffer results(Matmul::kMostRows + 1, 16);
  matmul_.SetInput(linear_, many.span());
  EXPECT_BROKEN(matmul_.ApplyToInput(linear_, 0, results.span()), "y.rows() <= kMostRows");
}

TEST_F(OpsContracts, ProductsOfPreparedRowsHaveRoom) {
  RowBuffer x(Matmul::kMostPaddedRows, 8);
  RowBuffer y(Matmul::kMostPaddedRows, 16);
  constexpr int kRoom = Matmul::kMostPaddedRows;
  matmul_.Multiply(linear_, {x.data(), nullptr, kRoom}, 5, {y.data(), kRoom});
  EXPECT_BROKEN(matmul_.Multiply(linear_, {x.data(), nullptr, 5}, 5, {y.data(), kRoom}), "x.room");
  EXPECT_BROKEN(matmul_.Multiply(linear_, {x.data(), nullptr, kRoom}, 5, {y.data(), 5}), "y.room");
  EXPECT_BROKEN(matmul_.Multiply(linear_, {x.data(), nullptr, kRoom}, 0, {y.data(), kRoom}),
                "0 < rows");
  EXPECT_BROKEN(matmul_.Multiply(linear_, {x.data(), nullptr, kRoom}, 97, {y.data(), kRoom}),
                "rows <= kMostRows");
  EXPECT_BROKEN(
      matmul_.Multiply(linear_, {x.data(), nullptr, kRoom}, 5, {y.data(), kRoom, DType::kBFloat16}),
      "WritesBFloat16(map)");
}

TEST_F(OpsContracts, BackEndsHaveRoomForTheirPadding) {
  OneDnnBackend onednn;
  const Linear::Packed& map = *linear_.packed();
  EXPECT_BROKEN(onednn.Run(map, {x_.data(), nullptr, 5}, 5, {y_.data(), 16}),
                "x.room >= UsualRows(rows)");
  EXPECT_BROKEN(onednn.Run(map, {x_.data(), nullptr, 16}, 5, {y_.data(), 5}),
                "y.room >= UsualRows(rows)");
  EXPECT_BROKEN(onednn.Run(map, {x_.data(), nullptr, 16}, 97, {y_.data(), 16}),
                "rows <= kMostRows");
  EXPECT_BROKEN(onednn.Run(map, {x_.data(), nullptr, 16}, 0, {y_.data(), 16}), "0 < rows");
}

TEST_F(OpsContracts, OurKernelsTakeTheirMapsAlone) {
  Int8Backend backend;
  const Linear small = Zeros(8, 16, ComputeType::kInt8);
  EXPECT_BROKEN(backend.Run(*small.packed(), {x_.data(), nullptr, 16}, 5, {y_.data(), 16}),
                "Has(map, rows)");
  const Linear large = Zeros(64, 64, ComputeType::kInt8);
  if (!Int8Backend::Has(*large.packed(), 5)) GTEST_SKIP() << "no kernels on " << InstructionSet();
  RowBuffer y(5, 64);
  const std::vector<float> scales(5);
  const std::vector<uint8_t> x(16 * 64);
  EXPECT_BROKEN(backend.Run(*large.packed(), {x.data(), scales.data(), 15}, 5, {y.data(), 5}),
                "x.room >= ");
  EXPECT_BROKEN(backend.Run(*large.packed(), {x.data(), scales.data(), 16}, 5, {y.data(), 4}),
                "y.room >= rows");
  EXPECT_BROKEN(backend.Run(*large.packed(), {x.data(), scales.data(), 16}, 97, {y.data(), 97}),
                "rows <= kMostRows");
  EXPECT_BROKEN(backend.Run(*large.packed(), {x.data(), scales.data(), 16}, 5,
                            {y.data(), 5, DType::kBFloat16}),
                "DType::kFloat32");
}

TEST_F(OpsContracts, Int8ProductsHaveWholeBlocksAndTheInstructions) {
  AlignedBuffer<int8_t> values(65 * 64);
  const std::vector<uint8_t> x(16 * 64);
  std::vector<float> y(64);
  const std::vector<float> vector(64);
  const std::vector<int32_t> sums(64);
  const Dequantization finish{vector.data(), sums.data(), nullptr, Activation::kNone};
  const auto multiply = [&](Isa isa, Int8Weights weights, size_t rows) {
    MultiplyInt8(isa, weights, true, x.data(), rows, finish, vector.data(), y.data());
  };
  EXPECT_BROKEN(multiply(Isa::kAvx512Vnni, {values.data(), 64, 64}, 0), "rows > 0");
  EXPECT_BROKEN(multiply(Isa::kAvx512Vnni, {values.data() + 1, 64, 64}, 1), "weights.values");
  EXPECT_BROKEN(multiply(Isa::kAvx512Vnni, {values.data(), 63, 64}, 1), "weights.in % 64");
  EXPECT_BROKEN(multiply(Isa::kAvx512Vnni, {values.data(), 64, 65}, 1), "weights.out % 64");
  EXPECT_BROKEN(multiply(Isa::kAvx2, {values.data(), 64, 64}, 1), "HasInt8Product(isa)");
  if (CurrentIsa() >= Isa::kAmx) return;  // this CPU has the instructions of every kernel
  EXPECT_BROKEN(multiply(Isa::kAmx, {values.data(), 64, 64}, 1), "isa <= CurrentIsa()");
}

TEST_F(OpsContracts, RowCountsEndWithAPiece) {
  EXPECT_BROKEN(UsualRows(kMostRows + 1), "rows <= kMostRows");
  EXPECT_BROKEN(UsualRows(-1), "0 <= rows");
}

TEST_F(OpsContracts, SelectedOutputsAreTheBlocks) {
  std::pmr::memory_resource* const memory = std::pmr::new_delete_resource();
  const std::vector<Linear> blocks = {Zeros(8, 16), Zeros(8, 3)};
  Linear::Select(blocks, {0, 18}, memory);
  EXPECT_BROKEN(Linear::Select(blocks, {0, 19}, memory), "output < full");
  EXPECT_BROKEN(Linear::Select(blocks, {-1}, memory), "0 <= output");
  EXPECT_BROKEN(Linear::Select(blocks, {}, memory), "!outputs.empty()");
  EXPECT_BROKEN(Linear::Select({}, {0}, memory), "!blocks.empty()");
}

TEST_F(OpsContracts, PackedWeightsAreWholeAndAligned) {
  const absl::string_view bytes = linear_.packed_bytes();
  auto copy = std::make_shared<AlignedBuffer<char>>(bytes.size() + 64);
  std::copy(bytes.begin(), bytes.end(), copy->data());
  Linear::Packed whole(copy->data(), copy);
  EXPECT_EQ(whole.spec.in, 8);
  copy->data()[0] ^= 1;
  EXPECT_BROKEN(Linear::Packed(copy->data(), copy), "CheckPacked");
  std::copy(bytes.begin(), bytes.end(), copy->data() + 16);
  EXPECT_BROKEN(
      Linear::FromPacked(absl::MakeSpan(copy->data() + 16, bytes.size()), copy).IgnoreError(),
      "% 64 == 0");
}

TEST_F(OpsContracts, TablesHaveTheRow) {
  const std::vector<float> values(6);
  const EmbeddingTable table = *EmbeddingTable::Create(View(values, {3, 2}));
  float out[2];
  table.Lookup(2, 1, out);
  EXPECT_BROKEN(table.Lookup(3, 1, out), "row < rows_");
  EXPECT_BROKEN(table.Lookup(-1, 1, out), "0 <= row");
}

TEST_F(OpsContracts, DistancesReachBeyondTheExactBuckets) {
  const std::vector<float> table(8);
  EXPECT_EQ(DistanceBiases(table, /*heads=*/1, /*both_ways=*/false, 5).size(), 11u);
  EXPECT_BROKEN(DistanceBiases(table, 1, false, 4), "max_distance > buckets / 2");
  EXPECT_BROKEN(DistanceBiases({table.data(), 1}, 1, false, 4), "buckets / 2 > 0");
}

}  // namespace
}  // namespace nibu::internal
