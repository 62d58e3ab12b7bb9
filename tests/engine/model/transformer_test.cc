// Tests of the encoder and the decoder against the reference Transformer, over random shapes.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "engine/model/decoder.h"
#include "engine/model/encoder.h"
#include "engine/model/output_layer.h"
#include "engine/search/search_row.h"
#include "gtest/gtest.h"
#include "models/assembly/mixer_text.h"
#include "tests/engine/random_config.h"
#include "tests/engine/reference/transformer.h"
#include "tests/engine/testing.h"

namespace nibu::internal {
namespace {

TEST(EncoderTest, EqualsTheReference) {
  ForEachHighwayTarget([] {
    Random random(1);
    for (uint32_t round = 0; round < static_cast<uint32_t>(Rounds(40)); ++round) {
      const ModelConfig config = RandomConfig(&random);
      ASSERT_TRUE(config.Validate().ok()) << config.Validate();
      const reference::Transformer reference(config, round);
      const auto model = reference.Build(ComputeType::kFloat32);
      const Embedder embedder(config, model->weights.source, config.max_positions);
      Workspace workspace;
      const auto sources = RandomSources(&random, config, random.Int(1, 5));
      const std::vector<absl::Span<const int>> spans(sources.begin(), sources.end());
      const float* row = Encode(*model, embedder, spans, &workspace).data();
      for (const auto& source : sources) {
        for (const auto& expected : reference.Encode(source)) {
          for (size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(expected[i], row[i], 2e-3);
          row += expected.size();
        }
      }
    }
  });
}

// With any mechanism in place of full attention, a sentence's rows are the same bits alone as in a
// batch, and wide patterns give what full attention gives.
TEST(EncoderTest, MixersDoNotDependOnTheBatch) {
  Random random(7);
  for (const std::string text :
       {"window:2", "shifted:4", "block_grid:4", "bigbird:window=1,global=1,random=1,block=3",
        "lsh:bucket=3,rounds=2", "mean:3", "factorized", "pool", "causal", "window:3,dense=1",
        "full", "window:64", "lsh:64", "mean:1"}) {
    SCOPED_TRACE(text);
    ModelConfig config = RandomConfig(&random);
    while (config.position_kind == PositionKind::kRelative ||
           config.position_kind == PositionKind::kRelativeVectors) {
      config = RandomConfig(&random);
    }
    const reference::Transformer reference(config, 1);
    const auto built =
        reference.Build(random.Chance() ? ComputeType::kInt8 : ComputeType::kFloat32);
    Model model = *built;
    model.config.encoder_attention = *ParseMixers(text, "encoder_attention");
    ASSERT_TRUE(model.config.Validate().ok()) << model.config.Validate();
    const Embedder embedder(config, model.weights.source, config.max_positions);
    const auto sources = RandomSources(&random, config, 6);
    const std::vector<absl::Span<const int>> spans(sources.begin(), sources.end());
    Workspace workspace;
    const float* row = Encode(model, embedder, spans, &workspace).data();
    const bool is_full = text == "full" || text.find("64") != std::string::npos || text == "mean:1";
    for (const auto& source : spans) {
      Workspace own;
      const float* alone = Encode(model, embedder, {source}, &own).data();
      const size_t size = source.size() * static_cast<size_t>(config.d_model);
      EXPECT_EQ(std::memcmp(row, alone, size * sizeof(float)), 0);
      const float* full = Encode(*built, embedder, {source}, &own).data();
      float difference = 0;
      for (size_t i = 0; i < size; ++i) {
        difference = std::max(difference, std::abs(full[i] - row[i]));
      }
      if (is_full && model.compute_type == ComputeType::kFloat32) {
        EXPECT_LT(difference, 1e-3f);
      } else if (!is_full && source.size() > 10) {
        EXPECT_GT(difference, 0);
      }
      row += size;
    }
  }
}

// The sentences stand at different positions, and their beams are reordered at random.
TEST(DecoderTest, EqualsTheReference) {
  ForEachHighwayTarget([] {
    Random random(2);
    for (uint32_t round = 0; round < static_cast<uint32_t>(Rounds(12)); ++round) {
      ModelConfig config = RandomConfig(&random);
      if (round % 2 == 1) {
        config.cross_attention = reference::RandomCrossAttention(&random, config.layers_decoder);
      }
      SCOPED_TRACE(MixersToText(config.cross_attention));
      const reference::Transformer reference(config, round);
      const auto model = reference.Build(ComputeType::kFloat32);
      const Embedder source_embedder(config, model->weights.source, config.max_positions);
      const Embedder target_embedder(config, model->weights.target, config.max_positions);
      Workspace workspace;
      constexpr int kWidest = 3;
      PagePool pool(config, CacheType::kFloat32, workspace.memory);
      Decoder decoder(*model, target_embedder, &workspace);
      OutputLayer output(*model, &workspace);

      struct Sentence {
        reference::Matrix encoded;
        DecoderState state;
        std::vector<std::vector<int>> prefixes = {{}};
        std::vector<int> tokens;
      };
      const auto sources = RandomSources(&random, config, 3, config.max_positions);
      std::vector<Sentence> sentences(sources.size());
      for (int step = 0; step < 20; ++step) {
        workspace.arena.Rewind(0);
        // Another sentence joins in each of the first steps.
        if (static_cast<size_t>(step) < sources.size()) {
          Sentence& sentence = sentences[static_cast<size_t>(step)];
          const auto& source = sources[static_cast<size_t>(step)];
          sentence.encoded = reference.Encode(source);
          sentence.state.Start(config, &pool, static_cast<int>(source.size()), kWidest);
          sentence.tokens = {config.decoder_start};
          decoder.Begin(Encode(*model, source_embedder, {source}, &workspace), {&sentence.state});
        }
        workspace.arena.Rewind(0);
        std::vector<Decoder::Input> inputs;
        std::deque<SearchRow> rows;
        std::vector<OutputLayer::Query> queries;
        for (Sentence& sentence : sentences) {
          if (sentence.tokens.empty()) continue;
          inputs.push_back({&sentence.state, sentence.tokens});
          for (size_t i = 0; i < sentence.tokens.size(); ++i) {
            SearchRow& row = rows.emplace_back();
            row.edits().Suppress(config.suppressed);
            row.Start(config.vocab_target, /*normalize=*/true);
            queries.push_back({static_cast<int>(queries.size()), &row});
          }
        }
        const RowSpan<const float> hidden = decoder.Step(inputs);
        output.Run({&hidden, 1}, queries);
        size_t row = 0;
        for (Sentence& sentence : sentences) {
          if (sentence.tokens.empty()) continue;
          for (const auto& prefix : sentence.prefixes) {
            const auto expected = reference.NextLogProbs(sentence.encoded, prefix);
            const auto best = rows[row++].Finish();
            ASSERT_EQ(best.size(), expected.size() - config.suppressed.size());
            for (const Candidate& candidate : best) {
              ASSERT_NEAR(candidate.log_prob, expected[static_cast<size_t>(candidate.token)], 5e-3);
            }
          }
          // The next step continues random hypotheses by random tokens.
          std::vector<int> parents;
          std::vector<std::vector<int>> next;
          sentence.tokens.clear();
          const int width = random.Int(1, kWidest);
          for (int h = 0; h < width; ++h) {
            parents.push_back(random.Int(0, static_cast<int>(sentence.prefixes.size()) - 1));
            next.push_back(sentence.prefixes[static_cast<size_t>(parents.back())]);
            sentence.tokens.push_back(random.Int(0, config.vocab_target - 1));
            next.back().push_back(sentence.tokens.back());
          }
          sentence.prefixes = next;
          sentence.state.Reorder(parents);
        }
      }
      for (Sentence& sentence : sentences) sentence.state.Release();
    }
  });
}

// Feeds one hypothesis several tokens at a time, some of which are wrong and dropped again, and
// expects the rows that single steps give, bit for bit.
void CompareConsecutiveTokens(const ModelConfig& config, ComputeType type, uint32_t seed) {
  Random random(seed);
  const auto model = reference::Transformer(config, seed).Build(type);
  const Embedder source_embedder(config, model->weights.source, config.max_positions);
  const Embedder target_embedder(config, model->weights.target, config.max_positions);
  Workspace workspace;
  constexpr int kMost = 5;  // the most tokens in a step
  PagePool pool(config, CacheTypeOf(*model), workspace.memory);
  Decoder decoder(*model, target_embedder, &workspace);
  const std::vector<int> source = RandomSources(&random, config, 1, config.max_positions)[0];
  DecoderState one;
  DecoderState several;
  const auto start = [&](DecoderState* state) {
    workspace.arena.Rewind(0);
    state->Start(config, &pool, static_cast<int>(source.size()), /*beam_size=*/1, kMost - 1);
    decoder.Begin(Encode(*model, source_embedder, {source}, &workspace), {state});
    workspace.arena.Rewind(0);
  };
  const auto dim = static_cast<size_t>(config.d_model);
  std::vector<int> tokens = {config.decoder_start};
  for (int i = 1; i < 25; ++i) tokens.push_back(random.Int(0, config.vocab_target - 1));
  std::vector<std::vector<float>> expected;
  start(&one);
  for (const int token : tokens) {
    workspace.arena.Rewind(0);
    const float* row = decoder.Step({{&one, {&token, 1}}}).data();
    expected.emplace_back(row, row + dim);
  }
  start(&several);
  while (static_cast<size_t>(several.length()) < tokens.size()) {
    const int held = several.length();
    const int count = std::min(random.Int(1, kMost), static_cast<int>(tokens.size()) - held);
    const int right = random.Int(1, count);
    std::vector<int> step(tokens.begin() + held, tokens.begin() + held + count);
    for (size_t i = static_cast<size_t>(right); i < step.size(); ++i) {
      step[i] = random.Int(0, config.vocab_target - 1);
    }
    workspace.arena.Rewind(0);
    const float* rows = decoder.Step({{&several, step, /*consecutive=*/true}}).data();
    ASSERT_EQ(several.length(), held + count);
    for (int i = 0; i < right; ++i, rows += dim) {
      ASSERT_EQ(
          0, std::memcmp(rows, expected[static_cast<size_t>(held + i)].data(), dim * sizeof(float)))
          << "position " << held + i << " of " << count << " from " << held;
    }
    several.Truncate(held + right);
    ASSERT_EQ(several.length(), held + right);
  }
  one.Release();
  several.Release();
}

TEST(DecoderTest, ConsecutiveTokensAreStepsOfTheirOwn) {
  ForEachHighwayTarget([] {
    Random random(6);
    for (uint32_t round = 0; round < 12; ++round) {
      ModelConfig config = RandomConfig(&random);
      config.decoder_memory = round % 3 == 0 ? DecoderMemory::kSsru : DecoderMemory::kSelfAttention;
      if (round % 2 == 1) {
        config.cross_attention = reference::RandomCrossAttention(&random, config.layers_decoder);
      }
      for (const ComputeType type : {ComputeType::kFloat32, ComputeType::kBFloat16,
                                     ComputeType::kInt8, ComputeType::kInt4}) {
        if (!IsSupported(type)) continue;
        SCOPED_TRACE(round);
        CompareConsecutiveTokens(config, type, round);
      }
    }
  });
  if (!IsSupported(ComputeType::kBFloat16)) GTEST_SKIP() << "no bfloat16 on " << InstructionSet();
}

}  // namespace
}  // namespace nibu::internal
