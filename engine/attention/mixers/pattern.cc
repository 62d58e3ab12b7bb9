#include "engine/attention/mixers/pattern.h"

#include <algorithm>
#include <cmath>

namespace nibu {
namespace {

int CeilDivide(int a, int b) { return (a + b - 1) / b; }

bool IsGrid(const MixerSpec& spec) { return spec.pattern == Pattern::kBlockGrid && spec.odd_layer; }

}  // namespace

uint64_t HashOf(uint64_t seed, uint64_t a, uint64_t b) {
  uint64_t x = seed;
  for (const uint64_t part : {a, b}) {
    x += 0x9e3779b97f4a7c15 * (part + 1);
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    x ^= x >> 31;
  }
  return x;
}

void FindKeys(const MixerSpec& spec, int positions, int query, float centre,
              std::vector<KeySpan>* spans) {
  spans->clear();
  // Within the positions; where that is nothing, the nearest of them.
  const auto add = [&](int begin, int end) {
    begin = std::clamp(begin, 0, positions - 1);
    spans->push_back({begin, std::clamp(end, begin + 1, positions)});
  };
  switch (spec.pattern) {
    case Pattern::kGlobal:
      return add(0, positions);
    case Pattern::kCausal:
      return add(0, query + 1);
    case Pattern::kWindow:
      return add(query - spec.width, query + spec.width + 1);
    case Pattern::kLocal: {
      const auto width = static_cast<float>(spec.width);
      return add(static_cast<int>(std::ceil(centre - width)),
                 static_cast<int>(std::floor(centre + width)) + 1);
    }
    case Pattern::kBlockGrid:
      if (IsGrid(spec)) {
        const int step = CeilDivide(positions, spec.width);
        spans->push_back({query % step, positions, step});
        return;
      }
      [[fallthrough]];
    case Pattern::kShifted: {
      const int shift = spec.pattern == Pattern::kShifted && spec.odd_layer ? spec.width / 2 : 0;
      const int begin = (query + spec.width - shift) / spec.width * spec.width - spec.width + shift;
      return add(begin, begin + spec.width);
    }
    case Pattern::kBigBird: {
      if (query < spec.global) return add(0, positions);
      if (spec.global > 0) add(0, spec.global);
      add(query - spec.width, query + spec.width + 1);
      const auto blocks = static_cast<uint64_t>(CeilDivide(positions, spec.block));
      for (int r = 0; r < spec.random; ++r) {
        const uint64_t hash =
            HashOf(static_cast<uint64_t>(spec.seed), static_cast<uint64_t>(query / spec.block),
                   static_cast<uint64_t>(r));
        const int begin = static_cast<int>(hash % blocks) * spec.block;
        add(begin, begin + spec.block);
      }
    }
  }
}

std::vector<QueryTile> TilesOf(const MixerSpec& spec, int positions, int most) {
  const int step = IsGrid(spec) ? CeilDivide(positions, spec.width) : 1;
  std::vector<QueryTile> tiles;
  for (int start = 0; start < std::min(step, positions); ++start) {
    const int all = CeilDivide(positions - start, step);
    for (int i = 0; i < all; i += most) {
      tiles.push_back({start + i * step, std::min(most, all - i), step});
    }
  }
  return tiles;
}

}  // namespace nibu
