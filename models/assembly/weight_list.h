// What weights a model consists of.
#ifndef NIBU_MODELS_ASSEMBLY_WEIGHT_LIST_H_
#define NIBU_MODELS_ASSEMBLY_WEIGHT_LIST_H_

#include <string>
#include <vector>

#include "engine/model/config.h"

namespace nibu {

struct ListedWeight {
  enum class Kind { kTable, kNorm, kLinear };
  std::string name;  // of ForEachWeight
  Kind kind;
  int rows;  // of a linear its outputs, of a norm its size
  int columns;
};

// In the order of ForEachWeight. REQUIRES: config.Validate() is OK.
std::vector<ListedWeight> ListWeights(const ModelConfig& config);

}  // namespace nibu

#endif  // NIBU_MODELS_ASSEMBLY_WEIGHT_LIST_H_
