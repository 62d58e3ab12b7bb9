// Contracts of engine/attention: what Run, its algorithms and the stored keys and values ask for.
#include <algorithm>
#include <vector>

#include "engine/attention/attention.h"
#include "engine/attention/cache.h"
#include "engine/attention/mixers/mixers.h"
#include "engine/attention/mixers/pattern.h"
#include "engine/attention/mixers/score.h"
#include "engine/attention/mixers/sparse.h"
#include "engine/attention/mixers/token_mlp.h"
#include "tests/contracts.h"
#include "tests/engine/attention/spec.h"
#include "tests/engine/testing.h"

namespace nibu::internal {
namespace {

constexpr AttentionShape kShape{2, 4};
constexpr size_t kDim = 8;
constexpr int kKeys = 20;

// Queries, keys and values of zeros, and the same keys and values as they are stored.
class AttentionContracts : public ContractTest {
 protected:
  AttentionContracts() : stored_(SourceBytes(kShape, kKeys, CacheType::kFloat32)) {
    StoreSource(kShape, rows_.data(), kKeys, CacheType::kFloat32, stored_.data());
  }

  Queries QueriesOf(int count) const { return {rows_.data(), kDim, count}; }
  KeyValueRows Rows(int keys) const { return {rows_.data(), rows_.data() + kDim, 2 * kDim, keys}; }
  KeysValues Stored(CacheType type = CacheType::kFloat32) const {
    return ViewSource(kShape, kKeys, type, stored_.data());
  }
  void Run(const std::string& mixer, const Queries& queries, const AttentionMemory& memory) {
    AttentionSpec spec{kShape};
    spec.mixer = Spec(mixer);
    Attention(spec, &arena_).Run(queries, memory, Output());
  }
  AttentionOutput Output() { return {out_.data(), kDim}; }

  Arena arena_;
  std::vector<float> rows_ = std::vector<float>(kKeys * 2 * kDim);
  std::vector<float> out_ = std::vector<float>(kKeys * kDim);
  AlignedBuffer<char> stored_;
};

TEST_F(AttentionContracts, ThereIsAKey) {
  Run("full", QueriesOf(1), Rows(1));
  EXPECT_BROKEN(Run("full", QueriesOf(1), Rows(0)), "KeysOf(memory) > 0");
  AttentionSpec spec{kShape};
  EXPECT_BROKEN(PrepareSource(spec, 0, rows_.data()), "positions > 0");
}

TEST_F(AttentionContracts, AHistoryIsOneHypothesis) {
  AlignedBuffer<char> cell(CellBytes(kShape, CacheType::kFloat32));
  std::fill_n(cell.data(), cell.size(), char{0});
  void* const cells[] = {cell.data()};
  const CellHistory history{CacheType::kFloat32, cells, 0};
  Run("full", QueriesOf(1), history);
  EXPECT_BROKEN(Run("full", QueriesOf(2), history), "queries.count == 1");
}

TEST_F(AttentionContracts, PredictedWindowsHaveCentres) {
  EXPECT_BROKEN(Run("local_p:width=3", QueriesOf(1), Stored()), "queries.centres");
}

TEST_F(AttentionContracts, AStoredSourceHasMechanismsOfCrossAttention) {
  Run("mean:3", QueriesOf(1), Stored());
  EXPECT_BROKEN(Run("window:3", QueriesOf(1), Stored()), "fits_cross_attention()");
}

TEST_F(AttentionContracts, AMixerOfRowsIsAttention) {
  AttentionSpec spec{kShape};
  spec.mixer = Spec("pool");
  EXPECT_BROKEN(AttendByMixer(spec, QueriesOf(3), Rows(3), Output(), &arena_),
                "mixer.is_attention()");
}

TEST_F(AttentionContracts, PatternsAreOfTheQueriesOwnPositions) {
  AttentionSpec spec{kShape};
  spec.mixer = Spec("window:3");
  AttendSparse(spec, QueriesOf(3), Rows(3), Output(), &arena_);
  EXPECT_BROKEN(AttendSparse(spec, QueriesOf(2), Rows(3), Output(), &arena_),
                "queries.count == memory.positions");
  Queries later = QueriesOf(3);
  later.first = 1;
  EXPECT_BROKEN(AttendSparse(spec, later, Rows(3), Output(), &arena_), "queries.first == 0");
}

TEST_F(AttentionContracts, ConcatScoresAreOfFloats) {
  AttentionSpec spec{kShape};
  spec.mixer = Spec("full:score=concat");
  EXPECT_BROKEN(AttendByScore(spec, QueriesOf(1), Stored(CacheType::kBFloat16), Output(), &arena_,
                              /*next=*/nullptr),
                "CacheType::kFloat32");
}

TEST_F(AttentionContracts, BiasesAreOfKeysThatAQuerySees) {
  const MixerSpec spec = Spec("block_grid:4,bias=1");
  EXPECT_EQ(RelativePlace(spec, 20, 4, 7), 6);
  EXPECT_BROKEN(RelativePlace(spec, 20, 4, 8), "Sees(");
  EXPECT_BROKEN(RelativePlace(spec, 20, 4, 3), "Sees(");
  const MixerSpec grid = Spec("block_grid:4,bias=1", /*layer=*/1);
  EXPECT_EQ(RelativePlace(grid, 20, 4, 9), 4);
  EXPECT_BROKEN(RelativePlace(grid, 20, 4, 5), "Sees(");
}

TEST_F(AttentionContracts, AMlpHasThePositions) {
  const std::vector<float> w(12);
  const auto map = [&w](int in, int out) {
    return *Linear::Create({MatrixView{View(w, {out, in}), true, {}}}, {}, Activation::kGelu,
                           ComputeType::kFloat32);
  };
  Matmul matmul;
  const auto mix = [&](int positions) {
    MixByMlp(map(3, 4), map(4, 3), rows_.data(), positions, 2, &matmul, &arena_, out_.data());
  };
  mix(3);
  EXPECT_BROKEN(mix(4), "positions <= up.in()");
  EXPECT_BROKEN(mix(0), "0 < positions");
}

TEST_F(AttentionContracts, StoredKeysAreAligned) {
  EXPECT_BROKEN(StoreSource(kShape, rows_.data(), 1, CacheType::kInt8, stored_.data() + 4),
                "IsAligned(memory)");
  EXPECT_BROKEN(ViewSource(kShape, 1, CacheType::kInt8, stored_.data() + 4), "IsAligned(memory)");
  EXPECT_BROKEN(
      PackKeys(kShape, rows_.data(), kDim, 1, reinterpret_cast<float*>(stored_.data() + 4)),
      "IsAligned(packed)");
}

TEST_F(AttentionContracts, SlicesAreOfWholeBlocks) {
  EXPECT_EQ(SliceSource(kShape, Stored(), 16, 20).positions, 4);
  EXPECT_BROKEN(SliceSource(kShape, Stored(), 8, 20), "begin % kKeyBlock == 0");
  EXPECT_BROKEN(SliceSource(kShape, Stored(), 0, 18), "end % kKeyBlock == 0");
  EXPECT_BROKEN(SliceSource(kShape, Stored(), 16, 21), "end <= source.positions");
  EXPECT_BROKEN(SliceSource(kShape, Stored(), 16, 16), "begin < end");
}

TEST_F(AttentionContracts, FloatsAloneAreUnpacked) {
  UnpackSource(kShape, Stored(), rows_.data());
  EXPECT_BROKEN(UnpackSource(kShape, Stored(CacheType::kBFloat16), rows_.data()),
                "source.type == CacheType::kFloat32");
}

}  // namespace
}  // namespace nibu::internal
