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
// Semantics (also CTranslate2's): S = sum of log-probabilities of the generated tokens, EOS
// included; L = number of generated tokens, EOS included; scores are in decoding_options.h.
//  * A step ranks all continuations by S + log p and looks at the best 2 * beam of them. An EOS
//    among the first `beam` finishes a hypothesis, and the next best continuation of the second
//    half that is not EOS takes its place. EOS beyond the first `beam` is ignored.
//  * The sentence stops in the step in which round(beam * patience) hypotheses have finished (all
//    EOS among the first `beam` of that step are still taken), or, with no penalties, once the best
//    beam has finished and num_hypotheses are done; at step max_length every one of the first
//    `beam` continuations is finished as it is.
//  * Ties: the lower beam index first, then the lower token id.
//  * Marian: no continuation takes the place of a finished one, so the beam shrinks; the sentence
//    stops when it is empty.
//  * Hugging Face: the best `beam` finished ones are kept; the sentence stops when there are so
//    many and, without early_stopping, the worst of them scores no less than the best live one
//    would now. Where it has not stopped, max_length finishes the live ones, too.
//  * Constraints: the beam is shared out (see constraints.h). A hypothesis ends only when it has
//    met them all, unless none has got any further for kPatience steps. What meets more of them is
//    better, whatever its score; then what has the larger S: by their scores, longer ones with the
//    phrases put behind the end of the sentence would win, and meet no more of them.
#ifndef NIBU_ENGINE_SEARCH_BEAM_SEARCH_H_
#define NIBU_ENGINE_SEARCH_BEAM_SEARCH_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "engine/core/candidate.h"
#include "engine/search/constraints.h"
#include "engine/search/decoding_options.h"

namespace nibu::internal {

// Options, worked out for a sentence.
struct SearchTask {
  const DecodingOptions* options;  // outlives the search
  int max_length = 256;            // generated tokens, prefix and EOS included; a step is a token
  std::vector<int> ends = {};      // tokens that end a hypothesis
  std::vector<int> prefix = {};    // what every hypothesis begins with, or is biased to
  int first_row = 0;               // of attention: the first token's
  absl::Span<const Constraint> constraints = {};  // outlive the search
  const std::vector<bool>* word_parts = nullptr;  // of Request; outlive it, too
  // Of the beam: constraints have places of their own beside beam_size, where there is room.
  size_t width() const {
    const size_t most = std::max<size_t>(kMostRows, static_cast<size_t>(options->beam_size));
    return std::min(most, static_cast<size_t>(options->beam_size) + CountTokens(constraints));
  }

  static constexpr size_t kMostRows = 32;

  bool is_biased() const { return options->prefix_bias_beta > 0; }
  // Tokens that nobody is asked about.
  size_t forced() const { return is_biased() ? 0 : prefix.size(); }
  bool is_end(int token) const { return std::find(ends.begin(), ends.end(), token) != ends.end(); }
  bool is_word_part(int token) const {
    const auto id = static_cast<size_t>(token);
    return word_parts != nullptr && id < word_parts->size() && (*word_parts)[id];
  }
};

// (S - word_penalty * L) / L^length_penalty; 0 for no tokens.
inline float HypothesisScore(const DecodingOptions& options, float log_prob, size_t length) {
  const auto n = static_cast<float>(length);
  return length > 0 ? (log_prob - options.word_penalty * n) / std::pow(n, options.length_penalty)
                    : 0.0f;
}

struct Hypothesis {
  std::vector<int> tokens;          // the end token left out
  std::vector<float> token_scores;  // log-probability of each token, the end's (if reached) last
  float log_prob = 0;               // S
  float coverage = 0;               // coverage_penalty's part of the score
  float score = 0;
  bool finished = true;     // false: cut before its end
  int end_token = -1;       // which ended it
  bool repetition = false;  // caught in a loop
  Met met = 0;              // of the constraints
  // With return_attention: [tokens, source, frame included], the softmax.
  std::vector<float> attention;
};

// Not thread-safe. Reusable by Reset; allocates only while its arrays grow.
class BeamSearch {
 public:
  struct Live {
    int parent;  // index of the live hypothesis of the previous step that it continues
    int token;   // its newest token
  };

  BeamSearch() = default;
  explicit BeamSearch(const SearchTask& task) { Reset(task); }

