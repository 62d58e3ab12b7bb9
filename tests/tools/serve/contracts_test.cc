// Tests the contracts of the headers in tools/serve/.
#include "tests/contracts.h"

#include "tools/serve/model_store.h"
#include "tools/serve/rate_limit.h"
#include "tools/serve/share.h"

namespace nibu::internal {
namespace {

using ServeContracts = ContractTest;

TEST_F(ServeContracts, CatalogsAreOfferedBeforeTheyAreAskedFor) {
  // The store, which has a thread, is made in the process that ends.
  EXPECT_BROKEN((void)ModelStore(nullptr, {}).catalog(), "catalog_ != nullptr");
}

TEST_F(ServeContracts, OnlyWhatAClientHoldsIsReleased) {
  ClientShares shares(10);
  ASSERT_TRUE(shares.Take("a", 2));
  EXPECT_BROKEN(shares.Release("a", 3), "found->second >= amount");
  EXPECT_BROKEN(shares.Release("b", 1), "found != by_client_.end()");
}

TEST_F(ServeContracts, ALimitLetsSomethingPass) {
  RateLimit limit;
  EXPECT_BROKEN(limit.Take("a", 0, RateLimit::Clock::now()), "most > 0");
}

}  // namespace
}  // namespace nibu::internal
