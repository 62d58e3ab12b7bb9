// Tests of small random models in the formats of other systems: they translate as independent
// PyTorch programs (tests/reference) do.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "engine/translator.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "models/load_model.h"
#include "nlohmann/json.hpp"
#include "tests/models/files.h"
#include "tests/paths.h"

namespace nibu::internal {
namespace {

class ReferenceTest : public ::testing::TestWithParam<const char*> {
 protected:
  std::string path() const { return TestdataPath(GetParam()); }
};

INSTANTIATE_TEST_SUITE_P(Formats, ReferenceTest,
                         ::testing::Values("m2m", "nllb", "mbart50", "mbart", "t5", "madlad",
                                           "fairseq-new", "fairseq-old", "opennmt-2", "opennmt-3",
                                           "opennmt-relative", "mixers", "cross"),
                         [](const auto& test) {
                           return absl::StrReplaceAll(test.param, {{"-", "_"}});
                         });

Frame ReadFrame(const nlohmann::json& frame) {
  return {frame["source_prefix"].get<std::vector<int>>(),
          frame["source_suffix"].get<std::vector<int>>(),
          frame["decoder_start"].get<std::vector<int>>()};
}

TEST_P(ReferenceTest, TranslatesAsTheReferenceDoes) {
  const auto cases =
      nlohmann::json::parse(testing::ReadFile(absl::StrCat(path(), "/expected.json")));
  const absl::StatusOr<LoadedModel> loaded = LoadModel(path(), ComputeType::kFloat32);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  ASSERT_FALSE(cases.empty());
  for (const nlohmann::json& expected : cases) {
    DecodingOptions options;
    options.beam_size = 1;
    options.max_decoding_length = 12;
    if (expected.contains("frame")) options.frame = ReadFrame(expected["frame"]);
    auto translator = Translator::Create(loaded->model, {});
    ASSERT_TRUE(translator.ok()) << translator.status();
    const std::vector<int> source = expected["source"];
    const Hypothesis hypothesis = (*translator)->Translate({source}, options).value()[0][0];
    EXPECT_EQ(hypothesis.tokens, expected["tokens"].get<std::vector<int>>()) << expected.dump();
    EXPECT_THAT(hypothesis.token_scores,
                ::testing::Pointwise(::testing::FloatNear(1e-4f),
                                     expected["token_scores"].get<std::vector<float>>()));
  }
}

}  // namespace
}  // namespace nibu::internal
