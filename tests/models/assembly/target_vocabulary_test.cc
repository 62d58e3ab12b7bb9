// Tests of output layers that lack tokens.
#include "models/assembly/target_vocabulary.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "engine/translator.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "models/load_model.h"
#include "models/native/unpack.h"
#include "models/random_model.h"
#include "models/writers/hugging_face_writer.h"
#include "models/writers/native_writer.h"
#include "tests/models/files.h"
#include "tests/paths.h"

namespace nibu::internal {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::TempFolder;

// A model with random weights and the tokens t0, t1, ...
OpenedModel SmallRandomModel() {
  ModelConfig config;
  config.d_model = 16;
  config.heads_encoder = config.heads_decoder = 2;
  config.ffn_encoder = config.ffn_decoder = 32;
  config.layers_encoder = config.layers_decoder = 1;
  config.vocab_source = config.vocab_target = 300;
  config.max_positions = 32;
  config.source_suffix = {config.eos};
  return OpenRandom(config, 5).value();
}

std::vector<Hypothesis> BeamOf(const LoadedModel& loaded) {
  DecodingOptions options;
  options.beam_size = 3;
  options.max_decoding_length = 6;
  options.return_scores = true;
  const auto translator = Translator::Create(loaded.model, {}).value();
  return translator->Translate({{5, 7, 9}}, options).value()[0];
}

TEST(TargetVocabulary, AlwaysHasWhatEveryTextNeeds) {
  OpenedModel model = OpenModel(TestdataPath("nllb")).value();
  std::vector<std::string>& tokens = model.vocabulary.target_tokens;
  const auto set = [&](size_t id, const std::string& token) {
    tokens[id] = token;
    return static_cast<int>(id);
  };
  const size_t last = tokens.size() - 1;
  const std::vector<int> wanted = {set(last, "<0x0A>"), set(last - 1, "\xe2\x96\x81\xc3\xa4")};
  const int other = set(last - 2, "word");
  const std::vector<int> needed = NeededTargetTokens(model);
  EXPECT_TRUE(std::is_sorted(needed.begin(), needed.end()));
  for (const int token : wanted) EXPECT_THAT(needed, Contains(token));
  EXPECT_THAT(needed, Contains(model.config.eos));
  ASSERT_FALSE(model.vocabulary.languages.languages.empty());
  for (const auto& language : model.vocabulary.languages.languages) {
    if (language.token == other) continue;
    EXPECT_THAT(needed, Contains(language.token));
  }
  EXPECT_THAT(needed, Not(Contains(other)));
}

TEST(TargetVocabulary, LeavesTranslationsOfKeptTokensAsTheyAre) {
  const TempFolder folder;
  for (const ComputeType type : {ComputeType::kFloat32, ComputeType::kInt8}) {
    const std::vector<Hypothesis> expected = BeamOf(LoadModel(SmallRandomModel(), type).value());
    // Half of the tokens, and those of the translation.
    OpenedModel model = SmallRandomModel();
    std::vector<std::string> kept;
    for (size_t i = 1; i < 300; i += 2) kept.push_back(model.vocabulary.target_tokens[i]);
    for (const int token : expected[0].tokens) {
      kept.push_back(model.vocabulary.target_tokens[static_cast<size_t>(token)]);
    }
    ASSERT_TRUE(RestrictOutput(kept, &model).ok());
    EXPECT_LT(model.config.outputs(), 170);
    ASSERT_TRUE(WriteNative(model, type, folder / "m.nibu").ok());
    const LoadedModel loaded = LoadModel(folder / "m.nibu", type).value();
    EXPECT_EQ(loaded.model->config.output_tokens, model.config.output_tokens);
    const std::vector<Hypothesis> found = BeamOf(loaded);
    EXPECT_EQ(found[0].tokens, expected[0].tokens);
    for (const int token : found[0].tokens) {
      EXPECT_THAT(model.config.output_tokens, Contains(token));
    }
    // What has been left out cannot come back, and a directory cannot say what it is.
    OpenedModel again = OpenModel(folder / "m.nibu").value();
    ASSERT_TRUE(UnpackLinears(&again).ok());
    EXPECT_THAT(std::string(RestrictOutput({"t5"}, &again).message()), HasSubstr("already"));
  }
}

TEST(TargetVocabulary, NamesATokenThatIsNone) {
  OpenedModel model = SmallRandomModel();
  const absl::Status status = RestrictOutput({"t5", "t1000"}, &model);
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("\"t1000\" is no token"));
}

}  // namespace
}  // namespace nibu::internal
