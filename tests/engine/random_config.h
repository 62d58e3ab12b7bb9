// Random shapes of models, and sources for them, for the tests of the engine.
#ifndef NIBU_TESTS_ENGINE_RANDOM_CONFIG_H_
#define NIBU_TESTS_ENGINE_RANDOM_CONFIG_H_

#include <vector>

#include "engine/model/config.h"
#include "tests/engine/testing.h"

namespace nibu::internal {

// Returns a random small shape, with odd sizes and any of the options of a model.
ModelConfig RandomConfig(Random* random);

// Returns `count` sources of 1 to `longest` random tokens.
std::vector<std::vector<int>> RandomSources(Random* random, const ModelConfig& config, int count,
                                            int longest = 20);

}  // namespace nibu::internal

#endif  // NIBU_TESTS_ENGINE_RANDOM_CONFIG_H_
