// The contents of a nibu::Model.
#ifndef NIBU_TOOLS_TEXT_MODEL_PARTS_H_
#define NIBU_TOOLS_TEXT_MODEL_PARTS_H_

#include <vector>

#include "tools/text/text_coder.h"
#include "tools/text/text_model.h"

namespace nibu::internal {

struct ModelParts {
  TextModel model;  // Only the coder has the vocabulary's tokens and the SentencePiece models.
  TextCoder coder;
  std::vector<float> ensemble_weights;  // see TranslatorOptions
};

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_MODEL_PARTS_H_
