// Reads the specification of a mixer from its text, in the form of the option --encoder_attention.
#ifndef NIBU_TESTS_ENGINE_ATTENTION_SPEC_H_
#define NIBU_TESTS_ENGINE_ATTENTION_SPEC_H_

#include <string>

#include "engine/attention/mixer_spec.h"
#include "gtest/gtest.h"
#include "models/assembly/mixer_text.h"

namespace nibu::internal {

inline MixerSpec Spec(const std::string& text, int layer = 0) {
  auto spec = ParseMixer(text, "encoder_attention");
  EXPECT_TRUE(spec.ok()) << spec.status();
  spec->layer = layer;
  return *spec;
}

}  // namespace nibu::internal

#endif  // NIBU_TESTS_ENGINE_ATTENTION_SPEC_H_
