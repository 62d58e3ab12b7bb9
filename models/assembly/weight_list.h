// What tensors a model consists of, in a fixed order: the weights of two tables of names, listed
// for the same configuration, correspond one by one.
#ifndef NIBU_MODELS_ASSEMBLY_WEIGHT_LIST_H_
#define NIBU_MODELS_ASSEMBLY_WEIGHT_LIST_H_

#include <string>
#include <vector>

#include "engine/model/config.h"
#include "engine/model/weights.h"
#include "models/assembly/build_model.h"

namespace nibu {

struct WeightList {
  struct Table {
    std::string name;
    int rows;
    int columns;
    bool tokens;  // else positions
  };
  struct Map {
    MapNames names;
    int in;
    int out;
    bool out_in;  // how a float tensor is stored
  };
  struct Vector {
    std::string name;  // empty: zeros
    int size;
  };

  std::vector<Table> tables;  // embeddings and positions
  std::vector<Map> maps;      // the last one is the output layer
  std::vector<Vector> vectors;
};

WeightList ListWeights(const ModelConfig& config, const NameTable& names);

// The packed maps of a model, in the order of WeightList::maps; in the place of the output layer
// its blocks.
std::vector<const Linear*> ListLinears(const Model& model);

}  // namespace nibu

#endif  // NIBU_MODELS_ASSEMBLY_WEIGHT_LIST_H_
