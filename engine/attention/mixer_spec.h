// The specification of how an encoder layer mixes the positions of a sentence: full attention as a
// rule, or one of the mechanisms of mixers/. It says what is wanted and computes nothing.
//
// Letters: N positions, H heads, d = size of a head, I = H d, D = d_model.
#ifndef NIBU_ENGINE_ATTENTION_MIXER_SPEC_H_
#define NIBU_ENGINE_ATTENTION_MIXER_SPEC_H_

#include <array>
#include <cstdint>
#include <string>
#include <type_traits>
#include <variant>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace nibu::internal {

// score(q, k), Luong et al. 2015.
enum class Score : uint8_t {
  kScaledDot,  // k . q / sqrt(d)
  kDot,        // k . q
  kGeneral,    // k^T W q
  kConcat,     // v^T tanh(W [k; q])
};
// The names of the scores in text, in the order of Score.
inline constexpr std::array<absl::string_view, 4> kScoreNames = {"scaled_dot", "dot", "general",
                                                                 "concat"};

// A number that a mechanism has: what it is called in text, and its range, both ends included.
template <typename Mechanism>
struct MixerParameter {
  absl::string_view key;
  int Mechanism::*field;
  int low;
  int high = 1 << 16;        // positions of any model
  bool is_required = false;  // without a default; otherwise the field's initial value is it
};

template <typename Mechanism, size_t n>
using MixerParameters = std::array<MixerParameter<Mechanism>, n>;

// The mechanisms. Each has the name and the parameters by which text gives it
// (models/assembly/mixer_text.h), the first parameter being the one that needs no key.
// `kIsPattern`: it chooses which keys a query sees, and goes together with every score.

struct FullAttention {
  static constexpr absl::string_view kName = "full";
  static constexpr bool kIsPattern = true;
  static constexpr int kLeastTile = 16;
  static constexpr int kMostTile = 256;
  // Keys between two updates of the running maximum, a multiple of kLeastTile.
  int tile = kMostTile;
  static constexpr MixerParameters<FullAttention, 1> Parameters() {
    return {{{"tile", &FullAttention::tile, kLeastTile, kMostTile}}};
  }
};

// A query sees itself and the positions before it.
struct CausalAttention {
  static constexpr absl::string_view kName = "causal";
  static constexpr bool kIsPattern = true;
  static constexpr MixerParameters<CausalAttention, 0> Parameters() { return {}; }
};

// mixers/pattern.h defines which keys the next ones see.
struct WindowAttention {
  static constexpr absl::string_view kName = "window";
  static constexpr bool kIsPattern = true;
  int width = 0;
  static constexpr MixerParameters<WindowAttention, 1> Parameters() {
    return {{{"width", &WindowAttention::width, 0, 1 << 16, true}}};
  }
};

// A window around a place that the query says (mixers/local.h); always computed densely.
struct PredictedWindow {
  static constexpr absl::string_view kName = "local_p";
  static constexpr bool kIsPattern = true;
  int width = 1;
  static constexpr MixerParameters<PredictedWindow, 1> Parameters() {
    return {{{"width", &PredictedWindow::width, 1, 1 << 16, true}}};
  }
};

struct ShiftedWindows {
  static constexpr absl::string_view kName = "shifted";
  static constexpr bool kIsPattern = true;
  int width = 2;
  static constexpr MixerParameters<ShiftedWindows, 1> Parameters() {
    return {{{"width", &ShiftedWindows::width, 2, 1 << 16, true}}};
  }
};

struct BlockGrid {
  static constexpr absl::string_view kName = "block_grid";
  static constexpr bool kIsPattern = true;
  int width = 2;
  static constexpr MixerParameters<BlockGrid, 1> Parameters() {
    return {{{"width", &BlockGrid::width, 2, 1 << 16, true}}};
  }
};

struct BigBird {
  static constexpr absl::string_view kName = "bigbird";
  static constexpr bool kIsPattern = true;
  int window = 64;
  int global = 8;  // first positions that see all and are seen by all
  int random = 2;  // blocks of keys that a block of queries sees
  int block = 64;  // positions of such a block
  int seed = 1;    // of the choice of these blocks
  static constexpr MixerParameters<BigBird, 5> Parameters() {
    return {{{"window", &BigBird::window, 0},
             {"global", &BigBird::global, 0},
             {"random", &BigBird::random, 0, 64},
             {"block", &BigBird::block, 1},
             {"seed", &BigBird::seed, 0}}};
  }
};

// A query sees keys that are hashed into the same buckets (mixers/lsh.h).
struct LshAttention {
  static constexpr absl::string_view kName = "lsh";
  static constexpr bool kIsPattern = false;
  int bucket = 64;  // positions of a chunk
  int rounds = 4;   // hashes
  int seed = 1;     // of the hashes
  static constexpr MixerParameters<LshAttention, 3> Parameters() {
    return {{{"bucket", &LshAttention::bucket, 1},
             {"rounds", &LshAttention::rounds, 1, 64},
             {"seed", &LshAttention::seed, 0}}};
  }
};

