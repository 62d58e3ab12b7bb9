// Random linear layers for the tests of matmuls, and their results in double precision.
#ifndef NIBU_TESTS_ENGINE_OPS_LINEAR_CASE_H_
#define NIBU_TESTS_ENGINE_OPS_LINEAR_CASE_H_

#include <cmath>
#include <vector>

#include "engine/ops/linear.h"
#include "tests/engine/testing.h"

namespace nibu::internal {

inline double Activate(Activation activation, double x) {
  switch (activation) {
    case Activation::kNone:
      return x;
    case Activation::kRelu:
      return x > 0 ? x : 0;
    case Activation::kGelu:
      return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
    case Activation::kGeluTanh:
      return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    case Activation::kGeluSigmoid:
      return x / (1 + std::exp(-1.702 * x));
    case Activation::kSwish:
      return x / (1 + std::exp(-x));
  }
  return 0;
}

constexpr Activation kActivations[] = {Activation::kNone,        Activation::kRelu,
                                       Activation::kGelu,        Activation::kGeluTanh,
                                       Activation::kGeluSigmoid, Activation::kSwish};

// The matrices and biases of a linear layer, which it joins side by side.
struct LinearCase {
  int in = 0;
  int out = 0;
  bool out_in = true;
  Activation activation = Activation::kNone;
  std::vector<std::vector<float>> weights;
  std::vector<std::vector<float>> biases;
  std::vector<int> outputs;

  static LinearCase Make(Random* random, int most) {
    LinearCase c;
    c.in = random->Int(1, most);
    c.out_in = random->Chance();
    c.activation = kActivations[random->Int(0, 5)];
    const bool bias = random->Chance();
    const int matrices = random->Int(1, 3);
    for (int m = 0; m < matrices; ++m) {
      c.outputs.push_back(random->Int(1, most));
      c.out += c.outputs.back();
      c.weights.push_back(
          random->Floats(static_cast<size_t>(c.in) * static_cast<size_t>(c.outputs.back())));
      if (bias) c.biases.push_back(random->Floats(static_cast<size_t>(c.outputs.back())));
    }
    return c;
  }

  void SetInputs(int inputs, Random* random) {
    in = inputs;
    for (size_t m = 0; m < weights.size(); ++m) {
      weights[m] = random->Floats(static_cast<size_t>(in) * static_cast<size_t>(outputs[m]));
    }
  }

  absl::StatusOr<Linear> Create(ComputeType type) const {
    std::vector<MatrixView> matrices;
    std::vector<TensorView> bias_views;
    for (size_t m = 0; m < weights.size(); ++m) {
      const Shape shape = out_in ? Shape{outputs[m], in} : Shape{in, outputs[m]};
      matrices.push_back({View(weights[m], shape), out_in, {}});
      if (!biases.empty()) bias_views.push_back(View(biases[m], {outputs[m]}));
    }
    return Linear::Create(matrices, bias_views, activation, type);
  }

  // Returns an output before the activation.
  double Sum(const float* x, int output) const {
    size_t m = 0;
    while (output >= outputs[m]) output -= outputs[m++];
    double sum = biases.empty() ? 0 : static_cast<double>(biases[m][static_cast<size_t>(output)]);
    for (int k = 0; k < in; ++k) {
      const int index = out_in ? output * in + k : k * outputs[m] + output;
      sum +=
          static_cast<double>(x[k]) * static_cast<double>(weights[m][static_cast<size_t>(index)]);
    }
    return sum;
  }
};

inline double Tolerance(ComputeType type, int in) {
  const double n = std::sqrt(static_cast<double>(in));
  if (type == ComputeType::kFloat32) return 1e-5 * n;
  if (type == ComputeType::kInt4) return 0.2 * n;
  return (type == ComputeType::kBFloat16 ? 0.02 : 0.03) * n;
}

}  // namespace nibu::internal

#endif  // NIBU_TESTS_ENGINE_OPS_LINEAR_CASE_H_
