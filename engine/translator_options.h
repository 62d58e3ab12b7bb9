// The options of a Translator: threads, batches, limits, and models beside its own.
#ifndef NIBU_ENGINE_TRANSLATOR_OPTIONS_H_
#define NIBU_ENGINE_TRANSLATOR_OPTIONS_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "engine/core/check_range.h"
#include "engine/model/weights.h"
#include "engine/ops/matmul.h"
#include "nibu/engine.h"

namespace nibu::internal {

class CoreBudget;

struct TranslatorOptions {
  // The number of workers, each of which has a thread of its own. Workers without sentences sleep.
  static constexpr int kMostThreads = 1024;
  int threads = 1;
  // The cores that this translator shares with others, made by the caller: a worker decodes only
  // while it holds one of them (engine/schedule/core_budget.h). Give each translator as many
  // threads as there are cores, so that one that is busy alone uses them all. Never changes a
  // result. Null: the workers decode whenever they have sentences.
  std::shared_ptr<CoreBudget> cores;
  // The sentences (or source tokens) that a worker decodes together. 0: chosen for speed. Never
  // changes a result.
  static constexpr Range<int> kBatchSizes = {0, 65536};
  int batch_size = 0;
  BatchType batch_type = BatchType::kExamples;
  // The most requests under way: submitted, and not yet delivered. 0: chosen for speed.
  size_t queue_size = 0;
  // The longest source that may be submitted, its frame not counted, and the limit of
  // DecodingOptions::max_decoding_length. Both are at most what the model's positions allow.
  int max_source_length = 1024;
  int max_decoding_length = 1024;
  // A smaller model of the same vocabularies, for speed alone: see Drafter. It reads the source
  // with the first model's frame; its decoder has a start token of its own unless DecodingOptions
  // have a frame. A worker uses it while it has a single sentence, with a beam_size of 1. Null:
  // none.
  std::shared_ptr<const Model> draft;
  // More models of the same vocabularies, with which the first one makes an ensemble. Their
  // log-probabilities are averaged with `ensemble_weights`: the first model's comes first, each is
  // above 0, and they are divided by their sum; empty: equal weights. Tokens at the end of a
  // vocabulary that not all models have (such as a model's own <pad>) are not used.
  std::vector<std::shared_ptr<const Model>> ensemble;
  static constexpr Range<double> kEnsembleWeights = {1e-6, 1e6};
  std::vector<float> ensemble_weights;

  // The kernels that multiply matrices. kOneDnn never changes a result of int8.
  MatmulKernels kernels = MatmulKernels::kAuto;
  // For benchmarks: matmul observers of the first workers. They outlive the translator.
  std::vector<MatmulObserver*> observers;

  // Checks the options. InvalidArgument: its message begins with the option's name.
  absl::Status Validate() const;
  // Checks the models. InvalidArgument: `model` or one of the models here makes no sense, or they
  // have different vocabularies, or `ensemble_weights` does not fit. REQUIRES: no model of the
  // ensemble is null.
  absl::Status ValidateFor(const Model& model) const;
};

// Returns the configuration of a translator's model with its vocabularies cut to the tokens that
// all models of the ensemble have.
ModelConfig WithCommonTokens(ModelConfig config, const TranslatorOptions& options);

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_TRANSLATOR_OPTIONS_H_
