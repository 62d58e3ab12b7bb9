// How an encoder layer mixes the positions of a sentence: full attention as a rule, or what the
// other files of this folder define. A mixer is a score, a pattern (which keys a query sees) and an
// algorithm; the last algorithms are no attention at all.
//
// Letters: N positions, H heads, d = size of a head, I = H d, D = d_model.
#ifndef NIBU_ENGINE_ATTENTION_MIXER_H_
#define NIBU_ENGINE_ATTENTION_MIXER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace nibu {

// score(q, k), Luong et al. 2015.
enum class Score : uint8_t {
  kScaledDot,  // k . q / sqrt(d)
  kDot,        // k . q
  kGeneral,    // k^T W q
  kConcat,     // v^T tanh(W [k; q])
};

// The keys j that query i sees. Defined in mixers/pattern.h.
enum class Pattern : uint8_t {
  kGlobal,
  kCausal,
  kWindow,
  kLocal,
  kShifted,
  kBlockGrid,
  kBigBird,
};

enum class Algorithm : uint8_t {
  kTiled,       // tiles of keys, a running maximum and sum; no N x N matrix (Dao et al. 2022)
  kDense,       // the whole matrix, as the definition says (dense.h)
  kLsh,         // hashed into buckets (mixers/lsh.h)
  kMean,        // keys and values are means of `reduction` neighbours (mixers/reduction.h)
  kReduction,   // they are made from `reduction` neighbours by a map (mixers/reduction.h)
  kFactorized,  // q (softmax(k)^T v) (mixers/factorized.h)
  kDeformable,  // keys and values from places that the queries choose (mixers/deformable.h)
  kPool,        // the mean of neighbours (mixers/pool.h)
  kTokenMlp,    // a feed-forward map across positions (mixers/token_mlp.h)
};

// As text: a name and its parameters, NAME:VALUE or NAME:KEY=VALUE,... Those without a default must
// be given; the one called first needs no key.
//   full:tile=256  causal  window:width  local_m:width  local_p:width  shifted:width
//   block_grid:width
//   bigbird:window=64,global=8,random=2,block=64,seed=1
//   lsh:bucket=64,rounds=4,seed=1  mean:reduction  reduction:reduction  factorized
//   deformable:reduction,kernel=5  pool:width=3  mlp:positions,hidden=0
// and for what is full, or a pattern: score=scaled_dot|dot|general|concat, dense=0|1.
struct MixerSpec {
  Score score = Score::kScaledDot;
  Pattern pattern = Pattern::kGlobal;
  Algorithm algorithm = Algorithm::kTiled;
  int width = 0;      // of windows, see Pattern; of a pool
  int global = 0;     // first positions that see all and are seen by all
  int random = 0;     // blocks of keys a block of queries sees
  int block = 0;      // positions of such a block
  int bucket = 0;     // positions of an LSH chunk
  int rounds = 0;     // hashes
  int seed = 0;       // of random blocks and of hashes
  int reduction = 0;  // positions that one key stands for
  int kernel = 0;     // positions that decide where a key is taken from
  int positions = 0;  // of a token MLP: no sentence may be longer
  int hidden = 0;     // of a token MLP: size of its hidden layer; 0: `positions`
  // Keys between two updates of the running maximum, a multiple of kKeyBlock (cache.h); bfloat16
  // products have tiles of their own.
  static constexpr int kMostTile = 256;
  int tile = kMostTile;
  // Of a layer with an odd number: patterns that alternate have their other form.
  bool odd_layer = false;

  // Of the text, too: each is a name of the list above with its parameters.
  static absl::StatusOr<MixerSpec> Parse(absl::string_view text);
  std::string ToText() const;
  // InvalidArgument: parameters out of range, or parts that do not go together.
  absl::Status Validate() const;

  bool is_full() const {
    return pattern == Pattern::kGlobal && score == Score::kScaledDot &&
           algorithm == Algorithm::kTiled;
  }
  // Looks at queries, keys and values.
  bool is_attention() const {
    return algorithm != Algorithm::kPool && algorithm != Algorithm::kTokenMlp;
  }
  // Keys and values that a layer's maps make for a sentence.
  int keys(int count) const {
    const bool fewer = algorithm == Algorithm::kReduction || algorithm == Algorithm::kDeformable;
    return fewer ? (count + reduction - 1) / reduction : count;
  }
  int hidden_size() const { return hidden > 0 ? hidden : positions; }
  // Each key is that of a position: there is place for a distance bias.
  bool keeps_positions() const {
    return algorithm == Algorithm::kTiled || algorithm == Algorithm::kDense ||
           algorithm == Algorithm::kLsh;
  }
  // Says how a query weighs positions.
  bool has_matrix() const { return keeps_positions() || algorithm == Algorithm::kMean; }
};

// Several with ';' between them: one for all layers, or one for each. Empty: none.
absl::StatusOr<std::vector<MixerSpec>> ParseMixers(absl::string_view text);
std::string MixersToText(const std::vector<MixerSpec>& mixers);

}  // namespace nibu

#endif  // NIBU_ENGINE_ATTENTION_MIXER_H_
