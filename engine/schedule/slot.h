#ifndef NIBU_ENGINE_SCHEDULE_SLOT_H_
#define NIBU_ENGINE_SCHEDULE_SLOT_H_

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "engine/core/candidate.h"
#include "engine/model/kv_cache.h"
#include "engine/model/output_layer.h"
#include "engine/ops/top_k.h"
#include "engine/schedule/drafter.h"
#include "engine/schedule/job_queue.h"
#include "engine/search/beam_search.h"

namespace nibu::internal {

// A sentence that a worker decodes: what it asks of each step, and what it makes of the answers.
// Used again, from one sentence to the next; not thread-safe.
struct Slot {
  // Of so many models.
  explicit Slot(size_t models) : states(models), starts(models - 1) {}

  // All that decoding begins with, but for the states. `has_draft`: there is a draft model.
  void Begin(std::shared_ptr<Job> begun, bool has_draft, int vocab_target);
  // Hands all memory back that others can use.
  void Release();

  // What is asked about tokens[i], which is in this row of the step; `rules` outlive the query.
  OutputLayer::Query Ask(size_t i, int row, RowRules* rules);
  // Takes what the rows that asked say is next: the candidates of as many hypotheses, or tokens.
  void Advance(absl::Span<TopK> tops);

  // Appends guesses to the tokens.
  void Guess(Drafter* drafter);

  // The tokens are of one hypothesis.
  bool is_consecutive() const { return job->rows == 1 || is_first(); }
  bool is_first() const { return search.length() == static_cast<int>(job->search.forced()); }
  size_t asked() const { return tokens.size() - forced; }

  std::shared_ptr<Job> job;  // null: it has ended
  std::chrono::steady_clock::time_point start;
  std::vector<DecoderState> states;  // of each model
  BeamSearch search;
  OutputSubset output;  // with a shortlist
  bool is_drafted = false;
  Drafter::Sentence draft;
  // What the next step reads: first decoder_start, then the newest token of each live hypothesis;
  // of a beam of 1 perhaps with guesses of those behind it.
  std::vector<int> tokens;
  size_t forced = 0;                     // tokens at the front that nothing is asked about
  std::vector<std::vector<int>> starts;  // of the models behind the first, in the first step
  std::vector<float> attention;          // if asked for: [row][source]

 private:
  // What is suppressed where so many tokens have been generated.
  absl::Span<const int> Suppressed(size_t generated) const;
  const RowRules* FindRules(size_t i, RowRules* rules);
  // Tells on_step of a prefix, and of the newest tokens.
  void TellPrefix();
  void TellNewest();
  void Tell(const Step& step);
  void Told(size_t positions);
  void TakeScores(absl::Span<const TopK> tops);
  // Keeps the tokens that were guessed right, and the one that follows them.
  void Verify();

  std::vector<int> parents_;  // which hypothesis of the last step each token continues
  // Scratch.
  std::vector<int> history_;
  std::vector<absl::Span<const Candidate>> candidates_;
  std::vector<std::vector<Candidate>> widened_;
  std::vector<BeamSearch::NewToken> newest_;
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_SCHEDULE_SLOT_H_
