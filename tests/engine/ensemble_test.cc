// Tests of ensembles: their search is by the weighted mean of the models' log-probabilities.
// Threads: the thread sanitizer runs this file.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "engine/translator.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/asking.h"
#include "tests/engine/reference/transformer.h"
#include "tests/engine/search/search_case.h"
#include "tests/engine/small_model.h"
#include "tests/sanitizers.h"

namespace nibu::internal {
namespace {

using ::testing::StartsWith;

ModelConfig OtherConfig() {
  ModelConfig config = SmallConfig();
  config.d_model = 48;  // The other model has another shape, and is of another kind.
  config.layers_decoder = 1;
  config.decoder_memory = DecoderMemory::kSsru;
  config.decoder_start = 3;
  return config;
}

// Returns the candidates behind a prefix, best first, by the weighted mean of both models. They are
// the tokens that both models have. EOS is not among them as the first token.
std::vector<Candidate> Next(const std::vector<std::vector<double>>& log_probs,
                            const std::vector<float>& weights, bool may_end) {
  std::vector<Candidate> all(std::min(log_probs[0].size(), log_probs[1].size()));
  for (size_t t = 0; t < all.size(); ++t) all[t].token = static_cast<int>(t);
  for (size_t m = 0; m < log_probs.size(); ++m) {
    double rest = 0;
    for (size_t t = may_end ? 0 : 1; t < all.size(); ++t) rest += std::exp(log_probs[m][t]);
    for (size_t t = 0; t < all.size(); ++t) {
      const double p = t == 0 && !may_end ? -INFINITY : log_probs[m][t] - std::log(rest);
      all[t].log_prob += weights[m] * static_cast<float>(p);
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.log_prob > b.log_prob; });
  return all;
}

// The sizes of both models' vocabularies, which are the same, or one is the beginning of the other.
class EnsembleOfTest : public testing::TestWithParam<std::pair<int, int>> {};

INSTANTIATE_TEST_SUITE_P(Tokens, EnsembleOfTest,
                         testing::Values(std::pair{50, 50}, std::pair{50, 53}, std::pair{53, 50},
                                         std::pair{512, 514}));

TEST_P(EnsembleOfTest, IsTheWeightedMeanOfLogProbabilities) {
  NIBU_NOTHING_FOR_THREAD_SANITIZER();
  std::vector<ModelConfig> configs = {SmallConfig(), OtherConfig()};
  configs[0].vocab_source = configs[0].vocab_target = GetParam().first;
  configs[1].vocab_source = configs[1].vocab_target = GetParam().second;
  // A model with more tokens than the other one may begin with one that only it has.
  for (ModelConfig& config : configs) {
    if (config.vocab_target > 50) config.decoder_start = config.vocab_target - 1;
  }
  const std::vector<float> weights = {0.75f, 0.25f};
  const std::vector<reference::Transformer> references = {{configs[0], 7}, {configs[1], 7}};
  TranslatorOptions options;
  options.ensemble = {references[1].Build(ComputeType::kFloat32)};
  options.ensemble_weights = {3, 1};
  const Sources sources = RandomSources(Rounds(20), 10, 50);
  for (const int beam : {1, 4}) {
    SearchCase decoding;
    decoding.beam_size = decoding.num_hypotheses = beam;
    decoding.max_length = decoding.max_decoding_length = 8;
    const Results results =
        Translate(references[0].Build(ComputeType::kFloat32), decoding, options, sources);
    for (size_t i = 0; i < sources.size(); ++i) {
      std::vector<int> source = sources[i];
      source.push_back(0);
      const reference::Matrix encoded[] = {references[0].Encode(source),
                                           references[1].Encode(source)};
      BeamSearch search(decoding.task());
      Sources prefixes = {{}};
      while (!search.done()) {
        std::vector<std::vector<Candidate>> lists;
        for (const auto& prefix : prefixes) {
          lists.push_back(Next({references[0].NextLogProbs(encoded[0], prefix),
                                references[1].NextLogProbs(encoded[1], prefix)},
                               weights, search.length() > 0));
        }
        search.Advance(std::vector<absl::Span<const Candidate>>(lists.begin(), lists.end()));
        Sources next;
        for (const auto& live : search.live()) {
          next.push_back(prefixes[static_cast<size_t>(live.parent)]);
          next.back().push_back(live.token);
        }
        prefixes = next;
      }
      const auto expected = search.Finish();
      ASSERT_EQ(results[i].size(), expected.size());
      for (size_t n = 0; n < expected.size(); ++n) {
        EXPECT_EQ(results[i][n].tokens, expected[n].tokens) << "beam " << beam << " line " << i;
        EXPECT_NEAR(results[i][n].score, expected[n].score, 1e-4);
      }
    }
  }
}

// An ensemble of a model with itself finds what the model finds alone.
TEST(EnsembleTest, OfEqualsIsTheModel) {
  const auto model = reference::Transformer(SmallConfig(), 5).Build(ComputeType::kFloat32);
  const Sources sources = RandomSources(12, 10, 50);
  TranslatorOptions ensemble;
  ensemble.ensemble = {model};
  for (const int beam : {1, 3}) {
    DecodingOptions decoding;
    decoding.beam_size = beam;
    decoding.max_decoding_length = 12;
    decoding.no_repeat_ngram_size = 2;
    decoding.repetition_penalty = 1.5f;
    decoding.shortlist = SmallShortlist(50);
    const Results alone = Translate(model, decoding, {}, sources);
    const Results together = Translate(model, decoding, ensemble, sources);
    for (size_t i = 0; i < sources.size(); ++i) {
      EXPECT_EQ(alone[i][0].tokens, together[i][0].tokens);
      EXPECT_NEAR(alone[i][0].score, together[i][0].score, 1e-5);
    }
  }
}

TEST(EnsembleTest, DoesNotDependOnBatchesThreadsOrDraft) {
  const auto model = reference::Transformer(SmallConfig(), 5).Build(ComputeType::kInt8);
  TranslatorOptions ensemble;
  ensemble.ensemble = {reference::Transformer(OtherConfig(), 6).Build(ComputeType::kInt8)};
  const Sources sources = RandomSources(12, 10, 50);
  for (const int beam : {1, 3}) {
    DecodingOptions decoding;
    decoding.beam_size = beam;
    decoding.max_decoding_length = 12;
    const Results expected = Translate(model, decoding, ensemble, sources);
    TranslatorOptions other = ensemble;
    other.batch_size = 1;
    other.threads = 2;
    EXPECT_TRUE(SameBits(expected, Translate(model, decoding, other, sources)));
    other.draft = reference::Transformer(SmallConfig(), 9).Build(ComputeType::kInt8);
    EXPECT_TRUE(SameBits(expected, Translate(model, decoding, other, sources)));
  }
}

TEST(EnsembleTest, WrongUse) {
  const auto model = reference::Transformer(SmallConfig(), 5).Build(ComputeType::kFloat32);
  ModelConfig config = SmallConfig();
  config.eos = 2;
  TranslatorOptions options;
  options.ensemble = {reference::Transformer(config, 5).Build(ComputeType::kFloat32)};
  EXPECT_EQ(Translator::Create(model, options).status().message(),
            "a model of the ensemble has another vocabulary");
  // Tokens that only some of the models have are refused like unknown ids.
  config = SmallConfig();
  config.vocab_source = config.vocab_target = 60;
  options.ensemble = {reference::Transformer(config, 5).Build(ComputeType::kFloat32)};
  TranslatorOptions with_fewer;
  with_fewer.ensemble = {model};
  const auto ask = [&](std::vector<int> source, std::vector<int> prefix,
                       std::optional<Frame> frame) {
    Request request{.source = std::move(source), .target_prefix = std::move(prefix)};
    request.options.frame = std::move(frame);
    request.options.max_decoding_length = 3;
    return AskAll(options.ensemble[0], with_fewer, {request})[0].status().code();
  };
  TranslatorOptions with_draft = with_fewer;
  with_draft.draft = options.ensemble[0];
  EXPECT_EQ(Translator::Create(options.ensemble[0], with_draft).status().message(),
            "the draft model has another vocabulary");
  EXPECT_EQ(ask({49}, {49}, std::nullopt), absl::StatusCode::kOk);
  EXPECT_EQ(ask({50}, {}, std::nullopt), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ask({4}, {50}, std::nullopt), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ask({4}, {}, Frame{{}, {0}, {49}}), absl::StatusCode::kOk);
  EXPECT_EQ(ask({4}, {}, Frame{{50}, {0}, {4}}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ask({4}, {}, Frame{{}, {0}, {50}}), absl::StatusCode::kInvalidArgument);
  options.ensemble = {model};
  for (const std::vector<float>& weights : {std::vector<float>{1}, {1, 0}, {1, -2}, {1, NAN}}) {
    options.ensemble_weights = weights;
    EXPECT_THAT(std::string(Translator::Create(model, options).status().message()),
                StartsWith("ensemble_weights must be "));
  }
}

}  // namespace
}  // namespace nibu::internal
