// Which keys a query sees, as spans of keys: what the sparse patterns skip is never computed. All
// of them are functions of the positions, the number of positions and a seed alone.
//
//   full        all
//   causal      j <= i
//   window      |i - j| <= width: a sliding window
//   local_m     |p - j| <= width around the place p = min(i ratio / 100, S - 1), which need not be
//               a whole number (Luong et al. 2015, whose p is i)
//   local_p     |p - j| <= width around a place p that the query predicts (local.h)
//   shifted     windows of `width` side by side; in odd layers they are shifted by half of it, what
//               would wrap around being masked, unless one window holds the sentence (Swin, Liu et
//               al. 2021)
//   block_grid  windows of `width`; in odd layers a grid, the positions that are equal modulo
//               ceil(N / width) (MaxViT, Tu et al. 2022)
//   bigbird     the first `global` positions see all and are seen by all; |i - j| <= window; and
//               for each block of queries `random` different blocks of keys, drawn among those of
//               which neither window nor `global` shows a key to any query of the block, for each
//               head and layer anew (Zaheer et al. 2020)
#ifndef NIBU_ENGINE_ATTENTION_MIXERS_PATTERN_H_
#define NIBU_ENGINE_ATTENTION_MIXERS_PATTERN_H_

#include <vector>

#include "engine/attention/mixer_spec.h"

namespace nibu::internal {

// Keys begin, begin + step, ... below end.
struct KeySpan {
  int begin;
  int end;
  int step = 1;
};

// A query as patterns tell it from others.
struct QueryPlace {
  int position;
  int head = 0;      // patterns of which HasHeads is false have the same keys in all heads
  float centre = 0;  // p of local_p
};

// Finds what a query sees of `positions` keys, as spans in any order, which may overlap. `spans` is
// cleared first. There is at least one key: a query sees itself; a window around p in which no
// position lies (local_m with a width of 0) shows the first one behind p. A mechanism that is no
// pattern sees all keys.
void FindKeys(const MixerSpec& spec, int positions, const QueryPlace& query,
              std::vector<KeySpan>* spans);

// The keys within a window around p: those of a query of local_m or local_p.
KeySpan WindowOf(const MixerSpec& spec, int positions, const QueryPlace& query);

// Returns true if heads see different keys.
inline bool HasHeads(const MixerSpec& spec) { return spec.Is<BigBird>(); }

// The place of the bias that the scores of a query and a key have in windows of W positions, or in
// a grid of them (MixerSpec::biased_width): key - query + W - 1, in steps of the grid, of 2 W - 1.
// REQUIRES: the query sees the key.
int RelativePlace(const MixerSpec& spec, int positions, int query, int key);

// Queries whose keys are much the same, for a tile: first, first + step, ...
struct QueryTile {
  int first;
  int count;
  int step = 1;
};
// All queries, once each, in tiles of at most `most`.
std::vector<QueryTile> TilesOf(const MixerSpec& spec, int positions, int most);

// A hash of its arguments, any 64 bits (splitmix64), for random blocks and LSH's projections.
uint64_t HashOf(uint64_t seed, uint64_t a, uint64_t b);

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_ATTENTION_MIXERS_PATTERN_H_
