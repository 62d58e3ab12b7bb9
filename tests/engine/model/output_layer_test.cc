// Tests of the output layer: a row's candidates do not depend on the other rows, and a subset of
// the vocabulary has the logits that its tokens have among all.
#include "engine/model/output_layer.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "engine/core/huge_heap.h"
#include "engine/search/search_row.h"
#include "gtest/gtest.h"
#include "tests/engine/random_config.h"
#include "tests/engine/reference/transformer.h"
#include "tests/engine/row_buffer.h"
#include "tests/engine/testing.h"

namespace nibu::internal {
namespace {

// Rows of hidden states, with room behind them as Decoder::Step gives it.
RowBuffer RandomHidden(Random* random, int rows, int dim) {
  RowBuffer hidden(rows, dim, Matmul::kMostRows / 2);
  hidden.Fill(random);
  return hidden;
}

void ExpectSame(absl::Span<const Candidate> expected, absl::Span<const Candidate> actual) {
  ASSERT_EQ(expected.size(), actual.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(expected[i].token, actual[i].token);
    ASSERT_EQ(expected[i].log_prob, actual[i].log_prob);  // bit for bit
  }
}

class OutputLayerTest : public testing::TestWithParam<ComputeType> {};

INSTANTIATE_TEST_SUITE_P(Types, OutputLayerTest,
                         testing::Values(ComputeType::kFloat32, ComputeType::kBFloat16,
                                         ComputeType::kInt8));

// A row gets the candidates that it gets alone, whichever other rows are asked for, and however
// many sentences have vocabularies of their own.
TEST_P(OutputLayerTest, RowsAreLeftOutAtWill) {
  if (!IsSupported(GetParam())) GTEST_SKIP() << "no bfloat16 on " << InstructionSet();
  Random random(1);
  for (uint32_t round = 0; round < 12; ++round) {
    ModelConfig config = RandomConfig(&random);
    if (round % 3 == 0) config.vocab_target = 2 * OutputWeights::kBlock + 7;
    const auto model = reference::Transformer(config, round).Build(GetParam());
    Workspace workspace;
    OutputLayer output(*model, &workspace);
    const int rows = round % 4 == 0 ? random.Int(97, 230) : random.Int(1, 20);
    RowBuffer memory = RandomHidden(&random, rows, config.d_model);
    const RowSpan<const float> hidden = memory.span();
    OutputSubset subsets[3];
    // Subsets that share nothing with the others.
    OutputSubset own[3];
    for (size_t i = 0; i < 3; ++i) {
      for (int token = 0; token < config.vocab_target; ++token) {
        if (token == config.eos || random.Int(0, 2) == 0) subsets[i].tokens.push_back(token);
      }
      own[i].tokens = subsets[i].tokens;
      output.Select({&own[i]});
    }
    output.Select({&subsets[0], &subsets[1], &subsets[2]});
    const std::vector<int> suppressed = {0, config.vocab_target - 1};
    struct Asked {
      int k;
      bool normalize;
      absl::Span<const int> suppressed;

      void Start(SearchRow* sink) const {
        sink->edits().Suppress(suppressed);
        sink->Start(k, normalize);
      }
    };
    std::vector<Asked> asked;
    std::vector<OutputLayer::Query> queries;
    const OutputSubset* subset = nullptr;
    // So many of four rows are left out; 0: none.
    const int left_out = random.Int(0, 3);
    for (int row = 0; row < rows; ++row) {
      if (random.Int(0, 4) == 0) {
        subset = random.Chance() ? nullptr : &subsets[static_cast<size_t>(random.Int(0, 2))];
      }
      if (random.Int(0, 3) < left_out) continue;
      queries.push_back({row, nullptr, subset});
      asked.push_back({random.Int(1, 9), random.Chance(), {}});
      if (random.Chance()) asked.back().suppressed = suppressed;
    }
    std::vector<SearchRow> sinks(queries.size());
    for (size_t i = 0; i < queries.size(); ++i) {
      asked[i].Start(&sinks[i]);
      queries[i].sink = &sinks[i];
    }
    output.Run({&hidden, 1}, queries);
    EXPECT_EQ(workspace.arena.mark(), 0u);
    for (size_t i = 0; i < queries.size(); ++i) {
      SearchRow alone;
      asked[i].Start(&alone);
      OutputLayer::Query query = queries[i];
      query.sink = &alone;
      if (query.subset != nullptr) query.subset = &own[query.subset - subsets];
      output.Run({&hidden, 1}, {&query, 1});
      const auto best = sinks[i].Finish();
      ExpectSame(alone.Finish(), best);
      for (const Candidate& candidate : best) {
        ASSERT_FALSE(!asked[i].suppressed.empty() &&
                     std::binary_search(suppressed.begin(), suppressed.end(), candidate.token));
        if (queries[i].subset == nullptr) continue;
        const std::vector<int>& tokens = queries[i].subset->tokens;
        ASSERT_TRUE(std::binary_search(tokens.begin(), tokens.end(), candidate.token));
      }
    }
  }
}

// The logits of a subset's tokens are those that they have among all tokens.
TEST_P(OutputLayerTest, ASubsetIsAPartOfTheWhole) {
  if (!IsSupported(GetParam())) GTEST_SKIP() << "no bfloat16 on " << InstructionSet();
  Random random(2);
  const ModelConfig config = RandomConfig(&random);
  const auto model = reference::Transformer(config, 2).Build(GetParam());
  Workspace workspace;
  OutputLayer output(*model, &workspace);
  RowBuffer memory = RandomHidden(&random, 2, config.d_model);
  const RowSpan<const float> hidden = memory.span();
  OutputSubset subset;
  for (int token = 0; token < config.vocab_target; token += 2) subset.tokens.push_back(token);
  output.Select({&subset});
  SearchRow sinks[2];
  for (SearchRow& sink : sinks) sink.Start(config.vocab_target, /*normalize=*/false);
  const OutputLayer::Query queries[] = {{0, &sinks[0]}, {0, &sinks[1], &subset}};
  output.Run({&hidden, 1}, {queries, 1});
  output.Run({&hidden, 1}, {queries + 1, 1});
  std::vector<float> all(static_cast<size_t>(config.vocab_target));
  for (const Candidate& c : sinks[0].Finish()) all[static_cast<size_t>(c.token)] = c.log_prob;
  const auto some = sinks[1].Finish();
  ASSERT_EQ(some.size(), subset.tokens.size());
  for (const Candidate& c : some) EXPECT_NEAR(c.log_prob, all[static_cast<size_t>(c.token)], 1e-4);
}

// An output layer that lacks tokens gives the others the logits that they have in a whole one, with
// and without a subset.
TEST_P(OutputLayerTest, LeftOutTokensLeaveTheOthersAsTheyAre) {
  if (!IsSupported(GetParam())) GTEST_SKIP() << "no bfloat16 on " << InstructionSet();
  Random random(3);
  ModelConfig config = RandomConfig(&random);
  config.vocab_target = 2 * OutputWeights::kBlock + 7;
  const auto whole = reference::Transformer(config, 3).Build(GetParam());
  HugeHeap heap;        // outlives the model
  Workspace workspace;  // outlives the subset
  auto part = std::make_shared<Model>(*whole);
  std::vector<int>& kept = part->config.output_tokens;
  OutputSubset subset;
  for (int token = 0; token < config.vocab_target; ++token) {
    if (token == config.eos || random.Int(0, 2) > 0) kept.push_back(token);
    if (token == config.eos || random.Int(0, 2) > 0) subset.tokens.push_back(token);
  }
  ASSERT_TRUE(part->config.Validate().ok()) << part->config.Validate();
  part->weights.output.blocks = {Linear::Select(whole->weights.output.blocks, kept, &heap)};
  OutputLayer all(*whole, &workspace);
  OutputLayer some(*part, &workspace);
  some.Select({&subset});
  for (const int token : subset.tokens) {
    EXPECT_TRUE(std::binary_search(kept.begin(), kept.end(), token));
  }
  RowBuffer memory = RandomHidden(&random, 1, config.d_model);
  const RowSpan<const float> hidden = memory.span();
  SearchRow sinks[3];
  for (SearchRow& sink : sinks) sink.Start(config.vocab_target, /*normalize=*/false);
  const OutputLayer::Query queries[] = {{0, &sinks[0]}, {0, &sinks[1]}, {0, &sinks[2], &subset}};
  all.Run({&hidden, 1}, {queries, 1});
  some.Run({&hidden, 1}, {queries + 1, 1});
  some.Run({&hidden, 1}, {queries + 2, 1});
  std::vector<float> logits(static_cast<size_t>(config.vocab_target));
  for (const Candidate& c : sinks[0].Finish()) logits[static_cast<size_t>(c.token)] = c.log_prob;
  for (size_t i = 1; i < 3; ++i) {
    const std::vector<int>& expected = i == 1 ? kept : subset.tokens;
    std::vector<int> found;
    for (const Candidate& c : sinks[i].Finish()) {
      found.push_back(c.token);
      EXPECT_NEAR(c.log_prob, logits[static_cast<size_t>(c.token)], 1e-4) << c.token;
    }
    std::sort(found.begin(), found.end());
    EXPECT_EQ(found, expected);
  }
}

}  // namespace
}  // namespace nibu::internal
