// Tests of the translator: its results against a search over the reference model, the same results
// in every batch and on any number of threads, and lengths.
// Threads: the thread sanitizer runs this file.
#include "engine/translator.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <thread>
#include <tuple>
#include <vector>

#include "gtest/gtest.h"
#include "tests/engine/reference/transformer.h"
#include "tests/engine/search/search_case.h"
#include "tests/engine/small_model.h"
#include "tests/engine/testing.h"
#include "tests/sanitizers.h"

namespace nibu::internal {
namespace {

// Searches with the reference model and the state machine of the search, which has tests of its
// own. `given`: the tokens that the decoder is given behind config.decoder_start.
std::vector<Hypothesis> ReferenceSearch(const reference::Transformer& reference,
                                        const ModelConfig& config, const SearchCase& options,
                                        int min_length, std::vector<int> source,
                                        const std::vector<int>& given = {},
                                        const Shortlist* shortlist = nullptr) {
  source.insert(source.end(), config.source_suffix.begin(), config.source_suffix.end());
  const auto encoded = reference.Encode(source);
  BeamSearch search(options.task());
  Sources prefixes = {given};
  while (!search.done()) {
    std::vector<std::vector<Candidate>> lists;
    for (const auto& prefix : prefixes) {
      std::vector<double> log_probs = reference.NextLogProbs(encoded, prefix);
      // Some tokens have the probability 0, and those of the rest add up to 1.
      if (search.length() < min_length) log_probs[0] = -INFINITY;
      if (shortlist != nullptr) {
        const auto candidates = shortlist->Candidates(source, config.vocab_target, {config.eos});
        for (size_t t = 0; t < log_probs.size(); ++t) {
          if (!std::binary_search(candidates.begin(), candidates.end(), t))
            log_probs[t] = -INFINITY;
        }
      }
      double rest = 0;
      for (const double p : log_probs) rest += std::exp(p);
      for (double& p : log_probs) p -= std::log(rest);
      lists.emplace_back();
      for (size_t t = 0; t < log_probs.size(); ++t) {
        lists.back().push_back({static_cast<int>(t), static_cast<float>(log_probs[t])});
      }
      std::stable_sort(lists.back().begin(), lists.back().end(),
                       [](const auto& a, const auto& b) { return a.log_prob > b.log_prob; });
    }
    const std::vector<absl::Span<const Candidate>> spans(lists.begin(), lists.end());
    search.Advance(spans);
    Sources next;
    for (const auto& live : search.live()) {
      next.push_back(prefixes[static_cast<size_t>(live.parent)]);
      next.back().push_back(live.token);
    }
    prefixes = next;
  }
  return search.Finish();
}

TEST(TranslatorTest, EqualsSearchOverTheReferenceModel) {
  NIBU_NOTHING_FOR_THREAD_SANITIZER();
  const ModelConfig config = SmallConfig();
  const reference::Transformer reference(config, 7);
  const auto model = reference.Build(ComputeType::kFloat32);
  const Sources sources = RandomSources(Rounds(25), 12, config.vocab_source);
  for (const int beam : {1, 2, 4}) {
    for (const int min_length : {0, 1, 6}) {
      DecodingOptions decoding;
      decoding.beam_size = beam;
      decoding.num_hypotheses = beam;
      decoding.min_decoding_length = min_length;
      decoding.max_decoding_length = 10;
      const Results results = Translate(model, decoding, {}, sources);
      SearchCase options;
      options.beam_size = beam;
      options.num_hypotheses = beam;
      options.max_length = 10;
      options.eos = config.eos;
      for (size_t i = 0; i < sources.size(); ++i) {
        const auto expected = ReferenceSearch(reference, config, options, min_length, sources[i]);
        ASSERT_EQ(expected.size(), results[i].size());
        for (size_t n = 0; n < expected.size(); ++n) {
          EXPECT_EQ(expected[n].tokens, results[i][n].tokens) << "beam " << beam << " line " << i;
          EXPECT_EQ(expected[n].finished, results[i][n].finished);
          EXPECT_NEAR(expected[n].score, results[i][n].score, 1e-4);
          EXPECT_GE(results[i][n].token_scores.size(), static_cast<size_t>(min_length));
        }
      }
    }
  }
}

TEST(TranslatorTest, ShortlistsEqualSearchOverTheirTokens) {
  NIBU_NOTHING_FOR_THREAD_SANITIZER();
  const ModelConfig config = SmallConfig();
  const reference::Transformer reference(config, 8);
  const auto model = reference.Build(ComputeType::kFloat32);
  const Sources sources = RandomSources(Rounds(25), 6, config.vocab_source);
  for (const int beam : {1, 4}) {
    DecodingOptions decoding;
    decoding.beam_size = beam;
    decoding.num_hypotheses = beam;
    decoding.max_decoding_length = 10;
    decoding.shortlist = SmallShortlist(config.vocab_target);
    const Results results = Translate(model, decoding, {}, sources);
    SearchCase options;
    options.beam_size = beam;
    options.num_hypotheses = beam;
    options.max_length = 10;
    options.eos = config.eos;
    for (size_t i = 0; i < sources.size(); ++i) {
      const auto expected =
          ReferenceSearch(reference, config, options, 1, sources[i], {}, decoding.shortlist.get());
      ASSERT_EQ(expected.size(), results[i].size());
      for (size_t n = 0; n < expected.size(); ++n) {
        EXPECT_EQ(expected[n].tokens, results[i][n].tokens) << "beam " << beam << " line " << i;
        EXPECT_NEAR(expected[n].score, results[i][n].score, 1e-4);
      }
    }
  }
}

TEST(TranslatorTest, LengthsFollowTheSource) {
  const auto model = reference::Transformer(SmallConfig(), 13).Build(ComputeType::kFloat32);
  DecodingOptions decoding;
  decoding.suppress_sequences = {{0}};  // No hypothesis ends.
  decoding.min_decoding_length = 4;
  decoding.max_decoding_length = 20;
  decoding.max_length_factor = 1.5f;
  const Results results =
      Translate(model, decoding, {}, {{5}, {5, 6, 7, 8}, std::vector<int>(30, 9)});
  EXPECT_EQ(results[0][0].tokens.size(), 4u);  // The minimum is more than 2 * 1.5.
  EXPECT_EQ(results[1][0].tokens.size(), 7u);  // 5 * 1.5, as the EOS counts
  EXPECT_EQ(results[2][0].tokens.size(), 20u);
  for (const auto& sentence : results) EXPECT_FALSE(sentence[0].finished);
}

// Tests greedy search with and without a draft, and a beam.
TEST(TranslatorTest, TellsWhatWasCut) {
  const auto model = reference::Transformer(SmallConfig(), 7).Build(ComputeType::kFloat32);
  const Sources sources = RandomSources(30, 12, SmallConfig().vocab_source);
  TranslatorOptions with_draft;
  with_draft.batch_size = 1;
  with_draft.draft = model;
  for (const auto& [beam, options] : {std::pair(1, TranslatorOptions()), std::pair(1, with_draft),
                                      std::pair(4, TranslatorOptions())}) {
    DecodingOptions decoding;
    decoding.beam_size = beam;
    decoding.return_scores = beam > 1;
    decoding.max_decoding_length = 40;
    const Results whole = Translate(model, decoding, options, sources);
    int finished = 0;
    for (size_t i = 0; i < sources.size(); ++i) {
      const size_t length = whole[i][0].tokens.size();
      EXPECT_EQ(whole[i][0].finished, length < 40) << length;
      if (length < 2 || length == 40) continue;
      ++finished;
      // In a beam, another hypothesis may be cut at the limit and be better.
      if (beam > 1) continue;
      // The first limit has room for the EOS, the second one has not.
      decoding.max_decoding_length = static_cast<int>(length) + 1;
      EXPECT_TRUE(Translate(model, decoding, options, {sources[i]})[0][0].finished);
      --decoding.max_decoding_length;
      const Hypothesis cut = Translate(model, decoding, options, {sources[i]})[0][0];
      EXPECT_EQ(cut.tokens, whole[i][0].tokens);
      EXPECT_FALSE(cut.finished);
    }
    EXPECT_GT(finished, 0);
  }
}

class BatchInvarianceTest : public testing::TestWithParam<std::tuple<ComputeType, bool>> {};

INSTANTIATE_TEST_SUITE_P(TypesAndShortlists, BatchInvarianceTest,
                         testing::Combine(testing::Values(ComputeType::kFloat32,
                                                          ComputeType::kBFloat16,
                                                          ComputeType::kInt8),
                                          testing::Bool()));

// Tokens and scores are the same bit for bit, whatever shares the batch, in whatever order, and on
// however many threads.
TEST_P(BatchInvarianceTest, ResultsDoNotDependOnTheBatch) {
  const auto [type, with_shortlist] = GetParam();
  if (!IsSupported(type)) {
    GTEST_SKIP() << "no bfloat16 on " << InstructionSet();
  }
  for (const int beam : {1, 4}) {
    ModelConfig config = SmallConfig();
    config.max_positions = 300;
    const auto model = reference::Transformer(config, 9).Build(type);
    Sources sources = RandomSources(Rounds(70), 40, config.vocab_source);
    for (const size_t length : {130, 280}) {  // Attention in bfloat16 is used for long sources.
      sources.emplace_back(length, 3);
      for (size_t i = 0; i < length; i += 3) sources.back()[i] = static_cast<int>(4 + i % 40);
    }
    DecodingOptions decoding;
    decoding.beam_size = beam;
    decoding.num_hypotheses = beam;
    decoding.max_decoding_length = 30;
    if (with_shortlist) decoding.shortlist = SmallShortlist(config.vocab_target);
    TranslatorOptions one;
    one.batch_size = 1;
    const Results expected = Translate(model, decoding, one, sources);
    for (const int batch : {2, 7, 32, 64}) {
      for (const BatchType batch_type : {BatchType::kExamples, BatchType::kTokens}) {
        for (const int threads : {1, 3}) {
          TranslatorOptions options;
          options.batch_size = batch;
          options.batch_type = batch_type;
          options.threads = threads;
          EXPECT_TRUE(SameBits(expected, Translate(model, decoding, options, sources)))
              << "beam " << beam << ", batch " << batch << ", threads " << threads;
        }
      }
    }
    std::vector<size_t> order(sources.size());
    std::iota(order.begin(), order.end(), size_t{0});
    Random random(3);
    std::shuffle(order.begin(), order.end(), random.engine());
    Sources shuffled;
    Results expected_shuffled;
    for (size_t i : order) {
      shuffled.push_back(sources[i]);
      expected_shuffled.push_back(expected[i]);
    }
    EXPECT_TRUE(SameBits(expected_shuffled, Translate(model, decoding, {}, shuffled)));
  }
}

TEST(TranslatorTest, GreedyNeedsNoScoresForItsTokens) {
  const auto model = reference::Transformer(SmallConfig(), 11).Build(ComputeType::kFloat32);
  const Sources sources = RandomSources(20, 15, 50);
  DecodingOptions decoding;
  decoding.beam_size = 1;
  const Results with = Translate(model, decoding, {}, sources);
  decoding.return_scores = false;
  const Results without = Translate(model, decoding, {}, sources);
  for (size_t i = 0; i < sources.size(); ++i) EXPECT_EQ(with[i][0].tokens, without[i][0].tokens);
}

TEST(TranslatorTest, FrameStandsInPlaceOfTheModelsOwn) {
  NIBU_NOTHING_FOR_THREAD_SANITIZER();
  ModelConfig config = SmallConfig();
  config.decoder_start = 9;
  config.position_offset = 2;
  const reference::Transformer reference(config, 19);
  const auto model = reference.Build(ComputeType::kFloat32);
  const Sources sources = RandomSources(25, 12, config.vocab_source);
  for (const int beam : {1, 4}) {
    DecodingOptions decoding;
    decoding.beam_size = beam;
    decoding.max_decoding_length = 10;
    decoding.frame = Frame{{3, 4}, {5, 0}, {9, 7, 8}};
    SearchCase options;
    options.beam_size = beam;
    options.max_length = 10;
    TranslatorOptions batch;
    // Some sentences of a batch are given tokens while others generate theirs.
    batch.batch_size = 7;
    const Results results = Translate(model, decoding, batch, sources);
    for (size_t i = 0; i < sources.size(); ++i) {
      std::vector<int> source = {3, 4};  // The reference adds the 0.
      source.insert(source.end(), sources[i].begin(), sources[i].end());
      source.push_back(5);
      const auto expected = ReferenceSearch(reference, config, options, 1, source, {7, 8});
      EXPECT_EQ(expected[0].tokens, results[i][0].tokens) << "beam " << beam << " line " << i;
      EXPECT_NEAR(expected[0].score, results[i][0].score, 1e-4);
    }
  }
}

TEST(TranslatorTest, FrameTakesItsPositions) {
  NIBU_NOTHING_FOR_THREAD_SANITIZER();
  const auto model = reference::Transformer(SmallConfig(), 21).Build(ComputeType::kFloat32);
  DecodingOptions decoding;
  decoding.min_decoding_length = 1000;
  decoding.max_decoding_length = 1000;
  decoding.frame = Frame{{3}, {4, 0}, {-1, 7}};
  auto translator = *Translator::Create(model, {});
  EXPECT_EQ(translator->max_source_length(decoding), 61);
  const Results results = *translator->Translate({std::vector<int>(61, 5)}, decoding);
  EXPECT_EQ(results[0][0].tokens.size(), 63u);

  const auto refused = [&](const Frame& frame) {
    decoding.frame = frame;
    return std::string(translator->Translate({{5}}, decoding).status().message());
  };
  EXPECT_EQ(refused({{50}, {}, {1}}), "frame.source_prefix has 50, expected 0 to 49");
  EXPECT_EQ(refused({{}, {-1}, {1}}), "frame.source_suffix has -1, expected 0 to 49");
  EXPECT_EQ(refused({{}, {}, {-2}}), "frame.decoder_start has -2, expected -1 to 49");
  EXPECT_NE(refused({{}, {}, {}}).find("no position for a generated token"), std::string::npos);
  EXPECT_NE(refused({{}, std::vector<int>(64), {1}}).find("no positions for a source token"),
            std::string::npos);
}

TEST(TranslatorTest, KeepsToTheModelsPositions) {
  const auto model = reference::Transformer(SmallConfig(), 13).Build(ComputeType::kFloat32);
  DecodingOptions decoding;
  decoding.min_decoding_length = 1000;
  decoding.max_decoding_length = 1000;
  auto translator = *Translator::Create(model, {});
  // There are 64 positions, one of them for the EOS.
  EXPECT_EQ(translator->max_source_length(), 63);
  const Results results = *translator->Translate({std::vector<int>(63, 5), {}}, decoding);
  EXPECT_EQ(results[0][0].tokens.size(), 64u);
  ASSERT_EQ(results[1].size(), 1u);
  EXPECT_TRUE(results[1][0].tokens.empty());
  EXPECT_EQ(results[1][0].score, 0);
}

TEST(TranslatorTest, TakesSentencesFromSeveralThreadsAndFinishesThemAll) {
  const auto model = reference::Transformer(SmallConfig(), 15).Build(ComputeType::kFloat32);
  const Sources sources = RandomSources(30, 10, 50);
  DecodingOptions decoding;
  decoding.max_decoding_length = 8;
  const Results expected = Translate(model, decoding, {}, sources);
  Results results(3 * sources.size());
  {
    TranslatorOptions options;
    options.threads = 2;
    auto translator = *Translator::Create(model, options);
    std::vector<std::thread> threads;
    for (size_t t = 0; t < 3; ++t) {
      threads.emplace_back([&, t] {
        for (size_t i = 0; i < sources.size(); ++i) {
          const auto ticket = translator->Submit(
              {.source = sources[i], .options = decoding, .key = t * sources.size() + i},
              [&](uint64_t key, Result result) { results[key] = *std::move(result); });
          EXPECT_TRUE(ticket.ok()) << ticket.status();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }  // The destructor waits for all results.
  for (size_t i = 0; i < results.size(); ++i) {
    ASSERT_EQ(results[i].size(), 1u);
    EXPECT_EQ(results[i][0].tokens, expected[i % sources.size()][0].tokens);
  }
}

}  // namespace
}  // namespace nibu::internal
