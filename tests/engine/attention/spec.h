// Mixers as tests name them.
#ifndef NIBU_TESTS_ENGINE_ATTENTION_SPEC_H_
#define NIBU_TESTS_ENGINE_ATTENTION_SPEC_H_

#include <string>

#include "engine/attention/mixer_spec.h"
#include "gtest/gtest.h"
#include "models/assembly/mixer_text.h"

namespace nibu::internal {

inline MixerSpec Spec(const std::string& text, bool odd_layer = false) {
  auto spec = ParseMixer(text);
  EXPECT_TRUE(spec.ok()) << spec.status();
  spec->odd_layer = odd_layer;
  return *spec;
}

}  // namespace nibu::internal

#endif  // NIBU_TESTS_ENGINE_ATTENTION_SPEC_H_
