// Finds which keys each query sees, and which queries form a tile.
#include "engine/attention/mixers/pattern.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <variant>

#include "absl/base/macros.h"

namespace nibu::internal {
namespace {

// Positions from one member of a query's grid to the next; 1 where there is no grid.
int GridStep(const MixerSpec& spec, int positions) {
  const auto* const grid = spec.is_odd_layer() ? spec.As<BlockGrid>() : nullptr;
  return grid == nullptr ? 1 : CeilOf(positions, grid->width);
}

// The random blocks of keys that the block of queries `block` has, in any order: numbers of blocks
// of own.block positions. Among the blocks that it may have, without repetition by Floyd's method
// (Bentley and Floyd 1987).
std::vector<int> RandomBlocks(const BigBird& own, int positions, int layer, int head, int block) {
  // Not these: the blocks that `global` has a part of, and from `first_near` on those of the
  // window.
  const int64_t begin = static_cast<int64_t>(block) * own.block;
  const int all = CeilOf(positions, own.block);
  const int global = std::min(CeilOf(own.global, own.block), all);
  const int first_near =
      std::max(global, static_cast<int>(std::max<int64_t>(begin - own.window, 0) / own.block));
  const int64_t last = begin + own.block - 1 + own.window;
  const int end_near =
      std::max(first_near, static_cast<int>(std::min<int64_t>(last / own.block + 1, all)));
  const int count = first_near - global + all - end_near;
  const uint64_t seed = HashOf(static_cast<uint64_t>(own.seed), static_cast<uint64_t>(layer),
                               static_cast<uint64_t>(head));
  std::vector<int> drawn;
  for (int n = std::max(count - own.random, 0); n < count; ++n) {
    const uint64_t hash = HashOf(seed, static_cast<uint64_t>(block), static_cast<uint64_t>(n));
    const int pick = static_cast<int>(hash % static_cast<uint64_t>(n + 1));
    drawn.push_back(std::find(drawn.begin(), drawn.end(), pick) == drawn.end() ? pick : n);
  }
  for (int& pick : drawn) {
    pick += global;
    if (pick >= first_near) pick += end_near - first_near;
  }
  return drawn;
}

// The positions from `begin` to `end` that there are, and at least one.
KeySpan Within(int positions, int begin, int end) {
  begin = std::clamp(begin, 0, positions - 1);
  return {begin, std::clamp(end, begin + 1, positions)};
}

template <typename... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <typename... F>
Overloaded(F...) -> Overloaded<F...>;

// Returns whether the query sees the key, for assertions.
bool Sees(const MixerSpec& spec, int positions, int query, int key) {
  std::vector<KeySpan> spans;
  FindKeys(spec, positions, {query}, &spans);
  return std::any_of(spans.begin(), spans.end(), [key](const KeySpan& span) {
    return span.begin <= key && key < span.end && (key - span.begin) % span.step == 0;
  });
}

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

KeySpan WindowOf(const MixerSpec& spec, int positions, const QueryPlace& query) {
  double p = static_cast<double>(query.centre);
  double width = 0;
  if (const auto* monotonic = spec.As<MonotonicWindow>()) {
    p = std::min(static_cast<double>(query.position) * monotonic->ratio / 100, positions - 1.0);
    width = monotonic->width;
  } else if (const auto* predicted = spec.As<PredictedWindow>()) {
    width = predicted->width;
  }
  return Within(positions, static_cast<int>(std::ceil(p - width)),
                static_cast<int>(std::floor(p + width)) + 1);
}

void FindKeys(const MixerSpec& spec, int positions, const QueryPlace& place,
              std::vector<KeySpan>* spans) {
  const int query = place.position;
  spans->clear();
  const auto add = [&](int begin, int end) { spans->push_back(Within(positions, begin, end)); };
  // The window of `width` positions that has the query, where the first one ends at `shift`.
  const auto add_window = [&](int width, int shift) {
    const int begin = (query + width - shift) / width * width - width + shift;
    add(begin, begin + width);
  };
  std::visit(
      Overloaded{
          [&](const CausalAttention&) { add(0, query + 1); },
          [&](const WindowAttention& own) { add(query - own.width, query + own.width + 1); },
          [&](const MonotonicWindow&) { spans->push_back(WindowOf(spec, positions, place)); },
          [&](const PredictedWindow&) { spans->push_back(WindowOf(spec, positions, place)); },
          [&](const ShiftedWindows& own) {
            const bool is_shifted = spec.is_odd_layer() && own.width < positions;
            add_window(own.width, is_shifted ? own.width / 2 : 0);
          },
          [&](const BlockGrid& own) {
            if (!spec.is_odd_layer()) return add_window(own.width, 0);
            const int step = GridStep(spec, positions);
            spans->push_back({query % step, positions, step});
          },
          [&](const BigBird& own) {
            if (query < own.global) return add(0, positions);
            if (own.global > 0) add(0, own.global);
            add(query - own.window, query + own.window + 1);
            for (const int block :
                 RandomBlocks(own, positions, spec.layer, place.head, query / own.block)) {
              add(block * own.block, (block + 1) * own.block);
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

int RelativePlace(const MixerSpec& spec, int positions, int query, int key) {
  ABSL_ASSERT(Sees(spec, positions, query, key));
  return (key - query) / GridStep(spec, positions) + spec.biased_width() - 1;
}

std::vector<QueryTile> TilesOf(const MixerSpec& spec, int positions, int most) {
  const int step = GridStep(spec, positions);
  std::vector<QueryTile> tiles;
  for (int start = 0; start < std::min(step, positions); ++start) {
    const int all = CeilOf(positions - start, step);
    for (int i = 0; i < all; i += most) {
      tiles.push_back({start + i * step, std::min(most, all - i), step});
    }
  }
  return tiles;
}

}  // namespace nibu::internal
