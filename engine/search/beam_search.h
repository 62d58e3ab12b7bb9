// Greedy and beam search of one sentence, as a state machine that knows neither model nor batch:
// the caller runs the decoder on the live hypotheses and hands the best continuations of each back.
//
//   BeamSearch search(task);
//   while (!search.done()) {
//     for (each live hypothesis h) candidates[h] = best search.candidates() continuations
//     search.Advance(candidates);
//   }
//   search.Finish();
//
// S is the sum of the log-probabilities of a hypothesis' generated tokens, the end token included;
// L is their number. decoding_options.h has the score that is made of them.
//
//  * A step ranks all continuations by S + log p and looks at the best 2 * beam of them. An end
//    token among the first `beam` finishes a hypothesis, and the next best continuation of the
//    second half that is no end token takes its place (unless the StopRule says otherwise). End
//    tokens beyond the first `beam` are ignored.
//  * A StopRule says when the sentence is done: see stop_rule.h. All end tokens among the first
//    `beam` of the last step are still taken.
//  * Ties: the lower beam index comes first, then the lower token.
//  * Constraints: the beam is shared out (see constraints.h). A hypothesis ends only when it has
//    met all of them, unless none has come any further for kPatience steps. Finished hypotheses are
//    ranked by the number of constraints they meet, then by S. They are not ranked by score, since
//    length normalization would prefer those that append the phrases after the sentence is
//    complete.
#ifndef NIBU_ENGINE_SEARCH_BEAM_SEARCH_H_
#define NIBU_ENGINE_SEARCH_BEAM_SEARCH_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "engine/core/candidate.h"
#include "engine/search/beam.h"
#include "engine/search/hypothesis.h"
#include "engine/search/logits_rule.h"
#include "engine/search/search_task.h"
#include "engine/search/token_tree.h"

namespace nibu::internal {

// Not thread-safe. Reusable by Reset; allocates only while its arrays grow.
class BeamSearch {
 public:
  struct Live {
    int parent;  // index of the live hypothesis of the previous step that it continues
    int token;   // its newest token
  };

  BeamSearch() = default;
  explicit BeamSearch(const SearchTask& task) { Reset(task); }

  // Starts a sentence with one live hypothesis, which has no tokens or those of the prefix.
  void Reset(const SearchTask& task);

  // How many of the best continuations of a live hypothesis are needed, `ahead` steps from now.
  int candidates(size_t ahead = 0) const;

  // `candidates[h]`: continuations of live hypothesis h, best first (ties: lower token first);
  // fewer than candidates() where the vocabulary has no more. In the step that begins several
  // branches: one for each. REQUIRES: !done(), one list for each live hypothesis.
  void Advance(absl::Span<const absl::Span<const Candidate>> candidates);

  // The newest token of each branch that got one in the last step. With a beam of 1, each
  // hypothesis is a branch.
  struct NewToken {
    size_t branch;
    Candidate token;
    bool is_last;  // the branch has ended
  };
  void NewTokens(std::vector<NewToken>* tokens) const;
  // Ends all hypotheses as they are.
  void Stop();

  // Takes the tokens of a given translation, with their scores, as the only hypothesis. It replaces
  // all steps of a search.
  void Take(absl::Span<const Candidate> tokens);

  bool done() const { return done_; }
  const SearchTask& task() const { return task_; }
  // The number of tokens of every live hypothesis, the prefix included.
  int length() const { return length_; }
  // The number of steps that may follow.
  int steps_left() const { return task_.max_length - length_; }
  // The live hypotheses, in beam order. After Reset: one, with parent 0 and token -1.
  absl::Span<const Live> live() const { return live_; }
  // Live hypothesis h for the rules, with tokens `ahead` that it has not got yet. See RowContext.
  RowContext Context(size_t h, absl::Span<const int> ahead, std::vector<int>* scratch) const;

  // The row of attention that belongs to the next step's first live hypothesis.
  int attention_row() const { return attention_row_; }

  // The best num_hypotheses (or as many as there are), best score first; alternatives in their
  // order. `attention`: rows of `positions` numbers each; null: none. REQUIRES: done().
  std::vector<Hypothesis> Finish(const float* attention = nullptr, size_t positions = 0) const;

 private:
  // A continuation of an open hypothesis.
  struct Ranked {
    int parent;  // the hypothesis' index in its beam
    int token;
    float log_prob;
    float score;  // S with the token
    Met met = 0;
    Met met_before = 0;

    static bool IsBetter(const Ranked& a, const Ranked& b) {
      if (a.score != b.score) return a.score > b.score;
      if (a.parent != b.parent) return a.parent < b.parent;
      return a.token < b.token;
    }
  };
  static constexpr int kPatience = 32;

  // Where a live hypothesis is.
  struct Place {
    size_t branch;
    size_t open;
  };

  const DecodingOptions& options() const { return task_.options(); }
  Place Locate(size_t h) const;
  Beam& AddBranch();
  int AddNode(int parent, const Candidate& candidate, size_t row) {
    return tree_.Add(
        {parent, candidate.token, candidate.log_prob, attention_row_ + static_cast<int>(row)});
  }
  void BranchOut(absl::Span<const Candidate> candidates);
  void Rank(const Beam& branch, absl::Span<const absl::Span<const Candidate>> candidates);
  // The constraints that a hypothesis meets with one token more, and without it. `tokens`: with it.
  std::pair<Met, Met> Meet(const OpenHypothesis& parent, absl::Span<const int> tokens) const;
  void ShareOut(const Beam& branch);
  // Continues an open hypothesis. `first`: the row of the branch's first one.
  OpenHypothesis Continue(const Beam& branch, const Ranked& with, size_t first);
  void AdvanceBranch(Beam* branch, absl::Span<const absl::Span<const Candidate>> candidates,
                     size_t first);
  Hypothesis Make(const FinishedHypothesis& finished, const float* attention,
                  size_t positions) const;

  SearchTask task_;
  bool done_ = false;
  bool expanding_ = false;  // the next step begins the branches
  int length_ = 0;
  int attention_row_ = 0;
  size_t furthest_ = 0;  // the highest bank of constraints that a hypothesis has reached
  int got_there_ = 0;    // the length at which it did
  TokenTree tree_;
  std::vector<Beam> branches_;
  size_t count_ = 0;  // how many of branches_ are in use
  std::vector<Live> live_;
  // Scratch of Advance.
  std::vector<Ranked> ranked_;
  std::vector<OpenHypothesis> next_;
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_SEARCH_BEAM_SEARCH_H_
