// A sentence that a worker decodes: its decoder inputs, and what becomes of the logits.
#ifndef NIBU_ENGINE_SCHEDULE_SLOT_H_
#define NIBU_ENGINE_SCHEDULE_SLOT_H_

#include <chrono>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "engine/core/candidate.h"
#include "engine/model/config.h"
#include "engine/model/decoder.h"
#include "engine/model/kv_cache.h"
#include "engine/model/output_layer.h"
#include "engine/schedule/drafter.h"
#include "engine/schedule/job.h"
#include "engine/search/beam_search.h"
#include "engine/search/logit_edits.h"
#include "engine/search/search_row.h"

namespace nibu::internal {

// Used again, from one sentence to the next. Not thread-safe.
//
//   slot.Begin(job, ...); slot.StartState(m, ...) for each model
//   while (!slot.done()) {
//     slot.Ask(...); the decoder runs slot.Input(m, ...) for each model; slot.Advance(rows);
//   }
//   slot.Finish(); slot.Release(); slot.TakeJob();
class Slot {
 public:
  // `models`: how many models decode the sentence together (an ensemble, or one).
  explicit Slot(size_t models) : states_(models), starts_(models - 1) {}

  // Starts a pass over the job's sentence. `drafter`: null for none. `vocab_target`: the tokens
  // that all models have.
  void Begin(std::shared_ptr<Job> job, const Drafter* drafter, int vocab_target);
  // Gives model m its place for keys and values.
  void StartState(size_t m, const ModelConfig& config, PagePool* pool);
  // Hands back all memory that other sentences can use.
  void Release();
  // Ends the sentence here: the slot is free.
  std::shared_ptr<Job> TakeJob() { return std::move(job_); }

  bool is_free() const { return job_ == nullptr; }
  const Job& job() const { return *job_; }
  Job* mutable_job() { return job_.get(); }
  std::chrono::steady_clock::time_point start() const { return start_; }
  DecoderState* state(size_t m) { return &states_[m]; }
  // The output layer of the sentence's shortlist. Null: it has all outputs.
  OutputSubset* output() { return output_.tokens.empty() ? nullptr : &output_; }
  bool is_drafted() const { return is_drafted_; }

  // Appends a draft model's guesses to the tokens of the next step.
  void Guess(Drafter* drafter);

  // The rows of the next step, and how many of them logits are needed for: the last ones.
  size_t rows() const { return tokens_.size(); }
  size_t asked() const { return tokens_.size() - forced_; }
  // The next step's input of model m, whose configuration this is. It points into the slot.
  Decoder::Input Input(size_t m, const ModelConfig& config);
  // Says what is needed of the logits: starts `rows`, one for each row that is asked for, and
  // appends a query for each. `first_row`: of this sentence in the step.
  void Ask(size_t first_row, absl::Span<SearchRow> rows, std::vector<OutputLayer::Query>* queries);
  // Takes the logits that have arrived.
  void Advance(absl::Span<SearchRow> rows);

  bool done() const { return search_.done(); }
  // REQUIRES: done().
  std::vector<Hypothesis> Finish() const;

 private:
  const SearchTask& task() const { return job_->passes.task(); }
  // Returns whether the tokens follow each other in one hypothesis. Otherwise each is the newest
  // token of a hypothesis of its own.
  bool is_consecutive() const;
  // The tokens of the step in front of row i that the search has not got yet.
  absl::Span<const int> Ahead(size_t i) const;
  void TakeScores(absl::Span<const SearchRow> rows);
  // Keeps the guesses that are right, and the token that follows them.
  void Verify();

  std::shared_ptr<Job> job_;
  std::chrono::steady_clock::time_point start_;
  std::vector<DecoderState> states_;  // of each model
  BeamSearch search_;
  OutputSubset output_;
  bool is_drafted_ = false;
  Drafter::Sentence draft_;
  // The rows of the next step. In the first step: the decoder's start tokens, then a forced prefix
  // or all but the last token of a target. Later: the newest token of each live hypothesis, behind
  // which, with a beam of 1, a draft model's guesses may stand.
  std::vector<int> tokens_;
  size_t forced_ = 0;                     // rows in front that no logits are needed for
  std::vector<std::vector<int>> starts_;  // tokens_ of the other models in the first step
  std::vector<float> attention_;          // [row][source], with return_attention or coverage

  std::vector<int> parents_;  // which hypothesis of the last step each token continues
  // Scratch.
  std::vector<int> history_;
  LogitEdits edits_;
  std::vector<absl::Span<const Candidate>> candidates_;
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_SCHEDULE_SLOT_H_
