// The specification of how the self-attention of an encoder layer, or the cross-attention of a
// decoder layer, mixes positions: full attention as a rule, or one of the mechanisms of mixers/. It
// says what is wanted and computes nothing.
//
// Letters: N positions, S positions of the source, H heads, d = size of a head, I = H d,
// D = d_model.
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

// a / b, rounded up: keys made of `b` neighbours, windows of `b` positions.
inline int CeilOf(int a, int b) { return (a + b - 1) / b; }

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

// A window around the place that corresponds to the query's own, local-m (Luong et al. 2015):
// the keys at most `width` away from p = min(t ratio / 100, S - 1), t being the query's position.
struct MonotonicWindow {
  static constexpr absl::string_view kName = "local_m";
  static constexpr bool kIsPattern = true;
  int width = 0;
  int ratio = 100;  // source positions for each 100 positions of the target
  static constexpr MixerParameters<MonotonicWindow, 2> Parameters() {
    return {{{"width", &MonotonicWindow::width, 0, 1 << 16, true},
             {"ratio", &MonotonicWindow::ratio, 1, 10000}}};
  }
};

// A window around a place that the query predicts (mixers/local.h).
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
  int bias = 0;  // 1: scores have a bias by the distance within a window (MixerWeights)
  static constexpr MixerParameters<ShiftedWindows, 2> Parameters() {
    return {{{"width", &ShiftedWindows::width, 2, 1 << 16, true},
             {"bias", &ShiftedWindows::bias, 0, 1}}};
  }
};

struct BlockGrid {
  static constexpr absl::string_view kName = "block_grid";
  static constexpr bool kIsPattern = true;
  int width = 2;
  int bias = 0;  // as that of ShiftedWindows
  // 0: even layers have windows, odd layers the grid. 1: every layer has both, windows and
  // feed-forward, then grid and feed-forward, each with weights of its own.
  int both = 0;
  static constexpr MixerParameters<BlockGrid, 3> Parameters() {
    return {{{"width", &BlockGrid::width, 2, 1 << 16, true},
             {"bias", &BlockGrid::bias, 0, 1},
             {"both", &BlockGrid::both, 0, 1}}};
  }
};

struct BigBird {
  static constexpr absl::string_view kName = "bigbird";
  static constexpr bool kIsPattern = true;
  int window = 64;
  int global = 8;  // first positions that see all and are seen by all
  int random = 2;  // blocks of keys that a block of queries sees beside them
  int block = 64;  // positions of such a block
  int seed = 1;    // for the choice of these blocks
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
  int kernel = 0;  // positions of the convolution that is added; 0: none is
  static constexpr MixerParameters<FactorizedAttention, 1> Parameters() {
    return {{{"kernel", &FactorizedAttention::kernel, 0, 63}}};
  }
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
  using Mechanism = std::variant<FullAttention, CausalAttention, WindowAttention, MonotonicWindow,
                                 PredictedWindow, ShiftedWindows, BlockGrid, BigBird, LshAttention,
                                 MeanAttention, ReducedAttention, FactorizedAttention,
                                 DeformableAttention, MeanPooling, TokenMlp>;

  Mechanism mechanism;
  Score score = Score::kScaledDot;
  // A pattern is computed as its definition says, the whole matrix of scores (mixers/dense.h),
  // instead of in tiles of keys with a running maximum and sum (Dao et al. 2022).
  bool dense = false;
  // The layer's number. Patterns that alternate have their other form in odd layers, and what is
  // random differs from layer to layer.
  int layer = 0;

  // The text that models/assembly/mixer_text.h reads; parameters that have their defaults are left
  // out. Files and messages name mechanisms by it.
  std::string ToText() const;
  // InvalidArgument: a parameter is out of range, or parts do not go together. `option` is the name
  // by which the caller gave the mechanism, and begins the message.
  absl::Status Validate(absl::string_view option) const;

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
  bool is_full() const { return Is<FullAttention>() && score == Score::kScaledDot && !dense; }
  // Returns false if queries, keys and values play no part.
  bool is_attention() const { return !Is<MeanPooling>() && !Is<TokenMlp>(); }
  // Returns true if it is defined between a decoder's queries and a source.
  bool fits_cross_attention() const {
    return Is<FullAttention>() || Is<MonotonicWindow>() || Is<PredictedWindow>() ||
           Is<MeanAttention>() || Is<ReducedAttention>();
  }
  bool is_odd_layer() const { return layer % 2 != 0; }
  // Neighbouring positions that become one key; 1: each has its own.
  int reduction() const;
  // Keys and values that a layer's maps make for a sentence of `count` positions, and those that
  // cross-attention stores: means are taken in between.
  int mapped_keys(int count) const;
  int stored_keys(int count) const { return CeilOf(count, reduction()); }
  // Returns true if each key is that of a position: there is place for a distance bias.
  bool keeps_positions() const { return is_pattern() || Is<LshAttention>(); }
  // Width of the windows whose scores have a bias by distance (mixers/pattern.h); 0: they have
  // none.
  int biased_width() const;
  // Returns true for a layer of two attentions (BlockGrid::both).
  bool has_two_parts() const;
  // Returns the first part of such a layer, the windows, or its second one, the grid. Other layers
  // are returned as they are.
  MixerSpec Part(int part) const;
  // See FullAttention::tile.
  int tile() const {
    const auto* const full = As<FullAttention>();
    return full == nullptr ? FullAttention::kMostTile : full->tile;
  }
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_ATTENTION_MIXER_SPEC_H_
