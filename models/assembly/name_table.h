// Maps the weights of a model to the names that a format gives them. A format consists of such a
// table and of readers for its containers and its configuration.
#ifndef NIBU_MODELS_ASSEMBLY_NAME_TABLE_H_
#define NIBU_MODELS_ASSEMBLY_NAME_TABLE_H_

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "engine/model/config.h"
#include "engine/model/weights.h"
#include "models/containers/tensor_source.h"

namespace nibu::internal {

// A weight of ForEachWeight, with its name, kind and shape.
struct ListedWeight : WeightShape {
  std::string name;
};

// Returns all weights of a model in the order of ForEachWeight. REQUIRES: config.Validate() is OK.
std::vector<ListedWeight> ListWeights(const ModelConfig& config);

// The tensors that a weight is made of.
//   linear: matrices, one, or several of equal size that nibu puts side by side (q, k, v);
//           biases, as many (an empty name: zeros), or none
//   norm:   gamma; beta, or none
//   table:  one, which other tables and the output layer may name, too
struct TensorNames {
  std::vector<std::string> weights;
  std::vector<std::string> biases;
};

// The words that stand for '?' in the names of weights (gammas) and of their biases (betas).
struct Spelling {
  const char* weight;
  const char* bias = nullptr;            // null: there are none
  const TensorSource* source = nullptr;  // if given, biases that it lacks are left out
};

// The names of one model's tensors, and how they are stored.
struct NameTable {
  // By the names of ForEachWeight. Weights that the model does not have may be here, too.
  std::map<std::string, TensorNames, std::less<>> tensors;
  bool out_in = true;  // matrices are stored as [out, in]
  bool output_out_in = true;

  // Pairs of a copy and its original: if there is a tensor `copy`, it must have the same values as
  // `original`.
  std::vector<std::pair<std::string, std::string>> copies;
  std::vector<std::string> ignored;  // tensors that may be there and are of no use

  using Parts = std::vector<std::pair<absl::string_view, std::vector<absl::string_view>>>;

  // Names the weights at + part: Add("decoder.0.", "model.decoder.layers.0.", {"weight", "bias"},
  // {{"cross.k+v", {"encoder_attn.k_proj.?", "encoder_attn.v_proj.?"}}, ...}).
  void Add(absl::string_view at, absl::string_view prefix, const Spelling& spelling,
           const Parts& parts);
  void AddTable(absl::string_view name, std::string tensor) {
    tensors[std::string(name)] = {{std::move(tensor)}, {}};
  }
  // Returns the first tensor of a weight; for a table, its only one. Empty: the weight has no name.
  const std::string& Tensor(absl::string_view name) const;
};

// Calls name("encoder", 0), ... for each layer of both stacks. A configuration that is not yet
// checked may name any number of layers; those behind the first 1,000 of a stack are left out.
template <typename F>
void ForEachLayer(const ModelConfig& config, F name) {
  constexpr int kMost = 1000;
  for (int i = 0; i < std::min(config.layers_encoder, kMost); ++i) name("encoder", i);
  for (int i = 0; i < std::min(config.layers_decoder, kMost); ++i) name("decoder", i);
}

}  // namespace nibu::internal

#endif  // NIBU_MODELS_ASSEMBLY_NAME_TABLE_H_
