#include "engine/attention/mixers/pattern.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <variant>

namespace nibu::internal {
namespace {

int CeilDivide(int a, int b) { return (a + b - 1) / b; }

template <typename... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <typename... F>
Overloaded(F...) -> Overloaded<F...>;

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
  // The window of `width` positions that has the query, where the first one ends at `shift`.
  const auto add_window = [&](int width, int shift) {
    const int begin = (query + width - shift) / width * width - width + shift;
    add(begin, begin + width);
  };
  std::visit(
      Overloaded{[&](const CausalAttention&) { add(0, query + 1); },
                 [&](const WindowAttention& own) { add(query - own.width, query + own.width + 1); },
                 [&](const PredictedWindow& own) {
                   const auto width = static_cast<float>(own.width);
                   add(static_cast<int>(std::ceil(centre - width)),
                       static_cast<int>(std::floor(centre + width)) + 1);
                 },
                 [&](const ShiftedWindows& own) {
                   add_window(own.width, spec.odd_layer ? own.width / 2 : 0);
                 },
                 [&](const BlockGrid& own) {
                   if (!spec.odd_layer) return add_window(own.width, 0);
                   const int step = CeilDivide(positions, own.width);
                   spans->push_back({query % step, positions, step});
                 },
                 [&](const BigBird& own) {
                   if (query < own.global) return add(0, positions);
                   if (own.global > 0) add(0, own.global);
                   add(query - own.window, query + own.window + 1);
                   const auto blocks = static_cast<uint64_t>(CeilDivide(positions, own.block));
                   for (int r = 0; r < own.random; ++r) {
                     const uint64_t hash =
                         HashOf(static_cast<uint64_t>(own.seed),
                                static_cast<uint64_t>(query / own.block), static_cast<uint64_t>(r));
                     const int begin = static_cast<int>(hash % blocks) * own.block;
                     add(begin, begin + own.block);
                   }
                 },
                 [&]([[maybe_unused]] const auto& own) {
                   using M = std::decay_t<decltype(own)>;
                   static_assert(!M::kIsPattern || std::is_same_v<M, FullAttention>,
                                 "a pattern says which keys a query sees");
                   add(0, positions);
                 }},
      spec.mechanism);
}

std::vector<QueryTile> TilesOf(const MixerSpec& spec, int positions, int most) {
  const auto* const grid = spec.odd_layer ? spec.As<BlockGrid>() : nullptr;
  const int step = grid == nullptr ? 1 : CeilDivide(positions, grid->width);
  std::vector<QueryTile> tiles;
  for (int start = 0; start < std::min(step, positions); ++start) {
    const int all = CeilDivide(positions - start, step);
    for (int i = 0; i < all; i += most) {
      tiles.push_back({start + i * step, std::min(most, all - i), step});
    }
  }
  return tiles;
}

}  // namespace nibu::internal
