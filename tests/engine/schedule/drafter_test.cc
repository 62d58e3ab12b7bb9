// Tests of drafts: a draft model never changes the results, and how many tokens a drafter guesses.
// Threads: the thread sanitizer runs this file.
#include "engine/schedule/drafter.h"

#include <algorithm>
#include <tuple>

#include "gtest/gtest.h"
#include "tests/engine/reference/transformer.h"
#include "tests/engine/small_model.h"

namespace nibu::internal {
namespace {

std::vector<DecodingOptions> ManyOptions(const ModelConfig& config) {
  DecodingOptions options;
  options.beam_size = 1;
  options.max_decoding_length = 30;
  std::vector<DecodingOptions> all(8, options);
  all[1].return_scores = false;
  all[2].shortlist = SmallShortlist(config.vocab_target);
  all[3].min_decoding_length = 9;
  all[3].max_decoding_length = 10;
  all[4].max_length_factor = 0.8f;
  all[5].frame = Frame{{3, 4}, {5, 0}, {9, 7, 8}};
  all[6].patience = 2;
  all[7].patience = 2;
  all[7].return_alternatives = true;
  all[7].length_penalty = 8;
  all[7].max_decoding_length = 5;
  // Most tokens end a hypothesis.
  all[7].end_tokens = {0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  return all;
}

// Compares with decoding without a draft, whatever else is decoded at the same time.
void ExpectSame(const std::shared_ptr<const Model>& model,
                const std::shared_ptr<const Model>& draft) {
  const Sources sources = RandomSources(30, 20, model->config.vocab_source);
  const auto many = ManyOptions(model->config);
  for (size_t i = 0; i < many.size(); ++i) {
    const Results expected = Translate(model, many[i], {}, sources);
    for (const int batch : {1, 4, 12}) {
      TranslatorOptions options;
      options.batch_size = batch;
      options.draft = draft;
      EXPECT_TRUE(SameBits(expected, Translate(model, many[i], options, sources)))
          << "options " << i << ", batch " << batch;
    }
  }
}

class DraftTest : public testing::TestWithParam<std::tuple<ComputeType, DecoderMemory>> {
 protected:
  void SetUp() override {
    if (!IsSupported(type())) GTEST_SKIP() << "no bfloat16 on " << InstructionSet();
    config_ = SmallConfig();
    config_.decoder_memory = std::get<1>(GetParam());
    config_.suppressed = {6};
    model_ = reference::Transformer(config_, 7).Build(type());
  }
  ComputeType type() const { return std::get<0>(GetParam()); }

  ModelConfig config_;
  std::shared_ptr<const Model> model_;
};

INSTANTIATE_TEST_SUITE_P(
    TypesAndMemories, DraftTest,
    testing::Combine(testing::Values(ComputeType::kFloat32, ComputeType::kBFloat16,
                                     ComputeType::kInt8),
                     testing::Values(DecoderMemory::kSelfAttention, DecoderMemory::kSsru)));

TEST_P(DraftTest, OfTheSameWeightsChangesNothing) { ExpectSame(model_, model_); }

TEST_P(DraftTest, OfNearlyTheSameWeightsChangesNothing) {
  ExpectSame(model_, reference::Transformer(config_, 7).Build(ComputeType::kInt8));
}

TEST_P(DraftTest, OfOtherWeightsChangesNothing) {
  ModelConfig config = config_;
  config.d_model = 16;
  config.layers_decoder = 1;
  config.decoder_start = 2;
  // The draft model has few positions: longer sources get no draft, and longer outputs get none
  // behind them.
  config.max_positions = 12;
  config.decoder_memory = config.decoder_memory == DecoderMemory::kSsru
                              ? DecoderMemory::kSelfAttention
                              : DecoderMemory::kSsru;
  ExpectSame(model_, reference::Transformer(config, 8).Build(type()));
}

TEST_P(DraftTest, GuessesWhatItWouldGenerate) {
  DecodingOptions decoding;
  decoding.beam_size = 1;
  decoding.min_decoding_length = decoding.max_decoding_length = 30;
  std::vector<int> source = {5, 9, 12, 7, 3};
  const std::vector<int> expected = Translate(model_, decoding, {}, {source})[0][0].tokens;
  ASSERT_GE(expected.size(), 29u);  // There is no EOS at the end.
  source.push_back(0);

  const PreparedModel draft(model_, 20, 20);
  const std::vector<int> start = {config_.decoder_start};
  Workspace workspace;
  Drafter drafter(draft, &workspace);
  Drafter::Sentence sentence;
  LogitEdits edits;
  edits.Suppress(0);
  edits.Suppress(6);
  std::vector<int> guesses;
  const auto guess = [&](int most) {
    guesses.clear();
    drafter.Guess(&sentence, most, edits, &guesses);
    return guesses;
  };
  const auto next = [&](size_t from, size_t count) {
    return std::vector<int>(expected.begin() + static_cast<long>(from),
                            expected.begin() + static_cast<long>(from + count));
  };
  sentence.Start(start, source, {});
  EXPECT_EQ(guess(0), std::vector<int>());
  EXPECT_EQ(guess(2), next(0, 2));
  sentence.Append(next(0, 3));  // All guesses were right.
  EXPECT_EQ(guess(100), next(3, 3));
  const int wrong = expected[4] == 1 ? 2 : 1;
  // The second guess was wrong, so the next time there is one less.
  sentence.Append({expected[3], wrong});
  EXPECT_EQ(guess(100).size(), 2u);
  // The drafter now stands where it would stand if it had guessed right from the start.
  const std::vector<int> after_wrong = guesses;
  sentence.Release();
  sentence.Start(start, source, {});
  sentence.Append(next(0, 4));
  sentence.Append({wrong});
  EXPECT_EQ(guess(2), after_wrong);
  sentence.Release();

  // Guesses that are wrong again and again get fewer, and then more as they are right.
  sentence.Start(start, source, {});
  for (const size_t most : {3, 2, 1, 1}) {
    ASSERT_EQ(guess(100).size(), most);
    const int other = guesses[0] == 1 ? 2 : 1;
    sentence.Append({other});
  }
  for (const size_t most : {1, 2, 3, 3}) {
    ASSERT_EQ(guess(100).size(), most);
    guesses.push_back(1);
    sentence.Append(guesses);
  }
  sentence.Release();

  sentence.Start(start, source, {});
  sentence.Append(next(0, 17));
  EXPECT_EQ(guess(2), next(17, 2));
  sentence.Append(next(17, 3));
  EXPECT_EQ(guess(4), std::vector<int>());  // No position is left.
  sentence.Release();
  sentence.Start(start, source, {});
  sentence.Append(next(0, 18));
  EXPECT_EQ(guess(3), next(18, 2));  // The draft model has two positions left.
  sentence.Append(next(18, 3));
  EXPECT_EQ(guess(4), std::vector<int>());
  sentence.Release();

  const std::vector<int> shortlist = {3, 4, 10, 11, 12, 13, 14, 15};
  sentence.Start(start, source, shortlist);
  for (const int token : guess(3)) EXPECT_TRUE(token < 5 || token > 9) << token;
  EXPECT_EQ(guesses.size(), 3u);
  sentence.Release();

  source.assign(21, 5);
  sentence.Start(start, source, {});
  EXPECT_EQ(guess(4), std::vector<int>());
  sentence.Release();
}

TEST(TranslatorTest, RefusesDraftsThatCannotBe) {
  const auto model = reference::Transformer(SmallConfig(), 7).Build(ComputeType::kFloat32);
  TranslatorOptions options;
  options.draft = model;
  EXPECT_TRUE(Translator::Create(model, options).ok());
  ModelConfig config = SmallConfig();
  config.vocab_source = config.vocab_target = 51;
  options.draft = reference::Transformer(config, 7).Build(ComputeType::kFloat32);
  EXPECT_EQ(Translator::Create(model, options).status().message(),
            "the draft model has another vocabulary");
}

}  // namespace
}  // namespace nibu::internal
