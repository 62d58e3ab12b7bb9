// Tests that a warm decoder step allocates nothing and creates no primitive, and that the encoder
// and the decoder can be used again after they ran out of memory. oneDNN itself allocates in every
// call, so the allocations of bare matmul calls are subtracted.
#include <tuple>
#include <vector>

#include "absl/base/config.h"
#include "engine/model/decoder.h"
#include "engine/model/encoder.h"
#include "engine/schedule/drafter.h"
#include "engine/search/search_row.h"
#include "gtest/gtest.h"
#include "tests/engine/attention/spec.h"
#include "tests/engine/memory_hooks.h"
#include "tests/engine/random_config.h"
#include "tests/engine/reference/transformer.h"
#include "tests/engine/row_buffer.h"
#include "tests/engine/testing.h"

#if defined(ABSL_HAVE_ADDRESS_SANITIZER) || defined(ABSL_HAVE_THREAD_SANITIZER)
#define NIBU_COUNTS_ALLOCATIONS 0  // The sanitizers bring their own allocator.
#else
#define NIBU_COUNTS_ALLOCATIONS 1
#endif

namespace nibu::internal {
namespace {

#if NIBU_COUNTS_ALLOCATIONS

// Returns the allocations of one warm, bare matmul with these rows.
int64_t BareAllocations(Matmul* context, const Linear& linear, int rows) {
  RowBuffer x(rows, linear.in());
  RowBuffer y(rows, linear.out());
  context->Apply(linear, x.span(), y.span());
  const int64_t before = Allocations();
  context->Apply(linear, x.span(), y.span());
  return Allocations() - before;
}

// Returns the allocations of the matmuls of one decoder step and one output layer, called bare.
int64_t BareAllocations(Matmul* context, const Model& model, int rows) {
  int64_t bare = 0;
  for (const DecoderLayerWeights& layer : model.weights.decoder) {
    for (const Linear* linear : {&layer.self.qkv, &layer.self.out, &layer.cross.q, &layer.cross.out,
                                 &layer.ffn.up, &layer.ffn.gate, &layer.ffn.down}) {
      bare += BareAllocations(context, *linear, rows);
    }
    if (model.config.cross_mixer(0).Is<PredictedWindow>()) {
      bare += BareAllocations(context, layer.mixer.centre, rows);
    }
  }
  for (const Linear& block : model.weights.output.blocks) {
    bare += BareAllocations(context, block, rows);
  }
  return bare;
}

// The parameters are the compute type, and whether the tokens of a step are consecutive.
class AllocationTest : public testing::TestWithParam<std::tuple<ComputeType, bool>> {};

INSTANTIATE_TEST_SUITE_P(Types, AllocationTest,
                         testing::Combine(testing::Values(ComputeType::kFloat32,
                                                          ComputeType::kBFloat16,
                                                          ComputeType::kInt8),
                                          testing::Bool()));

TEST_P(AllocationTest, AWarmStepAllocatesNothing) {
  const auto [type, consecutive] = GetParam();
  if (!IsSupported(type)) GTEST_SKIP() << "no bfloat16 on " << InstructionSet();
  Random random(4);
  ModelConfig config = RandomConfig(&random);
  config.max_positions = 64;
  config.decoder_memory = DecoderMemory::kSelfAttention;
  config.position_kind = PositionKind::kRelative;
  config.gated_ffn = true;
  // This mechanism has a linear layer of its own, a window, and mapped queries.
  config.cross_attention = {Spec("local_p:width=5,score=concat")};
  const auto model = reference::Transformer(config, 1).Build(type);
  const Embedder source(config, model->weights.source, 64);
  const Embedder target(config, model->weights.target, 64);
  Workspace workspace;
  PagePool pool(config, CacheTypeOf(*model), workspace.memory);
  Decoder decoder(*model, target, &workspace);
  OutputLayer output(*model, &workspace);
  DecoderState state;
  const std::vector<int> sentence = {1, 2, 3, 4};
  const std::vector<int> tokens = {1, 2, 3};
  const std::vector<int> parents = {2, 0, 0};
  std::vector<SearchRow> rows(tokens.size());
  std::vector<OutputLayer::Query> queries;
  for (int i = 0; i < 3; ++i) queries.push_back({i, &rows[static_cast<size_t>(i)]});
  const std::vector<Decoder::Input> inputs = {{&state, tokens, consecutive}};

  int64_t counted = 0;
  int primitives = 0;
  constexpr int kSteps = 40;
  // The first sentence warms everything up, and the second one is counted.
  for (int round = 0; round < 2; ++round) {
    workspace.arena.Rewind(0);
    state.Start(config, &pool, static_cast<int>(sentence.size()), consecutive ? 1 : 4,
                /*droppable=*/2);
    decoder.Begin(Encode(*model, source, {sentence}, &workspace), {&state});
    const int64_t before = Allocations();
    primitives = round == 0 ? 0 : workspace.matmul.primitives();
    for (int step = 0; step < kSteps; ++step) {
      workspace.arena.Rewind(0);
      const RowSpan<const float> hidden = decoder.Step(inputs);
      for (SearchRow& row : rows) {
        row.edits().Clear();
        row.edits().Suppress(config.suppressed);
        row.Start(4, /*normalize=*/true);
      }
      output.Run({&hidden, 1}, queries);
      for (SearchRow& row : rows) row.Finish();
      if (consecutive) {
        state.Truncate(state.length() - 2);
      } else {
        state.Reorder(parents);
      }
    }
    counted = Allocations() - before;
    state.Release();
  }
  EXPECT_EQ(workspace.matmul.primitives(), primitives);

  const int64_t bare = BareAllocations(&workspace.matmul, *model, static_cast<int>(tokens.size()));
  EXPECT_GT(bare, 0);  // The hooks do count.
  EXPECT_EQ(counted, kSteps * bare);
}

// Wherever memory runs out, in the encoder or in a step, an exception is thrown, and the same
// objects then give the same results.
TEST_P(AllocationTest, WhatHasThrownCanBeUsedAgain) {
  const ComputeType type = std::get<0>(GetParam());
  const bool consecutive = std::get<1>(GetParam());
  if (!IsSupported(type)) GTEST_SKIP() << "no bfloat16 on " << InstructionSet();
  Random random(5);
  ModelConfig config = RandomConfig(&random);
  config.max_positions = 200;
  config.decoder_memory = DecoderMemory::kSelfAttention;
  const auto model = reference::Transformer(config, 1).Build(type);
  const Embedder source(config, model->weights.source, 200);
  const Embedder target(config, model->weights.target, 200);
  const std::vector<int> sentence(150, 1);
  const std::vector<int> tokens = {1, 2, 3};
  struct Worker {
    Worker(const Model& m, const Embedder& embedder)
        : decoder(m, embedder, &workspace), output(m, &workspace) {}
    Workspace workspace;
    Decoder decoder;
    OutputLayer output;
  };
  const auto translate = [&](Worker* worker) {
    std::vector<std::pair<int, float>> results;
    PagePool pool(config, CacheTypeOf(*model), worker->workspace.memory);
    DecoderState state;
    worker->workspace.arena.Rewind(0);
    state.Start(config, &pool, static_cast<int>(sentence.size()), consecutive ? 1 : 4,
                /*droppable=*/2);
    worker->decoder.Begin(Encode(*model, source, {sentence}, &worker->workspace), {&state});
    OutputSubset subset;
    subset.tokens = {1, 2, config.eos + 3};
    worker->output.Select({&subset});
    for (int step = 0; step < 10; ++step) {
      worker->workspace.arena.Rewind(0);
      const RowSpan<const float> hidden = worker->decoder.Step({{&state, tokens, consecutive}});
      SearchRow rows[2];
      for (SearchRow& row : rows) row.Start(4, /*normalize=*/true);
      const OutputLayer::Query queries[] = {{0, &rows[0]}, {2, &rows[1], &subset}};
      worker->output.Run({&hidden, 1}, queries);
      for (SearchRow& row : rows) {
        for (const Candidate& c : row.Finish()) results.emplace_back(c.token, c.log_prob);
      }
    }
    return results;
  };
  Worker first(*model, target);
  const auto expected = translate(&first);  // oneDNN has its kernels from here on.
  int64_t failures = 0;
  for (int64_t number = 1;; number += 1 + number / 20) {
    Worker worker(*model, target);
    FailAllocation(number);
    try {
      translate(&worker);
      StopFailing();
      break;
    } catch (const std::exception&) {
      StopFailing();
      ++failures;
    }
    ASSERT_EQ(translate(&worker), expected) << "allocation " << number;
  }
  EXPECT_GT(failures, 50);
}

TEST(DrafterAllocationTest, AWarmGuessAllocatesNothing) {
  Random random(4);
  ModelConfig config = RandomConfig(&random);
  config.max_positions = 64;
  config.decoder_memory = DecoderMemory::kSelfAttention;
  config.gated_ffn = true;
  const auto model = reference::Transformer(config, 1).Build(ComputeType::kFloat32);
  const PreparedModel draft(model, 64, 64);
  Workspace workspace;
  Drafter drafter(draft, &workspace);
  Drafter::Sentence sentence;
  const std::vector<int> source = {1, 2, 3, 4};
  // No guess is an EOS.
  LogitEdits edits;
  edits.Suppress(config.eos);
  std::vector<int> guesses;
  int64_t counted = 0;
  int64_t steps = 0;
  for (int round = 0; round < 2; ++round) {
    sentence.Start({config.decoder_start}, source, {});
    const auto guess = [&] {
      guesses.clear();
      drafter.Guess(&sentence, Drafter::kMostGuesses, edits, &guesses);
      steps += static_cast<int64_t>(guesses.size());
    };
    guess();  // The first guess encodes the source.
    const int64_t before = Allocations();
    steps = 0;
    for (int i = 0; i < 40; ++i) {
      const int wrong = guesses[0] == 1 ? 2 : 1;
      sentence.Append({&wrong, 1});
      guess();
    }
    counted = Allocations() - before;
    sentence.Release();
  }
  EXPECT_GE(steps, 40);
  EXPECT_EQ(counted, steps * BareAllocations(&workspace.matmul, *model, 1));
}

#endif  // NIBU_COUNTS_ALLOCATIONS

}  // namespace
}  // namespace nibu::internal
