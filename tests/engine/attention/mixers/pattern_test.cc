// Tests of the patterns: the keys that they show to a query, against their definitions.
#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "gtest/gtest.h"
#include "tests/engine/attention/mixers/patterns.h"

namespace nibu::internal {
namespace {

// Returns whether query i sees key j by the definition of the pattern. BigBird's random blocks are
// left out.
bool Sees(const MixerSpec& spec, int n, int i, int j) {
  if (spec.Is<CausalAttention>()) return j <= i;
  if (const auto* window = spec.As<WindowAttention>()) return std::abs(i - j) <= window->width;
  if (const auto* local = spec.As<MonotonicWindow>()) {
    const double p = std::min(i * local->ratio / 100.0, n - 1.0);
    return std::abs(p - j) <= local->width || (local->width == 0 && j == std::ceil(p));
  }
  if (const auto* shifted = spec.As<ShiftedWindows>()) {
    const int w = shifted->width;
    const int shift = spec.layer % 2 == 1 && n > w ? w - w / 2 : 0;
    return (i + shift) / w == (j + shift) / w;
  }
  if (const auto* blocks = spec.As<BlockGrid>()) {
    const int w = blocks->width;
    const int grid = static_cast<int>(std::ceil(static_cast<double>(n) / w));
    return spec.layer % 2 == 1 ? i % grid == j % grid : i / w == j / w;
  }
  if (const auto* big = spec.As<BigBird>()) {
    return i < big->global || j < big->global || std::abs(i - j) <= big->window;
  }
  return true;
}

TEST(PatternTest, SpansAreWhatTheDefinitionsSay) {
  Random random(1);
  for (int round = 0; round < 100; ++round) {
    const int n = random.Int(1, 200);
    for (MixerSpec spec : RandomPatterns(&random)) {
      if (auto* big = std::get_if<BigBird>(&spec.mechanism)) big->random = 0;
      for (int i = 0; i < n; ++i) {
        std::set<int> expected;
        for (int j = 0; j < n; ++j) {
          if (Sees(spec, n, i, j)) expected.insert(j);
        }
        ASSERT_EQ(KeysOf(spec, n, i), expected) << spec.ToText() << " query " << i << " of " << n;
      }
      std::multiset<int> queries;
      for (const QueryTile& tile : TilesOf(spec, n, 7)) {
        EXPECT_LE(tile.count, 7);
        for (int r = 0; r < tile.count; ++r) queries.insert(tile.first + r * tile.step);
      }
      ASSERT_EQ(queries.size(), static_cast<size_t>(n));
      ASSERT_EQ(std::set<int>(queries.begin(), queries.end()).size(), static_cast<size_t>(n));
    }
  }
}

// Beside the window and the global positions, all queries of a block see the same random blocks:
// whole ones, as many as were asked for (or as there are), which neither the window nor the global
// positions of any query of the block touch.
TEST(PatternTest, BigBirdsRandomBlocksAreDrawnOutsideOfTheWindow) {
  Random random(8);
  for (int round = 0; round < 60; ++round) {
    const int n = random.Int(1, 200);
    const int layer = random.Int(0, 3);
    const int head = random.Int(0, 3);
    MixerSpec spec = RandomPatterns(&random).back();
    spec.layer = layer;
    const BigBird big = *spec.As<BigBird>();
    MixerSpec without = spec;
    std::get<BigBird>(without.mechanism).random = 0;
    const int blocks = (n + big.block - 1) / big.block;
    for (int first = 0; first < n; first += big.block) {
      const int end = std::min(first + big.block, n);
      std::set<int> touched;  // blocks that a query of this block sees a part of anyway
      for (int i = first; i < end; ++i) {
        if (i < big.global) continue;  // It sees all keys.
        for (const int j : KeysOf(without, n, i)) touched.insert(j / big.block);
      }
      std::set<std::set<int>> drawn_by;
      for (int i = std::max(first, big.global); i < end; ++i) {
        std::set<int> drawn;
        std::set<int> keys = KeysOf(spec, n, i, head);
        for (const int j : KeysOf(without, n, i)) keys.erase(j);
        for (const int j : keys) drawn.insert(j / big.block);
        size_t members = 0;
        for (const int block : drawn) {
          EXPECT_EQ(touched.count(block), 0U);
          members += static_cast<size_t>(std::min(n, (block + 1) * big.block) - block * big.block);
        }
        EXPECT_EQ(keys.size(), members) << "whole blocks";
        drawn_by.insert(drawn);
      }
      if (drawn_by.empty()) continue;
      ASSERT_EQ(drawn_by.size(), 1U) << "the queries of a block have the same blocks";
      // Global queries of the block see the same window, which touches the same blocks.
      for (int i = first; i < end; ++i) {
        const int from = std::max(0, i - big.window);
        for (int j = from; j < std::min(n, i + big.window + 1); ++j) touched.insert(j / big.block);
      }
      EXPECT_EQ(static_cast<int>(drawn_by.begin()->size()),
                std::min(big.random, blocks - static_cast<int>(touched.size())));
    }
  }
}

// Random blocks differ by layer, head and seed, and every block is drawn equally often.
TEST(PatternTest, BigBirdsRandomBlocksDifferByLayerAndHead) {
  constexpr int kPositions = 400;
  constexpr int kBlocks = 40;
  const auto drawn = [](int seed, int layer, int head) {
    const MixerSpec spec =
        Spec("bigbird:window=0,global=0,random=3,block=10,seed=" + std::to_string(seed), layer);
    std::vector<std::set<int>> all;
    for (int i = 0; i < kPositions; i += 10) all.push_back(KeysOf(spec, kPositions, i, head));
    return all;
  };
  std::set<std::vector<std::set<int>>> different;
  std::vector<int> count(kBlocks);
  for (int seed = 0; seed < 4; ++seed) {
    for (int layer = 0; layer < 6; ++layer) {
      for (int head = 0; head < 8; ++head) {
        const auto all = drawn(seed, layer, head);
        EXPECT_EQ(all, drawn(seed, layer, head));
        different.insert(all);
        for (const std::set<int>& keys : all) {
          std::set<int> blocks;
          for (const int j : keys) blocks.insert(j / 10);
          EXPECT_EQ(blocks.size(), 4U);  // three random ones and the query's own
          for (const int block : blocks) ++count[static_cast<size_t>(block)];
        }
      }
    }
  }
  EXPECT_EQ(different.size(), 4U * 6 * 8);
  // There are 192 graphs of 40 queries with 3 of 39 blocks each, so a block is drawn 591 times, and
  // it is 192 times the query's own.
  for (const int times : count) EXPECT_NEAR(times, 591 + 192, 120);
}

}  // namespace
}  // namespace nibu::internal
