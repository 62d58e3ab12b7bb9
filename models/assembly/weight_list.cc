#include "models/assembly/weight_list.h"

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

}  // namespace nibu
