// How a Translator works: threads, batches, limits, and the models beside its own.
#ifndef NIBU_ENGINE_TRANSLATOR_OPTIONS_H_
#define NIBU_ENGINE_TRANSLATOR_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "engine/model/weights.h"
#include "engine/ops/matmul.h"

namespace nibu::internal {

class CoreBudget;

enum class BatchType : uint8_t { kExamples, kTokens };

struct TranslatorOptions {
  // Workers, each a thread of its own. One without sentences sleeps.
  int threads = 1;
  // The cores that this translator shares with others, made by the caller: a worker decodes only
  // while it holds one of them (engine/schedule/core_budget.h). Give each translator as many
  // threads as there are cores, so that one that is busy alone uses them all. Never changes a
  // result. Null: the workers decode whenever they have sentences.
  std::shared_ptr<CoreBudget> cores;
  // Sentences (or source tokens) that a worker decodes together. 0: chosen for speed. Never changes
  // a result.
  int batch_size = 0;
  BatchType batch_type = BatchType::kExamples;
  // Requests under way at most: submitted, and not yet delivered. 0: chosen for speed.
  size_t queue_size = 0;
  // Longest source that will be submitted, its frame not counted, and longest max_decoding_length
  // that counts (and never more than the model's positions allow).
  int max_source_length = 1024;
  int max_decoding_length = 1024;
  // A smaller model of the same vocabularies, for speed alone: see Drafter. It takes the source's
  // frame from the model; its decoder starts in its own way unless DecodingOptions have a frame. A
  // worker uses it while it has a single sentence, with beam_size 1. Null: none.
  std::shared_ptr<const Model> draft;
  // More models of the same vocabularies, with which the first one makes an ensemble: their
  // log-probabilities are averaged with these weights (the first model's first; empty: equal ones),
  // which are above 0 and are divided by their sum. Tokens at the end of a vocabulary that not all
  // of them have (a model's own <pad>) are not used.
  std::vector<std::shared_ptr<const Model>> ensemble;
  std::vector<float> ensemble_weights;

  // Which kernels multiply matrices. kOneDnn never changes a result of int8.
  MatmulKernels kernels = MatmulKernels::kAuto;
  // For benchmarks: the matmul observers of the first workers, which outlive the translator.
  std::vector<MatmulObserver*> observers;

  // InvalidArgument whose message begins with the option's name.
  absl::Status Validate() const;
  // InvalidArgument: `model` or one of the models here makes no sense, or they have different
  // vocabularies; or `ensemble_weights` does not fit. REQUIRES: no model of the ensemble is null.
  absl::Status ValidateFor(const Model& model) const;
};

// Returns the configuration of a translator's model, its vocabularies cut to the tokens that all
// models of the ensemble have.
ModelConfig WithCommonTokens(ModelConfig config, const TranslatorOptions& options);

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_TRANSLATOR_OPTIONS_H_
