// A model as the workers of a translator use it.
#ifndef NIBU_ENGINE_MODEL_PREPARED_MODEL_H_
#define NIBU_ENGINE_MODEL_PREPARED_MODEL_H_

#include <algorithm>
#include <memory>
#include <utility>

#include "engine/model/layers.h"
#include "engine/model/weights.h"

namespace nibu::internal {

// A model with what workers share beside its weights. Immutable.
struct PreparedModel {
  // Prepares a model for sources of `max_source` tokens and `max_target` positions of the decoder,
  // or as many as the model has. `part`: its weight in an ensemble.
  PreparedModel(std::shared_ptr<const Model> of, int max_source, int max_target, float part = 1)
      : model(std::move(of)),
        ensemble_weight(part),
        source_positions(std::min(max_source, model->config.max_positions)),
        target_positions(std::min(max_target, model->config.max_positions)),
        source(model->config, model->weights.source, source_positions),
        target(model->config, model->weights.target, target_positions) {}

  std::shared_ptr<const Model> model;
  float ensemble_weight;
  int source_positions;
  int target_positions;
  Embedder source;
  Embedder target;
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_MODEL_PREPARED_MODEL_H_
