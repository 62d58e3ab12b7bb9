// Lists a model's weights, and fills tables of names.
#include "models/assembly/name_table.h"

#include "absl/base/macros.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace nibu::internal {

std::vector<ListedWeight> ListWeights(const ModelConfig& config) {
  ABSL_ASSERT(config.Validate().ok());
  std::vector<ListedWeight> list;
  const ModelWeights weights = EmptyWeights(config);
  ForEachWeight(config, weights,
                [&](const std::string& name, const auto&, const WeightShape& shape) {
                  list.push_back({shape, name});
                });
  return list;
}

void NameTable::Add(absl::string_view at, absl::string_view prefix, const Spelling& spelling,
                    const Parts& parts) {
  for (const auto& [part, names] : parts) {
    TensorNames& weight = tensors[absl::StrCat(at, part)];
    bool any_bias = false;
    for (const absl::string_view name : names) {
      const std::string pattern = absl::StrCat(prefix, name);
      weight.weights.push_back(absl::StrReplaceAll(pattern, {{"?", spelling.weight}}));
      if (spelling.bias == nullptr) continue;
      const std::string bias = absl::StrReplaceAll(pattern, {{"?", spelling.bias}});
      const bool has_bias = spelling.source == nullptr || spelling.source->Has(bias);
      weight.biases.push_back(has_bias ? bias : "");
      any_bias = any_bias || has_bias;
    }
    if (!any_bias) weight.biases.clear();
  }
}

const std::string& NameTable::Tensor(absl::string_view name) const {
  static const std::string& none = *new std::string;
  const auto it = tensors.find(name);
  return it == tensors.end() ? none : it->second.weights[0];
}

}  // namespace nibu::internal
