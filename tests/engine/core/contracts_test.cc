// Contracts of engine/core: views of rows, sets of tokens, the arena, and gathered results.
#include <vector>

#include "engine/core/arena.h"
#include "engine/core/gather.h"
#include "engine/core/row_span.h"
#include "engine/core/token_set.h"
#include "tests/contracts.h"

namespace nibu::internal {
namespace {

using CoreContracts = ContractTest;

TEST_F(CoreContracts, RowsLieWithinTheRoom) {
  std::vector<float> memory(12);
  EXPECT_BROKEN((RowSpan<float>(memory.data(), 4, 3, 3)), "room >= rows");
  EXPECT_BROKEN((RowSpan<float>(memory.data(), -1, 3, 4)), "rows >= 0");
  EXPECT_BROKEN((RowSpan<float>(memory.data(), 4, 0, 4)), "columns > 0");
}

TEST_F(CoreContracts, PaddingIsNoRow) {
  std::vector<float> memory(12);
  const RowSpan<float> rows(memory.data(), 2, 3, 4);
  EXPECT_EQ(rows.row(1), memory.data() + 3);
  EXPECT_BROKEN(rows.row(2), "r < rows_");
  EXPECT_BROKEN(rows.row(-1), "0 <= r");
  EXPECT_EQ(rows.Slice(1, 1).room(), 3);
  EXPECT_BROKEN(rows.Slice(1, 2), "first + count <= rows_");
  EXPECT_BROKEN(rows.Slice(-1, 1), "0 <= first");
  EXPECT_BROKEN(rows.Slice(0, -1), "0 <= count");
  EXPECT_EQ(rows.WithColumns(2).columns(), 2);
  EXPECT_BROKEN(rows.WithColumns(4), "columns <= columns_");
}

TEST_F(CoreContracts, TokensOfASetAreTheVocabularys) {
  TokenSet set(60);
  set.Add(59);
  EXPECT_BROKEN(set.Add(60), "token < vocabulary_");
  EXPECT_BROKEN(set.Add(-1), "0 <= token");
}

TEST_F(CoreContracts, ArenasRewindBackwards) {
  Arena arena;
  arena.Floats(16);
  const Arena::Mark mark = arena.mark();
  arena.Rewind(0);
  EXPECT_BROKEN(arena.Rewind(mark), "mark <= used_");
}

TEST_F(CoreContracts, AsManyResultsAreGathered) {
  Gather<int> gather(1);
  EXPECT_BROKEN(gather.Add(1, 7), "number < results_.size()");
  gather.Add(0, 7);
  EXPECT_BROKEN(gather.Add(0, 7), "missing_ > 0");
}

}  // namespace
}  // namespace nibu::internal
