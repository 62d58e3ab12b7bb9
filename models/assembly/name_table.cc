#include "models/assembly/name_table.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "engine/model/weights.h"

namespace nibu {
namespace {

using Kind = ListedWeight::Kind;

struct Lister {
  std::vector<ListedWeight> list;

  template <typename Weight>
  void operator()(const std::string& name, const Weight&, LinearShape shape) {
    list.push_back({name, Kind::kLinear, shape.out, shape.in});
  }
  template <typename Weight>
  void operator()(const std::string& name, const Weight&, NormShape shape) {
    list.push_back({name, Kind::kNorm, shape.size, 1});
  }
  template <typename Weight>
  void operator()(const std::string& name, const Weight&, TableShape shape) {
    list.push_back({name, Kind::kTable, shape.rows, shape.columns});
  }
};

}  // namespace

std::vector<ListedWeight> ListWeights(const ModelConfig& config) {
  Lister lister;
  const ModelWeights weights = EmptyWeights(config);
  ForEachWeight(config, weights, lister);
  return std::move(lister.list);
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

}  // namespace nibu