// Keys and values are means of `reduction` neighbours (mixers/reduction.h).
struct MeanAttention {
  static constexpr absl::string_view kName = "mean";
  static constexpr bool kIsPattern = false;
  int reduction = 1;
  static constexpr MixerParameters<MeanAttention, 1> Parameters() {
    return {{{"reduction", &MeanAttention::reduction, 1, 1 << 16, true}}};
  }
};

// A map makes keys and values from `reduction` neighbours (mixers/reduction.h).
struct ReducedAttention {
  static constexpr absl::string_view kName = "reduction";
  static constexpr bool kIsPattern = false;
  int reduction = 1;
  static constexpr MixerParameters<ReducedAttention, 1> Parameters() {
    return {{{"reduction", &ReducedAttention::reduction, 1, 256, true}}};
  }
};

// q (softmax(k)^T v) (mixers/factorized.h).
struct FactorizedAttention {
  static constexpr absl::string_view kName = "factorized";
  static constexpr bool kIsPattern = false;
  static constexpr MixerParameters<FactorizedAttention, 0> Parameters() { return {}; }
};

// Keys and values come from places that the queries choose (mixers/deformable.h).
struct DeformableAttention {
  static constexpr absl::string_view kName = "deformable";
  static constexpr bool kIsPattern = false;
  int reduction = 1;  // positions that one key stands for
  int kernel = 5;     // positions that decide where a key is taken from
  static constexpr MixerParameters<DeformableAttention, 2> Parameters() {
    return {{{"reduction", &DeformableAttention::reduction, 1, 1 << 16, true},
             {"kernel", &DeformableAttention::kernel, 1, 63}}};
  }
};

// The mean of `width` neighbours, no attention (mixers/pool.h).
struct MeanPooling {
  static constexpr absl::string_view kName = "pool";
  static constexpr bool kIsPattern = false;
  int width = 3;
  static constexpr MixerParameters<MeanPooling, 1> Parameters() {
    return {{{"width", &MeanPooling::width, 1}}};
  }
};

// A feed-forward map across positions, no attention (mixers/token_mlp.h).
struct TokenMlp {
  static constexpr absl::string_view kName = "mlp";
  static constexpr bool kIsPattern = false;
  int positions = 1;  // no sentence may be longer
  int hidden = 0;     // size of the hidden layer; 0: `positions`
  int hidden_size() const { return hidden > 0 ? hidden : positions; }
  static constexpr MixerParameters<TokenMlp, 2> Parameters() {
    return {
        {{"positions", &TokenMlp::positions, 1, 1 << 16, true}, {"hidden", &TokenMlp::hidden, 0}}};
  }
};

// A value; full attention unless something else is assigned. Score, mechanism and `dense` are
// independent of each other as far as Validate accepts them.
struct MixerSpec {
  using Mechanism =
      std::variant<FullAttention, CausalAttention, WindowAttention, PredictedWindow, ShiftedWindows,
                   BlockGrid, BigBird, LshAttention, MeanAttention, ReducedAttention,
                   FactorizedAttention, DeformableAttention, MeanPooling, TokenMlp>;

  Mechanism mechanism;
  Score score = Score::kScaledDot;
  // A pattern is computed as its definition says, the whole matrix of scores (mixers/dense.h),
  // instead of in tiles of keys with a running maximum and sum (Dao et al. 2022).
  bool dense = false;
  // The layer has an odd number: patterns that alternate have their other form.
  bool odd_layer = false;

  // The text that models/assembly/mixer_text.h reads; parameters that have their defaults are left
  // out. Files and messages name mechanisms by it.
  std::string ToText() const;
  // InvalidArgument: a parameter is out of range, or parts do not go together.
  absl::Status Validate() const;

  // The mechanism's parameters; null if it is another one.
  template <typename M>
  const M* As() const {
    return std::get_if<M>(&mechanism);
  }
  template <typename M>
  bool Is() const {
    return std::holds_alternative<M>(mechanism);
  }
  bool is_pattern() const {
    return std::visit([](const auto& m) { return std::decay_t<decltype(m)>::kIsPattern; },
                      mechanism);
  }
  bool is_dense() const { return dense || Is<PredictedWindow>(); }
  bool is_full() const { return Is<FullAttention>() && score == Score::kScaledDot && !dense; }
  // Returns false if queries, keys and values play no part.
  bool is_attention() const { return !Is<MeanPooling>() && !Is<TokenMlp>(); }
  // Keys and values that a layer's maps make for a sentence of `count` positions.
  int keys(int count) const;
  // Returns true if each key is that of a position: there is place for a distance bias.
  bool keeps_positions() const { return is_pattern() || Is<LshAttention>(); }
  // Returns true if it says how a query weighs positions.
  bool has_matrix() const { return keeps_positions() || Is<MeanAttention>(); }
  // See FullAttention::tile.
  int tile() const {
    const auto* const full = As<FullAttention>();
    return full == nullptr ? FullAttention::kMostTile : full->tile;
  }
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_ATTENTION_MIXER_SPEC_H_
