// Tests of OnRepetition: an output that is caught in a loop is decoded again, and the better one is
// kept.
#include <algorithm>
#include <numeric>
#include <vector>

#include "gtest/gtest.h"
#include "tests/engine/asking.h"
#include "tests/engine/reference/expect.h"
#include "tests/engine/small_model.h"

namespace nibu::internal {
namespace {

// Returns requests for long outputs of small models, many of which loop.
std::vector<Request> LongRequests() {
  std::vector<Request> requests;
  Random random(11);
  for (const auto& source : RandomSources(12, 10, 20)) {
    for (int kind = 0; kind < 6; ++kind) {
      Request request{.source = source, .key = requests.size()};
      DecodingOptions& o = request.options;
      o.beam_size = kind % 2 == 0 ? 1 : 2;
      o.max_decoding_length = 28;
      o.min_decoding_length = random.Int(0, 3) == 0 ? 25 : 1;
      o.on_repetition = OnRepetition::kRetry;
      o.return_scores = kind > 1 || random.Chance();
      if (kind >= 4) {
        request.target_prefix = {4, 4, 9};
        if (kind == 5) o.prefix_bias_beta = 0.5f;
      } else if (kind == 3) {
        o.coverage_penalty = 1;
        request.source.resize(30, 7);  // This is more than an output covers.
        o.num_hypotheses = 2;
        o.return_attention = true;
      } else if (kind == 2) {
        request.target_prefix = {7};
        o.sampling = {.topk = 2, .temperature = 0.1f, .seed = 4};
      }
      // With these penalties, outputs that do not loop end sooner.
      if (random.Chance()) {
        o.length_penalty = 0;
        o.word_penalty = 0.7f;
      }
      if (random.Int(0, 2) == 0) o.shortlist = SmallShortlist(20);
      if (requests.size() % 4 == 3) o.end_tokens = {0, 5, 11};
      requests.push_back(request);
    }
  }
  return requests;
}

TEST(OnRepetitionTest, TakesTheBetterByThePlainScore) {
  int retried = 0;
  std::vector<int> took_retry(6);
  int skipped = 0;
  for (const uint32_t seed : {1u, 2u, 3u, 4u, 5u, 6u}) {
    ModelConfig config = SmallConfig();
    config.vocab_source = config.vocab_target = 20;
    config.layers_decoder = config.layers_encoder = 1;
    config.d_model = 16;
    config.ffn_encoder = config.ffn_decoder = 16;
    const reference::Transformer reference(config, seed);
    const auto model = reference.Build(ComputeType::kFloat32);
    const std::vector<Request> requests = LongRequests();
    std::vector<Request> kept = requests;
    for (Request& request : kept) request.options.on_repetition = OnRepetition::kKeep;
    const auto results = AskAll(model, {}, requests);
    const auto firsts = AskAll(model, {}, kept);
    TranslatorOptions alone;
    alone.batch_size = 1;
    alone.draft = model;
    const auto others = AskAll(model, alone, requests);
    for (size_t i = 0; i < requests.size(); ++i) {
      ASSERT_TRUE(results[i].ok()) << results[i].status();
      EXPECT_TRUE(SameBits(results[i], others[i])) << i;
      const bool loops = firsts[i]->at(0).repetition;
      EXPECT_EQ(loops, reference::Loops(firsts[i]->at(0).tokens));
      if (!loops) {
        EXPECT_EQ(results[i]->at(0).tokens, firsts[i]->at(0).tokens);
        continue;
      }
      const reference::Answer answer = reference::Search(reference, requests[i]);
      skipped += reference::IsClear(answer) ? 0 : 1;
      if (!reference::IsClear(answer)) continue;
      EXPECT_TRUE(answer.retried);
      ++retried;
      took_retry[i % 6] += answer.took_retry ? 1 : 0;
      EXPECT_EQ(results[i]->at(0).repetition, !answer.took_retry);
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", kind " << i % 6);
      reference::ExpectEqual(answer, requests[i], *results[i]);
      EXPECT_TRUE(std::is_sorted(
          results[i]->begin(), results[i]->end(),
          [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; }));
      if (requests[i].options.return_scores) {
        EXPECT_GE(results[i]->at(0).score, firsts[i]->at(0).score);
      }
    }
  }
  EXPECT_GT(retried, 10);
  for (size_t kind = 2; kind < 6; ++kind) EXPECT_GT(took_retry[kind], 0) << kind;
  EXPECT_GT(retried - std::accumulate(took_retry.begin(), took_retry.end(), 0), 2);
  EXPECT_LT(10 * skipped, retried);
}

TEST(OnRepetitionTest, NgramsThatMayNotRepeatNeedNoRetry) {
  const auto model = reference::Transformer(SmallConfig(), 1).Build(ComputeType::kFloat32);
  for (Request request : LongRequests()) {
    request.options.no_repeat_ngram_size = 2;
    const Result retried = Ask(model, request);
    request.options.on_repetition = OnRepetition::kKeep;
    if (!request.options.return_scores && request.options.beam_size == 1) continue;
    EXPECT_TRUE(SameBits(retried, Ask(model, request)));
  }
}

}  // namespace
}  // namespace nibu::internal
