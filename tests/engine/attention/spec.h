// Mixers as tests name them.
#ifndef NIBU_TESTS_ENGINE_ATTENTION_SPEC_H_
#define NIBU_TESTS_ENGINE_ATTENTION_SPEC_H_

#include <string>

#include "engine/attention/mixer.h"
#include "gtest/gtest.h"

namespace nibu {

inline MixerSpec Spec(const std::string& text, bool odd_layer = false) {
  auto spec = MixerSpec::Parse(text);
  EXPECT_TRUE(spec.ok()) << spec.status();
  spec->odd_layer = odd_layer;
  return *spec;
}

}  // namespace nibu

#endif  // NIBU_TESTS_ENGINE_ATTENTION_SPEC_H_
