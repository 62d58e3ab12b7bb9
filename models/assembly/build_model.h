// Assembles a model from a configuration, a source of tensors and a format's table of names. Every
// format goes through here: a new one brings a container reader and a NameTable, nothing else.
#ifndef NIBU_MODELS_ASSEMBLY_BUILD_MODEL_H_
#define NIBU_MODELS_ASSEMBLY_BUILD_MODEL_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/model/config.h"
#include "engine/model/weights.h"
#include "models/containers/tensor_source.h"

namespace nibu {

// The tensors of one map y = x W + b: one matrix, or several of equal size that nibu puts side by
// side (q, k, v). `biases` has as many names (an empty one: a bias of zeros), or none.
struct MapNames {
  std::vector<std::string> weights;
  std::vector<std::string> biases;
};

// Empty names: no such tensor (no norm here, or a norm without beta).
struct NormNames {
  std::string gamma;
  std::string beta;
};

struct LayerNames {
  MapNames self_qkv;
  MapNames self_out;
  NormNames self_norm;
  // In place of the three above where config.decoder_memory says so: gate and value.
  MapNames ssru;
  NormNames ssru_norm;
  // Decoder only.
  MapNames cross_q;
  MapNames cross_kv;
  MapNames cross_out;
  NormNames cross_norm;

  MapNames ffn_up;
  MapNames ffn_gate;  // config.gated_ffn
  MapNames ffn_down;
  NormNames ffn_norm;
};

struct StackNames {
  std::string tokens;  // [V, D]; both stacks may name one table
  // Learned [P, D]; both stacks may name one table. Relative: biases [buckets, H].
  std::string positions;
  NormNames embedding_norm;
  NormNames final_norm;
  std::function<LayerNames(int layer)> layer;  // layers count from 0
};

// What a format calls the weights. Where config says that a part is not there (embedding_norm,
// final_norm, ffn_gate, learned or relative positions), its name is not looked at.
struct NameTable {
  bool out_in = true;  // maps are stored as [out, in]
  StackNames encoder;
  StackNames decoder;
  std::string output;  // may be an embedding table's name
  bool output_out_in = true;
  std::string output_bias;  // empty: none

  // (copy, original): where `copy` is there, it must hold the same values as `original`.
  std::vector<std::pair<std::string, std::string>> copies;
  std::vector<std::string> ignored;  // of no use where they are there
};

// Of what no part of the model is made: copies must equal their originals, and nothing may be left
// but what `names` ignores. InvalidArgument naming the tensors.
absl::Status CheckLeftovers(const NameTable& names, TensorSource* source);

// The model, and a check that every tensor of the source was of use. InvalidArgument or NotFound
// naming tensor and file: missing, misshapen, wrongly typed, unused, not finite.
absl::StatusOr<std::shared_ptr<const Model>> BuildModel(const ModelConfig& config,
                                                        const NameTable& names,
                                                        ComputeType compute_type,
                                                        TensorSource* source);

}  // namespace nibu

#endif  // NIBU_MODELS_ASSEMBLY_BUILD_MODEL_H_
