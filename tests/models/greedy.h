// The translation of a few ids, by which tests compare models.
#ifndef NIBU_TESTS_MODELS_GREEDY_H_
#define NIBU_TESTS_MODELS_GREEDY_H_

#include "engine/translator.h"
#include "gtest/gtest.h"
#include "models/load_model.h"

namespace nibu::internal {

// Returns the greedy translation of a few ids, with its score.
inline Hypothesis Greedy(const LoadedModel& loaded) {
  DecodingOptions options;
  options.beam_size = 1;
  options.max_decoding_length = 10;
  auto translator = Translator::Create(loaded.model, {});
  EXPECT_TRUE(translator.ok()) << translator.status();
  return (*translator)->Translate({{2, 3, 4}}, options).value()[0][0];
}

}  // namespace nibu::internal

#endif  // NIBU_TESTS_MODELS_GREEDY_H_
