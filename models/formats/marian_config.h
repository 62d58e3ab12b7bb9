// What Marian's model.yml says: the text in the tensor "special:model.yml" of .npz and .bin files.
// The tensors' names are Marian's; W is [in, out], layers count from 1.
#ifndef NIBU_MODELS_FORMATS_MARIAN_CONFIG_H_
#define NIBU_MODELS_FORMATS_MARIAN_CONFIG_H_

#include <vector>

#include "absl/status/statusor.h"
#include "models/assembly/name_table.h"
#include "models/containers/tensor_source.h"
#include "models/files/json.h"

namespace nibu::internal {

struct MarianConfig {
  ModelConfig model;  // token ids come from the vocabulary
  // Which embeddings are one: all three; source and target; target and output.
  bool tied_all = false;
  bool tied_source = false;
  bool tied_output = false;
  bool output_bias = true;
  std::vector<int> tied_layers;  // number of the layer whose weights decoder layer i has; or empty
};

// InvalidArgument or Unimplemented naming the key: other architectures than the Transformer,
// factored vocabularies, average attention, right to left models, ...
absl::StatusOr<MarianConfig> ReadMarianConfig(const ConfigFile& yml);

// `source` decides where there are two spellings (decoder_ff_logit_out_W and _Wt).
NameTable MarianNames(const MarianConfig& config, const TensorSource& source);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_FORMATS_MARIAN_CONFIG_H_
