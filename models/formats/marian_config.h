// Reads Marian's model.yml, the text in the tensor "special:model.yml" of .npz and .bin files, and
// names Marian's tensors. Matrices are [in, out], and layers are counted from 1.
#ifndef NIBU_MODELS_FORMATS_MARIAN_CONFIG_H_
#define NIBU_MODELS_FORMATS_MARIAN_CONFIG_H_

#include <vector>

#include "absl/status/statusor.h"
#include "models/assembly/name_table.h"
#include "models/containers/tensor_source.h"
#include "models/files/json.h"

namespace nibu::internal {

// The configuration in model.yml.
struct MarianConfig {
  ModelConfig model;         // token ids come from the vocabulary
  bool tied_all = false;     // source, target and output layer share one table
  bool tied_source = false;  // source and target share one table
  bool tied_output = false;  // target and output layer share one table
  bool output_bias = true;
  std::vector<int> tied_layers;  // for decoder layer i, the layer whose weights it has; or empty
};

// InvalidArgument naming the key: its value is wrong. Unimplemented naming the key: nibu does not
// support it (factored vocabularies, average attention, right-to-left models, ...).
absl::StatusOr<MarianConfig> ReadMarianConfig(const ConfigFile& yml);

// Returns Marian's names of a model's tensors; if there are two spellings
// (decoder_ff_logit_out_W and _Wt), the one that `source` has.
NameTable MarianNames(const MarianConfig& config, const TensorSource& source);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_FORMATS_MARIAN_CONFIG_H_
