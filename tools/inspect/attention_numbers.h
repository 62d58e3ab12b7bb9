// Sums an attention up in a few numbers, and names its nodes.
#ifndef NIBU_TOOLS_INSPECT_ATTENTION_NUMBERS_H_
#define NIBU_TOOLS_INSPECT_ATTENTION_NUMBERS_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "engine/model/attention_maps.h"

namespace nibu::internal {

// The three places where a Transformer attends: the encoder's self-attention, the decoder's masked
// self-attention, and cross-attention.
enum class AttentionKind : uint8_t { kEncoder, kDecoder, kCross };
inline constexpr std::array<AttentionKind, 3> kAttentionKinds = {
    AttentionKind::kEncoder, AttentionKind::kDecoder, AttentionKind::kCross};
inline constexpr std::array<const char*, 3> kAttentionKindNames = {"encoder", "decoder", "cross"};
inline const char* AttentionKindName(AttentionKind kind) {
  return kAttentionKindNames[static_cast<size_t>(kind)];
}

// The tokens at the queries and at the key positions of an attention.
struct AttentionTokens {
  absl::Span<const std::string> queries;  // [N]
  absl::Span<const std::string> keys;     // [S], which may be more than the attention's M keys
};

// Numbers of one attention, means over its N queries. Rows that sum to less than 1 (local_p) are
// divided by their sums. Empty if the mechanism weighs no keys.
struct AttentionNumbers {
  // The entropy of each head in bits: 2^entropy is the number of keys over which it spreads.
  std::vector<double> entropy;
  // Each head's distance in positions says how far from the query's own position it looks; in
  // cross-attention, from the one that corresponds to it, t (S - 1) / (T - 1). A reduced key lies
  // in the middle of its members, and a sampled one where it was sampled.
  std::vector<double> distance;
  // The part of the weight that two heads put on the same keys, sum over k of min(p_k, r_k), mean
  // over all pairs of heads: 1 if all heads are the same. 1 with a single head.
  double likeness = 1;
};
AttentionNumbers NumbersOf(const AttentionMap& map, const AttentionTokens& tokens, bool is_cross);

// Returns the number of pairs of a query and a key that is not hidden from it, in all heads: the
// edges of the graphs, and what attentions cost, in products of two vectors of the size of a head.
int64_t EdgesOf(absl::Span<const AttentionMap> maps);

// Returns how many positions of the source the row of a position depends on after each layer of the
// encoder, its own included, mean over the positions. Of deformable attention, the rows that are
// sampled count, not those that move the places.
std::vector<double> ReceptiveField(const AttentionMaps::Layers& encoder, size_t positions);

// The variance over the keys of each of a head's terms (score_terms.h), mean over the queries: what
// is the same for all keys, the softmax does not see. [H][5]
std::vector<std::vector<double>> TermVariances(absl::Span<const float> terms, int heads,
                                               size_t positions);

// Returns the name of each key: its token; of a reduced key, its members' tokens; of a sampled one,
// the two tokens between which it was interpolated, with their parts.
std::vector<std::string> KeyNames(const AttentionMap& map, absl::Span<const std::string> tokens);

// Returns "windows" or "grid" for the parts of a layer that has two, else "".
std::string PartName(const AttentionMap& map);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_INSPECT_ATTENTION_NUMBERS_H_
