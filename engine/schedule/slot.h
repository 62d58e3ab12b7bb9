// A sentence that a worker decodes: it joins the sentence's search with the decoder. Each step:
//
//  1. Guess (beam of 1, with a draft model): appends up to Drafter::kMostGuesses guesses to
//     tokens_.
//  2. Ask: tokens_ are the sentence's rows in the step. Logits are needed for the last asked() of
//     them. For each, Ask finds the edits of the search's rules and starts a SearchRow, which will
//     receive the logits.
//  3. Input: gives the decoder tokens_ and the state with the keys and values of the sentence.
//  4. Advance, with the logits in the SearchRows, does one of three things:
//      * A sentence with a target is scored: it reads off the target's log-probabilities and is
//        done after this one step.
//      * A drafted sentence keeps the guesses that the model would have chosen itself, and the
//        token that the model chooses behind them (Verify); the cache drops the other positions.
//      * Otherwise the search advances, and the cache follows its order of hypotheses.
//
// The rows of a step, tokens_, with `|` in front of those that need logits:
//
//   first step               s_1 .. s_n p_1 .. p_k-1 | p_k    s: decoder start, p: forced prefix
//   first step, no prefix    s_1 .. s_n-1 | s_n
//   first step, a target     s_1 .. s_n-1 | s_n t_1 .. t_L-1  t: the target's L tokens
//   later steps              | h_1 .. h_B                     h: each live hypothesis' newest token
//
// With a beam of 1, guesses g_1 .. g_G may follow the last row. The rows of a first step, and those
// of a beam of 1, are consecutive tokens of one hypothesis.
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

// Reused from one sentence to the next, so that its memory stays. Not thread-safe.
//
//   slot.Begin(job, ...); slot.StartState(m, ...) for each model
//   while (!slot.done()) {
//     if (slot.is_drafted()) slot.Guess(...), where guesses are wanted
//     slot.Ask(...); the decoder runs slot.Input(m, ...) for each model; slot.Advance(rows);
//   }
//   slot.Finish(); slot.Release(); slot.TakeJob();
class Slot {
 public:
  // `models`: how many models decode the sentence together (an ensemble, or one).
  explicit Slot(size_t models) : states_(models), starts_(models - 1) {}

  // Takes the job and starts a pass over its sentence. `drafter`: null for none. `vocab_target`:
  // the number of tokens that all models have.
  void Begin(std::shared_ptr<Job> job, const Drafter* drafter, int vocab_target);
  // Makes room for the keys and values of model m.
  void StartState(size_t m, const ModelConfig& config, PagePool* pool);
  // Hands back all memory that other sentences can use.
  void Release();
  // Returns the job; the slot is then free for another.
  std::shared_ptr<Job> TakeJob() { return std::move(job_); }

  bool is_free() const { return job_ == nullptr; }
  const Job& job() const { return *job_; }
  Job* mutable_job() { return job_.get(); }
  std::chrono::steady_clock::time_point start() const { return start_; }
  DecoderState* state(size_t m) { return &states_[m]; }
  // The output layer of the sentence's shortlist. Null: the sentence has no shortlist.
  OutputSubset* output() { return output_.tokens.empty() ? nullptr : &output_; }
  // Returns whether a draft model may guess tokens of this sentence.
  bool is_drafted() const { return is_drafted_; }

  // Appends a draft model's guesses to the tokens of the next step. REQUIRES: is_drafted().
  void Guess(Drafter* drafter);

  // The number of rows of the next step, and of those at their end that need logits.
  size_t rows() const { return tokens_.size(); }
  size_t asked() const { return tokens_.size() - forced_; }
  // Returns the next step's input of model m, which has this configuration. It points into the
  // slot.
  Decoder::Input Input(size_t m, const ModelConfig& config);
  // Starts `rows` and appends a query for each. `first_row`: the number of this sentence's first
  // row in the step, among the rows of all sentences. The queries point to `rows`. REQUIRES:
  // asked() rows.
  void Ask(size_t first_row, absl::Span<SearchRow> rows, std::vector<OutputLayer::Query>* queries);
  // Takes the logits that `rows` have received and prepares the next step. REQUIRES: asked() > 0;
  // asked() rows.
  void Advance(absl::Span<SearchRow> rows);

  bool done() const { return search_.done(); }
  // Returns the hypotheses of this pass, best first. REQUIRES: done().
  std::vector<Hypothesis> Finish() const;

 private:
  const SearchTask& task() const { return job_->passes.task(); }
  // Returns whether the tokens follow each other in one hypothesis. Otherwise each is the newest
  // token of a hypothesis of its own.
  bool is_consecutive() const;
  // Returns the tokens up to row i, itself included, that the search has not got yet: guesses, or
  // tokens of a target.
  absl::Span<const int> Ahead(size_t i) const;
  // Makes the target, with the scores that its rows have got, the result of the search.
  void TakeScores(absl::Span<const SearchRow> rows);
  // Keeps the guesses that are right, and the token that follows them.
  void Verify();

  std::shared_ptr<Job> job_;  // null: the slot is free
  std::chrono::steady_clock::time_point start_;
  std::vector<DecoderState> states_;  // of each model
  BeamSearch search_;
  OutputSubset output_;
  bool is_drafted_ = false;
  Drafter::Sentence draft_;
  std::vector<int> tokens_;               // the rows of the next step: see above
  size_t forced_ = 0;                     // the number of them, in front, that need no logits
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
