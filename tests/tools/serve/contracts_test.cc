// Tests the contracts of the headers in tools/serve/.
#include "tests/contracts.h"

#include <chrono>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "tools/serve/load_connections.h"
#include "tools/serve/load_options.h"
#include "tools/serve/load_report.h"
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
  EXPECT_BROKEN(limit.Take("a", 0, RateLimit::Clock::now()), "per_minute > 0");
}

TEST_F(ServeContracts, RequestsHaveLines) {
  const LoadOptions options;
  const std::vector<std::string> none;
  EXPECT_BROKEN(LoadRequests(options, none), "!lines.empty()");
}

TEST_F(ServeContracts, RequestsAreKnownByTheirIndices) {
  const LoadOptions options;
  const std::vector<std::string> lines = {"a", "b"};
  const LoadRequests requests(options, lines);
  ASSERT_EQ(requests.size(), 2u);
  EXPECT_EQ(requests.Texts(1)[0], "b");
  EXPECT_BROKEN(requests.Texts(2), "index < size_");
}

TEST_F(ServeContracts, PercentilesAreSharesOfTheDurations) {
  LoadLatencies latencies;
  latencies.Add(std::chrono::seconds(1));
  EXPECT_EQ(latencies.Report({100})["p100"], 1);
  EXPECT_BROKEN(latencies.Report({50, 0}), "0 < percentile");
  EXPECT_BROKEN(latencies.Report({101}), "percentile <= 100");
}

TEST_F(ServeContracts, AConnectionHasOneRequestAtATime) {
  load::asio::io_context context;  // never runs, so that the first request is never done
  const load::Server server;
  load::Connection connection(&context, &server);
  const auto send = [&] {
    connection.Send({}, std::chrono::seconds(1), [](load::error_code, const load::Response&) {});
  };
  send();
  EXPECT_BROKEN(send(), "done_ == nullptr");
}

}  // namespace
}  // namespace nibu::internal
