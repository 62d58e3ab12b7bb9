// Rules about the token that follows a hypothesis. Each is a class of its own in rules.h.
// SearchPlan makes those that its options ask for and applies them in a fixed order.
#ifndef NIBU_ENGINE_SEARCH_LOGITS_RULE_H_
#define NIBU_ENGINE_SEARCH_LOGITS_RULE_H_

#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "engine/search/beam.h"
#include "engine/search/logit_edits.h"
#include "engine/search/token_tree.h"

namespace nibu::internal {

struct SearchTask;

// The hypothesis whose next token a row of logits is for, and what the search knows about it.
class RowContext {
 public:
  // The hypothesis has the `length` tokens of the path to `hypothesis.node` in the tree, then those
  // `ahead` of the search: a draft model's guesses, or a part of a target. `scratch` holds its
  // tokens once a rule reads them. All arguments outlive the context.
  RowContext(const SearchTask& of, const TokenTree& tree, const OpenHypothesis& hypothesis,
             size_t length, absl::Span<const int> ahead, std::vector<int>* scratch)
      : task_(of),
        open_(hypothesis),
        tree_(tree),
        path_(length),
        ahead_(ahead),
        scratch_(scratch) {}
  // `branch`: the branch of the search that the hypothesis belongs to (see BeamSearch).
  // `is_expansion`: the next tokens begin the branches.
  void SetBranch(size_t branch, bool is_expansion) {
    branch_ = branch;
    is_expansion_ = is_expansion;
  }

  const SearchTask& task() const { return task_; }
  const OpenHypothesis& open() const { return open_; }
  size_t branch() const { return branch_; }
  bool is_expansion() const { return is_expansion_; }
  // The number of the hypothesis' tokens, the prefix included.
  size_t length() const { return path_ + ahead_.size(); }
  // The hypothesis' tokens. They are read off the tree by the first call.
  absl::Span<const int> tokens() const {
    if (!has_tokens_) {
      tree_.Path(open_.node, path_, scratch_);
      scratch_->insert(scratch_->end(), ahead_.begin(), ahead_.end());
      has_tokens_ = true;
    }
    return *scratch_;
  }

 private:
  const SearchTask& task_;
  const OpenHypothesis& open_;
  const TokenTree& tree_;
  size_t path_;
  absl::Span<const int> ahead_;
  std::vector<int>* scratch_;
  mutable bool has_tokens_ = false;
  size_t branch_ = 0;
  bool is_expansion_ = false;
};

// Immutable; threads share it. A rule's edits depend on the context alone, never on other sentences
// or rows.
class LogitsRule {
 public:
  virtual ~LogitsRule() = default;
  // Adds to `edits` what the rule does to the logits of the token that follows.
  virtual void Apply(const RowContext& context, LogitEdits* edits) const = 0;
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_SEARCH_LOGITS_RULE_H_
