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
// L is their number, the prefix included. decoding_options.h has the score that is made of them.
//
// A branch is a search with a beam of its own. A sentence has one branch, unless it asks for
// alternatives or samples: then the first step makes a branch of each of its num_hypotheses
// candidates, which are the most probable tokens, or drawn ones (sampler.h). In every other step,
// Advance does this for each branch that has open hypotheses:
//
//  1. It ranks the continuations of all open hypotheses by S + log p. Ties: the lower beam index
//     comes first, then the lower token. Only the best (1 + end tokens) * beam continuations are
//     looked at. That is 2 * beam for a model with one end token, and enough to have `beam` among
//     them that do not end.
//  2. It takes the first `beam` of them. A continuation by an end token is finished, and the next
//     best one beyond the first `beam` that does not end takes its place, unless the StopRule
//     shrinks the beam instead. End tokens beyond the first `beam` are ignored. At step max_length,
//     a StopRule may finish the first `beam` as they are. Right behind a forced prefix, an end
//     token finishes a hypothesis only if it is the best continuation of all or the step is at
//     max_length.
//  3. It asks the StopRule whether the branch is done (see stop_rule.h). By then, all end tokens
//     among the first `beam` have been taken. A branch is also done at step max_length.
//  4. Unless the branch is done, its new open hypotheses are live in the next step.
//
// The sentence is done when no branch has a live hypothesis. Finish then ranks what has finished.
//
// With constraints, dynamic beam allocation (constraints.h) puts the `beam` continuations that it
// keeps first in step 1. A hypothesis may end only when it has met all constraints, unless no
// hypothesis has reached a higher bank (the number of constraint tokens generated, constraints.h)
// for kPatience steps. Finished hypotheses are ranked by the number of constraints they meet, then
// by S. They are not ranked by score, since length normalization would prefer those that append the
// phrases after the sentence is complete.
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

  // Starts a sentence with one live hypothesis, which has the tokens of the forced prefix, if there
  // is one. The search is done at once if max_length leaves no room for another token. REQUIRES: at
  // most kMostConstraints constraints.
  void Reset(const SearchTask& task);

  // Returns how many of the best continuations of each live hypothesis Advance needs, `ahead` steps
  // from now.
  int candidates(size_t ahead = 0) const;

  // Makes one step. `candidates[h]`: continuations of live hypothesis h, best first, fewer than
  // candidates() where the vocabulary has no more. In the step that makes the branches: one
  // continuation for each branch, in any order. REQUIRES: !done(); one list for each live
  // hypothesis, in that order.
  void Advance(absl::Span<const absl::Span<const Candidate>> candidates);

  // Sets `tokens` to the newest token of each branch that got one in the last step. For searches
  // with a beam of 1, as on_step requires, where each branch has one hypothesis.
  struct NewToken {
    size_t branch;
    Candidate token;
    bool is_last;  // the branch has ended
  };
  void NewTokens(std::vector<NewToken>* tokens) const;
  // Finishes all open hypotheses as they are and ends the search.
  void Stop();

  // Makes a given translation the only hypothesis: its tokens with their scores. It replaces all
  // steps of a search. REQUIRES: at least one token.
  void Take(absl::Span<const Candidate> tokens);

  bool done() const { return done_; }
  const SearchTask& task() const { return task_; }
  // The number of tokens of every live hypothesis, the prefix included.
  int length() const { return length_; }
  // The number of steps that may follow.
  int steps_left() const { return task_.max_length - length_; }
  // The live hypotheses, branch by branch, each branch in the order of its beam. After Reset: one,
  // with parent 0 and token -1.
  absl::Span<const Live> live() const { return live_; }
  // Returns what the rules see of live hypothesis h, as if it had the tokens `ahead` already. See
  // RowContext.
  RowContext Context(size_t h, absl::Span<const int> ahead, std::vector<int>* scratch) const;

  // The sentence's attention has a row for each row of its decoder steps. In the next step, live
  // hypothesis h has row attention_row() + h.
  int attention_row() const { return attention_row_; }

  // Returns the best num_hypotheses of those that have finished (or as many as there are), best
  // first. Of alternatives, it returns the best of each branch, in the order of the branches.
  // `attention`: the weights of cross-attention, rows of `positions` numbers each; null: none.
  // REQUIRES: done().
  std::vector<Hypothesis> Finish(const float* attention = nullptr, size_t positions = 0) const;

 private:
  // A continuation of an open hypothesis.
  struct Ranked {
    int parent;  // the hypothesis' index in its beam
    int token;
    float log_prob;  // of the token
    float score;     // S with the token
    ConstraintSet met = 0;
    ConstraintSet met_before = 0;

    static bool IsBetter(const Ranked& a, const Ranked& b) {
      if (a.score != b.score) return a.score > b.score;
      if (a.parent != b.parent) return a.parent < b.parent;
      return a.token < b.token;
    }
  };
  // The steps without progress after which hypotheses may end although constraints are missing.
  static constexpr int kPatience = 32;

  // Says that a live hypothesis is branches_[branch].open[open].
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
  // Returns the constraints that a hypothesis meets with one token more, and those without it (see
  // OpenHypothesis). `tokens`: all of the hypothesis' tokens, the new one last.
  std::pair<ConstraintSet, ConstraintSet> Meet(const OpenHypothesis& parent,
                                               absl::Span<const int> tokens) const;
  void ShareOut(const Beam& branch);
  // Returns the hypothesis that a continuation makes of its parent, and adds its token to the tree.
  // `first`: the index of the branch's first hypothesis among all live ones.
  OpenHypothesis Continue(const Beam& branch, const Ranked& with, size_t first);
  void AdvanceBranch(Beam* branch, absl::Span<const absl::Span<const Candidate>> candidates,
                     size_t first);
  Hypothesis Make(const FinishedHypothesis& finished, const float* attention,
                  size_t positions) const;

  SearchTask task_;
  bool done_ = false;
  bool expanding_ = false;  // the next step makes the branches of alternatives or samples
  int length_ = 0;
  int attention_row_ = 0;
  size_t furthest_ = 0;  // the highest bank (see BankOf) that a hypothesis has reached
  int got_there_ = 0;    // the length at which it did
  TokenTree tree_;
  std::vector<Beam> branches_;
  size_t count_ = 0;  // the first so many of branches_ are in use; the others keep their memory
  std::vector<Live> live_;
  // Scratch of Advance.
  std::vector<Ranked> ranked_;
  std::vector<OpenHypothesis> next_;
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_SEARCH_BEAM_SEARCH_H_
