// Random patterns for the tests of mixers, and the keys that a pattern shows to a query.
#ifndef NIBU_TESTS_ENGINE_ATTENTION_MIXERS_PATTERNS_H_
#define NIBU_TESTS_ENGINE_ATTENTION_MIXERS_PATTERNS_H_

#include <set>
#include <string>
#include <vector>

#include "engine/attention/mixers/pattern.h"
#include "gtest/gtest.h"
#include "tests/engine/attention/spec.h"
#include "tests/engine/testing.h"

namespace nibu::internal {

// Returns the keys that query i of n sees.
inline std::set<int> KeysOf(const MixerSpec& spec, int n, int i, int head = 0) {
  std::vector<KeySpan> spans;
  FindKeys(spec, n, {i, head}, &spans);
  std::set<int> keys;
  for (const KeySpan& span : spans) {
    EXPECT_GE(span.begin, 0);
    EXPECT_LE(span.end, n);
    for (int j = span.begin; j < span.end; j += span.step) keys.insert(j);
  }
  return keys;
}

// Returns one spec of each pattern with random parameters, in a random layer where it matters.
// BigBird is the last.
inline std::vector<MixerSpec> RandomPatterns(Random* random) {
  const auto number = [&](int low, int high) { return std::to_string(random->Int(low, high)); };
  const int layer = random->Int(0, 5);
  return {Spec("causal"),
          Spec("window:" + number(0, 90)),
          Spec("local_m:" + number(0, 90) + ",ratio=" + number(20, 300)),
          Spec("shifted:" + number(2, 90), layer),
          Spec("block_grid:" + number(2, 90), layer),
          Spec("bigbird:window=" + number(0, 20) + ",global=" + number(0, 9) +
                   ",random=" + number(0, 3) + ",block=" + number(1, 20) + ",seed=" + number(0, 99),
               layer)};
}

}  // namespace nibu::internal

#endif  // NIBU_TESTS_ENGINE_ATTENTION_MIXERS_PATTERNS_H_
