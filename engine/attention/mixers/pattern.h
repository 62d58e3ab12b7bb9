// Which keys a query sees, as spans of keys: what the sparse patterns skip is never computed. All
// of them are functions of the positions, the number of positions and a seed alone.
//
//   full        all
//   causal      j <= i
//   window      |i - j| <= width: a sliding window; local-m of Luong et al. 2015, whose p_t = t
//   local_p     |p - j| <= width around a place p that the query says (local.h)
//   shifted     windows of `width` side by side; every second layer's are shifted by half of it,
//               what would wrap around being masked (Swin, Liu et al. 2021)
//   block_grid  windows of `width`; in every second layer a grid, the positions that are equal
//               modulo ceil(N / width) (MaxViT, Tu et al. 2022)
//   bigbird     the first `global` positions see all and are seen by all; |i - j| <= window; and
//               `random` blocks of keys for each block of queries (Zaheer et al. 2020)
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

// Of query i of `positions`, in any order; they may overlap, and lie within the positions.
// `centre`: p of local_p. `spans` is cleared first. At least one key: a query sees itself (local_p:
// the nearest to p). A mechanism that is no pattern sees all keys.
void FindKeys(const MixerSpec& spec, int positions, int query, float centre,
              std::vector<KeySpan>* spans);

// Queries whose keys are much the same, for a tile: first, first + step, ...
struct QueryTile {
  int first;
  int count;
  int step = 1;
};
// All queries, once each, in tiles of at most `most`.
std::vector<QueryTile> TilesOf(const MixerSpec& spec, int positions, int most);

// Of a hash of its arguments, any 64 bits (splitmix64): random blocks and LSH's projections.
uint64_t HashOf(uint64_t seed, uint64_t a, uint64_t b);

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_ATTENTION_MIXERS_PATTERN_H_
