// Tests the contracts of the headers in tools/cli/ and tools/bench/.
#include "tests/contracts.h"

#include <cstdint>
#include <string>
#include <vector>

#include "tools/bench/bench_report.h"
#include "tools/cli/lines.h"
#include "tools/cli/output_file.h"
#include "tools/cli/totals.h"
#include "tools/cli/translate_lines.h"

namespace nibu::internal {
namespace {

using ToolContracts = ContractTest;

TEST_F(ToolContracts, TextsAreNoFile) {
  const InputLines lines({"a", "b"});
  EXPECT_BROKEN((void)lines.IsSameFile("out"), "file_ != nullptr");
}

TEST_F(ToolContracts, FilesAreOpenWhileTheyAreWritten) {
  OutputFile file("never-opened");
  EXPECT_BROKEN((void)file.fd(), "fd_ >= 0");
  EXPECT_BROKEN(file.Commit().IgnoreError(), "fd_ >= 0");
}

TEST_F(ToolContracts, LinesAreAddedInOrder) {
  Repeats repeats;
  const auto ignore = [](uint64_t, const Repeats::Result&) {};
  EXPECT_NE(repeats.Add("a", 0, ignore), nullptr);
  EXPECT_EQ(repeats.Add("a", 2, ignore), nullptr);
  EXPECT_BROKEN((void)repeats.Add("b", 2, ignore), "lines_.back().first < index");
  EXPECT_BROKEN((void)repeats.Add("b", 1, ignore), "lines_.back().first < index");
}

TEST_F(ToolContracts, UnitsAreCountedOnce) {
  Totals totals(/*prints_warnings=*/true);
  totals.Skip(0);
  totals.Skip(2);
  EXPECT_BROKEN(totals.Skip(0), "index >= printed_");
  EXPECT_BROKEN(totals.Skip(2), "!waiting_.contains(index)");
}

TEST_F(ToolContracts, SharesAreFromNoneToAll) {
  EXPECT_EQ(Percentile({1, 2}, 0), 1);
  EXPECT_EQ(Percentile({1, 2}, 1), 2);
  EXPECT_BROKEN(Percentile({1, 2}, 1.1), "0 <= part && part <= 1");
  EXPECT_BROKEN(Percentile({1, 2}, -0.1), "0 <= part && part <= 1");
}

}  // namespace
}  // namespace nibu::internal
