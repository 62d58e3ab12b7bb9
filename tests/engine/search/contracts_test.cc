// Contracts of engine/search: plans, the steps of a beam search, the best tokens of a row.
#include <vector>

#include "engine/search/beam_search.h"
#include "engine/search/logit_edits.h"
#include "engine/search/top_k.h"
#include "tests/contracts.h"
#include "tests/engine/search/search_case.h"

namespace nibu::internal {
namespace {

using SearchContracts = ContractTest;

TEST_F(SearchContracts, RowsKeepATokenAtLeast) {
  TopK best;
  best.Reset(1);
  EXPECT_BROKEN(best.Reset(0), "k >= 1");
}

TEST_F(SearchContracts, OneTokenIsFavouredBeforeOthersAreRequested) {
  LogitEdits edits;
  edits.Favour(1, 0.5f);
  EXPECT_BROKEN(edits.Favour(2, 0.5f), "requested_.empty()");
  edits.Clear();
  edits.Request(1);
  EXPECT_BROKEN(edits.Favour(1, 0.5f), "requested_.empty()");
}

TEST_F(SearchContracts, PlansAreOfValidOptions) {
  DecodingOptions options;
  options.beam_size = 0;
  EXPECT_BROKEN(SearchPlan(options, SearchModel()), "options_.Validate().ok()");
  EXPECT_BROKEN(SearchPlan({}, SearchModel{.eos = 7, .vocabulary = 7}), "token < model.vocabulary");
}

TEST_F(SearchContracts, StepsGetAListForEachHypothesis) {
  SearchCase options;
  options.beam_size = 2;
  BeamSearch search(options.task());
  const std::vector<Candidate> list = {{1, -1.0f}, {2, -2.0f}, {3, -2.0f}};
  const std::vector<Candidate> unsorted = {{1, -2.0f}, {2, -1.0f}};
  EXPECT_BROKEN(search.Advance({}), "candidates.size() == live_.size()");
  EXPECT_BROKEN(search.Advance({list, list}), "candidates.size() == live_.size()");
  EXPECT_BROKEN(search.Advance({unsorted}), "IsBestFirst");
  search.Advance({list});
  EXPECT_EQ(search.live().size(), 2u);
}

TEST_F(SearchContracts, ConstraintsFitIntoASet) {
  SearchCase options;
  SearchTask task = options.task();
  const std::vector<Constraint> many(kMostConstraints + 1, {{1}});
  task.constraints = many;
  EXPECT_BROKEN(BeamSearch(task).done(), "<= kMostConstraints");
}

TEST_F(SearchContracts, ASearchEndsOnce) {
  SearchCase options;
  BeamSearch search(options.task());
  EXPECT_BROKEN(search.Finish(), "done_");
  EXPECT_BROKEN(search.Take({}), "!tokens.empty()");
  const std::vector<Candidate> end = {{0, -1.0f}};
  search.Take(end);
  EXPECT_EQ(search.Finish().size(), 1u);
  EXPECT_BROKEN(search.Advance({end}), "!done_");
}

}  // namespace
}  // namespace nibu::internal
