// Lists where two weights of a model meet in channels between them: units of a feed-forward layer,
// the columns of values, of keys and queries, of a norm's result.
#ifndef NIBU_MODELS_ASSEMBLY_JOINTS_H_
#define NIBU_MODELS_ASSEMBLY_JOINTS_H_

#include <compare>
#include <string>
#include <vector>

#include "engine/model/config.h"
#include "models/assembly/name_table.h"

namespace nibu::internal {

// The numbers of a tensor that belong to the channels of a joint: channel c has row first + c of a
// matrix [out, in] or of a vector, or column c of a matrix.
struct Slice {
  std::string tensor;
  int rows = 0;
  int columns = 0;  // 0: a vector
  bool out_in = true;
  bool is_columns = false;
  int first = 0;

  auto operator<=>(const Slice&) const = default;  // NOLINT(modernize-use-nullptr)
};
using Side = std::vector<Slice>;

// Channels that the weights of one side write and those of the other side read.
struct Joint {
  std::string name;  // of the layer, for messages
  int channels;
  Side from;
  Side to;
  bool is_exact;  // the model's function stays the same when both sides are scaled
};

// Returns the joints of a model's sublayers. Mechanisms other than full attention have none, and
// weights that `names` does not name are left out. REQUIRES: config.Validate() is OK.
std::vector<Joint> ListJoints(const ModelConfig& config, const NameTable& names);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_ASSEMBLY_JOINTS_H_
