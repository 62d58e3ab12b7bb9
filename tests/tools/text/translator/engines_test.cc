// Tests of the engines that the plans of a translator share.
#include <filesystem>
#include <iterator>
#include <memory>
#include <vector>

#include "gtest/gtest.h"
#include "nibu/nibu.h"
#include "tests/paths.h"

namespace nibu {
namespace {

// Plans with many limits of length share a few engines, which live as long as the plans. An engine
// has two threads, one of which decodes.
TEST(EnginesTest, ManyLengthsShareFewEngines) {
  const auto threads = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
  };
  SpeedOptions speed;
  speed.threads = 1;
  ModelOptions float32;
  float32.compute_type = ComputeType::kFloat32;
  const auto translator = *Translator::Create(speed);
  const auto model = *Model::Load(internal::CaptionsModelPath(), float32);
  std::vector<std::shared_ptr<const Plan>> plans = {*translator->Prepare(model)};
  const auto before = threads();
  for (int length = 1100; length < 4000; length += 100) {
    Options options;
    options.max_input_length = length;
    plans.push_back(*translator->Prepare(model, options));
    options.max_decoding_length = length;
    plans.push_back(*translator->Prepare(model, options));
  }
  EXPECT_LE(threads() - before, 4 * 2);  // 2048 and 4096 for the input and for the output
  for (const auto& plan : {plans[0], plans[1], plans.back()}) {
    EXPECT_EQ((*translator->Translate({"A dog runs."}, plan))[0].hypotheses[0].text,
              "Ein Hund rennt.");
  }
}

}  // namespace
}  // namespace nibu
