#ifndef NIBU_TESTS_ENGINE_RANDOM_CONFIG_H_
#define NIBU_TESTS_ENGINE_RANDOM_CONFIG_H_

#include "engine/model/config.h"
#include "tests/engine/testing.h"

namespace nibu::internal {

// A random small shape: odd sizes, any option.
ModelConfig RandomConfig(Random* random);

}  // namespace nibu::internal

#endif  // NIBU_TESTS_ENGINE_RANDOM_CONFIG_H_
