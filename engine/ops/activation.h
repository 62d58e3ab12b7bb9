// The activation functions of feed-forward layers.
#ifndef NIBU_ENGINE_OPS_ACTIVATION_H_
#define NIBU_ENGINE_OPS_ACTIVATION_H_

#include <cstdint>

namespace nibu::internal {

enum class Activation : uint8_t {
  kNone,
  kRelu,
  kGelu,         // x Phi(x), by erf
  kGeluTanh,     // the tanh approximation ("gelu_new")
  kGeluSigmoid,  // x sigmoid(1.702 x)
  kSwish,        // x sigmoid(x) ("silu")
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_OPS_ACTIVATION_H_
