// Attention mechanisms of layers (engine/attention/mixer_spec.h) as text: a name and its
// parameters, NAME:VALUE or NAME:KEY=VALUE,... Parameters without a default must be given; the one
// called first needs no key.
//   full:tile=256  causal  window:width  local_m:width,ratio=100  local_p:width
//   shifted:width,bias=0  block_grid:width,bias=0,both=0
//   bigbird:window=64,global=8,random=2,block=64,seed=1
//   lsh:bucket=64,rounds=4,seed=1  mean:reduction  reduction:reduction  factorized:kernel=0
//   deformable:reduction,kernel=5  pool:width=3  mlp:positions,hidden=0
// and for those up to bigbird, which are patterns: score=scaled_dot|dot|general|concat, dense=0|1.
#ifndef NIBU_MODELS_ASSEMBLY_MIXER_TEXT_H_
#define NIBU_MODELS_ASSEMBLY_MIXER_TEXT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/attention/mixer_spec.h"

namespace nibu::internal {

// The names of the options, and of the fields of configurations, that have such texts.
inline constexpr absl::string_view kEncoderAttention = "encoder_attention";
inline constexpr absl::string_view kCrossAttention = "cross_attention";

// Reads one mechanism; MixerSpec::ToText is the inverse. InvalidArgument, which begins with
// `option`, the name by which the text was given, quotes the text and says what is wrong with it.
absl::StatusOr<MixerSpec> ParseMixer(absl::string_view text, absl::string_view option);

// Reads several with ';' between them: one for all layers, or one for each. An empty text has none.
absl::StatusOr<std::vector<MixerSpec>> ParseMixers(absl::string_view text,
                                                   absl::string_view option);
std::string MixersToText(const std::vector<MixerSpec>& mixers);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_ASSEMBLY_MIXER_TEXT_H_
