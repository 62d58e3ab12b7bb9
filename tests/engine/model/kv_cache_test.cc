// Tests of a sentence's decoder state: dropping the newest positions, and giving their pages back.
#include "engine/model/kv_cache.h"

#include <vector>

#include "gtest/gtest.h"

namespace nibu::internal {
namespace {

ModelConfig SmallConfig() {
  ModelConfig config;
  config.d_model = 4;
  config.heads_encoder = config.heads_decoder = 2;
  config.layers_encoder = config.layers_decoder = 2;
  return config;
}

// Returns the keys and values of a token in a layer.
std::vector<float> Cell(int token, int layer) {
  return std::vector<float>(8, static_cast<float>(10 * token + layer));
}

void Feed(const std::vector<int>& tokens, DecoderState* state) {
  for (const int token : tokens) {
    state->Extend(1);
    for (int layer = 0; layer < 2; ++layer) {
      state->Store(state->length() - 1, 0, layer, Cell(token, layer).data());
    }
  }
}

void ExpectTokens(const std::vector<int>& tokens, const DecoderState& state) {
  ASSERT_EQ(state.length(), static_cast<int>(tokens.size()));
  if (tokens.empty()) return;
  for (int layer = 0; layer < 2; ++layer) {
    const CellHistory history = state.history(0, layer, state.length() - 1);
    ASSERT_EQ(history.cells.size(), tokens.size());
    for (size_t t = 0; t < tokens.size(); ++t) {
      const auto* cell = reinterpret_cast<const float*>(static_cast<const char*>(history.cells[t]) +
                                                        history.offset);
      EXPECT_EQ(std::vector<float>(cell, cell + 8), Cell(tokens[t], layer)) << t;
    }
  }
}

std::vector<int> Range(int first, int end) {
  std::vector<int> tokens;
  for (int i = first; i < end; ++i) tokens.push_back(i);
  return tokens;
}

TEST(DecoderStateTest, TruncateDropsTheNewestPositions) {
  static_assert(PagePool::kPositions == 8, "lengths around the border of a page");
  const ModelConfig config = SmallConfig();
  HugeHeap heap;
  PagePool pool(config, CacheType::kFloat32, &heap);
  for (const int length : {0, 1, 7, 8, 9, 16, 17, 20}) {
    DecoderState state;
    state.Start(config, &pool, 3, /*beam_size=*/1, /*droppable=*/20);
    Feed(Range(0, 20), &state);
    state.Truncate(length);
    ExpectTokens(Range(0, length), state);
    Feed(Range(40, 60), &state);
    std::vector<int> expected = Range(0, length);
    for (const int token : Range(40, 60)) expected.push_back(token);
    ExpectTokens(expected, state);
    state.Release();
  }
}

TEST(DecoderStateTest, TruncateGivesPagesBack) {
  const ModelConfig config = SmallConfig();
  HugeHeap heap;
  PagePool pool(config, CacheType::kFloat32, &heap);
  DecoderState state;
  state.Start(config, &pool, 3, /*beam_size=*/1, /*droppable=*/20);
  Feed(Range(0, 20), &state);  // They take three pages.
  const void* third = state.history(0, 0, 16).cells.back();
  DecoderState other;
  other.Start(config, &pool, 3, /*beam_size=*/1);
  state.Truncate(9);
  Feed({7}, &other);
  EXPECT_EQ(other.history(0, 0, 0).cells[0], third);
  ExpectTokens(Range(0, 9), state);
  state.Truncate(8);
  Feed({5}, &state);
  ExpectTokens({7}, other);
  state.Release();
  other.Release();
}

TEST(DecoderStateTest, RecurrentStatesOfDroppedPositionsAreKept) {
  ModelConfig config = SmallConfig();
  config.decoder_memory = DecoderMemory::kSsru;
  HugeHeap heap;
  PagePool pool(config, CacheType::kFloat32, &heap);
  DecoderState state;
  state.Start(config, &pool, 3, /*beam_size=*/1, /*droppable=*/3);
  const auto step = [&] {
    state.Extend(1);
    const int position = state.length() - 1;
    for (int layer = 0; layer < 2; ++layer) {
      *state.recurrent(position, 0, layer) = *state.previous_recurrent(position, 0, layer) + 1;
    }
  };
  for (int i = 0; i < 10; ++i) {
    for (int n = 0; n < 4; ++n) step();
    EXPECT_EQ(*state.recurrent(state.length() - 1, 0, 1), static_cast<float>(state.length()));
    state.Truncate(state.length() - 3);
  }
  EXPECT_EQ(state.length(), 10);
  step();
  EXPECT_EQ(*state.recurrent(10, 0, 0), 11);
  EXPECT_EQ(*state.recurrent(10, 0, 1), 11);
}

}  // namespace
}  // namespace nibu::internal
