// Random numbers for the tests of the engine, and running a test on every instruction set.
#ifndef NIBU_TESTS_ENGINE_TESTING_H_
#define NIBU_TESTS_ENGINE_TESTING_H_

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <vector>

#include "engine/core/aligned_buffer.h"
#include "engine/core/tensor.h"
#include "gtest/gtest.h"
#include "hwy/targets.h"

namespace nibu::internal {

class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}

  int Int(int low, int high) {  // both ends included
    return low + static_cast<int>(engine_() % static_cast<uint32_t>(high - low + 1));
  }
  float Float(float limit = 1.0f) {  // [-limit, limit], a multiple of 2^-16 times limit
    return limit * static_cast<float>(Int(-65536, 65536)) / 65536.0f;
  }
  bool Chance() { return Int(0, 1) == 1; }
  std::vector<float> Floats(size_t n, float limit = 1.0f) {
    std::vector<float> values(n);
    for (float& value : values) value = Float(limit);
    return values;
  }
  std::mt19937& engine() { return engine_; }

 private:
  std::mt19937 engine_;
};

// Returns 1 if all cases of a long test are to be tried, or n if one in n is. The variable
// NIBU_FEWER of the environment sets n in runs where a case takes long (with a sanitizer), or where
// other runs try all cases (on another instruction set).
inline int OneIn() {
  const char* fewer = std::getenv("NIBU_FEWER");
  return fewer == nullptr ? 1 : std::max(1, std::atoi(fewer));
}
inline int Rounds(int all) { return std::max(1, all / OneIn()); }

inline TensorView View(const std::vector<float>& values, Shape shape) {
  return {DType::kFloat32, std::move(shape), values.data()};
}

// Runs f once for each instruction set that Highway's kernels were compiled for and that this
// machine has.
template <typename F>
void ForEachHighwayTarget(F f) {
  const int64_t supported = hwy::SupportedTargets() | HWY_EMU128;
  int runs = 0;
  for (int64_t target : {HWY_EMU128, HWY_AVX2, HWY_AVX3}) {
    if ((supported & target) == 0) continue;
    hwy::SetSupportedTargetsForTest(target);
    SCOPED_TRACE(hwy::TargetName(target));
    f();
    ++runs;
  }
  hwy::SetSupportedTargetsForTest(0);
  EXPECT_GE(runs, 1);
}

}  // namespace nibu::internal

#endif  // NIBU_TESTS_ENGINE_TESTING_H_
