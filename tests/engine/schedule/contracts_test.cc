// Contracts of engine/schedule and the translator's options: jobs, lists and slots in their order.
#include <memory>
#include <utility>
#include <vector>

#include "engine/schedule/job_queue.h"
#include "engine/schedule/slot.h"
#include "engine/translator_options.h"
#include "tests/contracts.h"
#include "tests/engine/reference/transformer.h"
#include "tests/engine/small_model.h"

namespace nibu::internal {
namespace {

Request SmallRequest() {
  return {.source = {1, 2},
          .plan = std::make_shared<const SearchPlan>(DecodingOptions(), SearchModel())};
}

std::shared_ptr<Job> SmallJob() { return std::make_shared<Job>(SmallRequest(), Done()); }

using ScheduleContracts = ContractTest;

TEST_F(ScheduleContracts, JobsHaveAPlanAndASource) {
  Request request = SmallRequest();
  request.source.clear();
  EXPECT_BROKEN(Job(request, Done()), "!request.source.empty()");
  request = SmallRequest();
  request.plan = nullptr;
  EXPECT_BROKEN(Job(request, Done()), "request.plan != nullptr");
}

TEST_F(ScheduleContracts, AJobIsInOneList) {
  JobList list;
  EXPECT_BROKEN(list.TakeFront(), "!empty()");
  const std::shared_ptr<Job> first = SmallJob();
  list.Append(first);
  EXPECT_BROKEN(list.Append(first), "is_listed_");
  list.Append(SmallJob());
  JobList other;
  EXPECT_BROKEN(other.Append(first), "is_listed_");
}

TEST_F(ScheduleContracts, AQueueIsAskedByItsWorkersWhileItIsOpen) {
  JobQueue queue(/*workers=*/0, /*capacity=*/1);
  EXPECT_BROKEN(queue.Alone(), "waiting_ < workers_");
  EXPECT_BROKEN(queue.Delivered(), "undelivered_ > 0");
  queue.Close();
  EXPECT_BROKEN(queue.AwaitIdle(), "!closed_");
}

TEST_F(ScheduleContracts, SlotsGoOnWhileTheirSearchDoes) {
  Slot slot(/*models=*/1);
  slot.Begin(SmallJob(), /*drafter=*/nullptr, /*vocab_target=*/50);
  EXPECT_BROKEN(slot.Guess(nullptr), "is_drafted()");
  EXPECT_BROKEN(slot.Finish(), "done()");
  EXPECT_BROKEN(slot.Advance({}), "rows.size() == asked()");
  std::vector<OutputLayer::Query> queries;
  EXPECT_BROKEN(slot.Ask(0, {}, &queries), "rows.size() == asked()");
}

TEST_F(ScheduleContracts, ModelsOfAnEnsembleAreThere) {
  const auto model = reference::Transformer(SmallConfig(), 3).Build(ComputeType::kFloat32);
  TranslatorOptions options;
  options.ensemble = {nullptr};
  EXPECT_BROKEN(options.ValidateFor(*model).IgnoreError(), "each == nullptr");
}

}  // namespace
}  // namespace nibu::internal
