// Prepares weights for int8, which gives each output of a matrix, and each row of activations, one
// scale: channels that are much smaller than others are rounded to nothing.
//
// Where two weights only meet in channels between them, the first may be multiplied by any factor
// and the second divided by it, channel by channel, without a change of the model's function
// (Nagel et al. 2019, "Data-Free Quantization Through Weight Equalization and Bias Correction").
// The factors are powers of two, so that floating-point results keep their bits, too.
#ifndef NIBU_MODELS_ASSEMBLY_EQUALIZE_H_
#define NIBU_MODELS_ASSEMBLY_EQUALIZE_H_

#include <string>

#include "engine/model/config.h"
#include "models/assembly/name_table.h"
#include "models/containers/tensor_source.h"

namespace nibu::internal {

// The name of the fact by which a .nibu file in int8 keeps the line of EqualizeForInt8.
inline constexpr char kInt8Fact[] = "int8_note";

// Replaces the tensors of layers that int8 would ruin by equalized ones, where that is exact.
// Returns a line for the user that names the layers where it is not; empty: there are none. Int8
// tensors, and those with an activation scale, stay as they are, and so do tensors that are
// misshapen, which the model's builder reports. REQUIRES: config.Validate() is OK.
std::string EqualizeForInt8(const ModelConfig& config, const NameTable& names,
                            TensorSource* source);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_ASSEMBLY_EQUALIZE_H_