  // Starts a sentence: one live hypothesis without tokens, or with the prefix.
  void Reset(const SearchTask& task);

  // How many of the best continuations of a live hypothesis are looked at; so many steps ahead.
  int candidates(size_t ahead = 0) const;

  // `candidates[h]`: continuations of live hypothesis h, best first (ties: lower token first).
  // Fewer where the vocabulary has no more. In the first step of a sentence of several branches:
  // one for each. REQUIRES: !done(), one list a live hypothesis.
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

  // In place of all steps: the only hypothesis, as it is.
  void Take(absl::Span<const Candidate> tokens);

  bool done() const { return done_; }
  // Tokens of every live hypothesis, the prefix included.
  int length() const { return length_; }
  // Steps that may follow at most.
  int steps_left() const { return task_.max_length - length_; }
  // The live hypotheses, in beam order. After Reset: one, with parent 0 and token -1.
  absl::Span<const Live> live() const { return live_; }
  // Whether the next step makes branches.
  bool branches_out() const { return expanding_; }
  // Which of the branches live hypothesis h is of.
  size_t branch(size_t h) const { return Locate(h).branch; }
  // The tokens of live hypothesis h; what it is biased to next (-1: nothing).
  void Tokens(size_t h, std::vector<int>* tokens) const;
  int favoured(size_t h) const;
  // What goes on with its constraints, appended. `tokens`: its own.
  void FindNext(size_t h, absl::Span<const int> tokens, std::vector<int>* next) const;

  // The row of attention that belongs to the next step's first live hypothesis.
  int attention_row() const { return attention_row_; }

  // The best num_hypotheses (or as many as there are), best score first; alternatives in their
  // order. `attention`: rows of `positions` numbers each; null: none. REQUIRES: done().
  std::vector<Hypothesis> Finish(const float* attention = nullptr, size_t positions = 0) const;

 private:
  struct Node {  // a token; hypotheses are paths of nodes
    int parent;  // node index, -1 at the start
    int token;
    float log_prob;
    int row;  // of attention
  };
  struct Open {
    int node;
    float log_prob;  // S
    bool follows;    // the prefix that it is biased to
    Met met;
    Met before = 0;  // by all tokens but the newest
  };
  struct Finished {
    int node;
    float log_prob;
    int length;
    Met met;
  };
  // A search of its own.
  struct Branch {
    std::vector<Open> open;
    std::vector<Finished> finished;
    size_t width = 0;  // of the beam
    bool best_finished = false;
  };
  struct Ranked {
    int parent;  // in the branch
    int token;
    float log_prob;
    float score;
    Met met = 0;
    Met before = 0;

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

  const DecodingOptions& options() const { return *task_.options; }
  Place Locate(size_t h) const;
  // The tokens of a path of so many nodes.
  void Path(int node, int length, std::vector<int>* tokens) const;
  Branch& AddBranch();
  int AddNode(int parent, const Candidate& candidate, size_t row);
  void BranchOut(absl::Span<const Candidate> candidates);
  void Rank(const Branch& branch, absl::Span<const absl::Span<const Candidate>> candidates);
  // What is met with one token more, and was before it. `tokens`: with it.
  std::pair<Met, Met> Meet(const Open& parent, absl::Span<const int> tokens) const;
  void ShareOut(const Branch& branch);
  void AdvanceBranch(Branch* branch, absl::Span<const absl::Span<const Candidate>> candidates,
                     size_t first);
  bool IsDone(const Branch& branch) const;
  float Score(const Finished& finished) const {
    return HypothesisScore(options(), finished.log_prob, static_cast<size_t>(finished.length));
  }
  Hypothesis Make(const Finished& finished, const float* attention, size_t positions) const;

  SearchTask task_;
  bool done_ = false;
  bool expanding_ = false;
  int length_ = 0;
  int attention_row_ = 0;
  size_t furthest_ = 0;  // bank of the constraints
  int got_there_ = 0;    // at this length
  std::vector<Node> nodes_;
  std::vector<Branch> branches_;
  size_t count_ = 0;  // of branches_, in use
  std::vector<Live> live_;
  // Scratch of Advance.
  std::vector<Ranked> ranked_;
  std::vector<Open> next_;
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_SEARCH_BEAM_SEARCH_H_
