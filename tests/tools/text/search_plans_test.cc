// Tests of SearchPlans, which has a plan for each form of the options that the parts of a text
// need.
#include "tools/text/search_plans.h"

#include <memory>
#include <set>

#include "absl/status/status.h"
#include "engine/translator.h"
#include "gtest/gtest.h"
#include "models/load_model.h"
#include "models/random_model.h"

namespace nibu::internal {
namespace {

std::unique_ptr<Translator> SmallTranslator() {
  ModelConfig config;
  config.d_model = 16;
  config.heads_encoder = config.heads_decoder = 2;
  config.ffn_encoder = config.ffn_decoder = 32;
  config.layers_encoder = config.layers_decoder = 1;
  config.vocab_source = config.vocab_target = 32;
  config.max_positions = 64;
  const auto loaded = *LoadModel(*OpenRandom(config, /*seed=*/7), ComputeType::kFloat32);
  return *Translator::Create(loaded.model, {});
}

// Every form has the options that it needs, and equal forms share one plan.
TEST(SearchPlansTest, FormsThatAreEqualShareAPlan) {
  const auto translator = SmallTranslator();
  for (const bool return_attention : {false, true}) {
    for (const bool return_alternatives : {false, true}) {
      DecodingOptions options;
      options.num_hypotheses = 3;
      options.return_attention = return_attention;
      options.return_alternatives = return_alternatives;
      const auto plans = SearchPlans::Make(*translator, options);
      ASSERT_TRUE(plans.ok()) << plans.status();
      std::set<const SearchPlan*> all;
      for (const bool needs_attention : {false, true}) {
        for (const bool has_alternatives : {false, true}) {
          const SearchPlan& plan = *plans->For(needs_attention, has_alternatives);
          const bool is_alone = return_alternatives && !has_alternatives;
          EXPECT_EQ(plan.options().return_attention, return_attention || needs_attention);
          EXPECT_EQ(plan.options().return_alternatives, return_alternatives && has_alternatives);
          EXPECT_EQ(plan.options().num_hypotheses, is_alone ? 1 : 3);
          all.insert(&plan);
        }
      }
      EXPECT_EQ(all.size(), (return_attention ? 1u : 2u) * (return_alternatives ? 2u : 1u));
    }
  }
}

TEST(SearchPlansTest, OptionsAreChecked) {
  DecodingOptions options;
  options.beam_size = 0;
  const absl::Status status = SearchPlans::Make(*SmallTranslator(), options).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message().find("beam_size"), 0u) << status;
  EXPECT_EQ(SearchPlans().For(false, true), nullptr);
}

}  // namespace
}  // namespace nibu::internal
