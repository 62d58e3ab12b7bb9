// The decoding options as worked out for a model, shared by all sentences that are decoded in the
// same way.
#ifndef NIBU_ENGINE_SEARCH_SEARCH_PLAN_H_
#define NIBU_ENGINE_SEARCH_SEARCH_PLAN_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/types/span.h"
#include "engine/search/decoding_options.h"
#include "engine/search/logits_rule.h"
#include "engine/search/stop_rule.h"

namespace nibu::internal {

// The facts about a model that a search needs.
struct SearchModel {
  int eos = 0;                       // ends a hypothesis, unless options.end_tokens are given
  int unk = -1;                      // the token that options.disable_unk suppresses
  std::vector<int> suppressed = {};  // tokens that are never generated
  Frame frame = {{}, {}, {-1}};      // of the options if they have one, else the model's
  int positions = 1 << 30;           // the most tokens that its decoder can generate
  int vocabulary = 1 << 30;          // the number of tokens that it can generate
  uint64_t owner = 0;                // see SearchPlan::owner
};

// Immutable; threads may share it. It cannot be moved, since its stop rule refers to its options.
class SearchPlan {
 public:
  // REQUIRES: options.Validate() is OK, and all token ids are the model's (ValidateFor in
  // engine/plan.h checks them).
  SearchPlan(DecodingOptions options, const SearchModel& model);
  SearchPlan(const SearchPlan&) = delete;
  SearchPlan& operator=(const SearchPlan&) = delete;

  // The number of the Translator that has made the plan. No other Translator may use it, since its
  // token ids and positions are those of that translator's models.
  uint64_t owner() const { return owner_; }
  const DecodingOptions& options() const { return options_; }
  const Frame& frame() const { return frame_; }
  // The tokens that end a hypothesis.
  const std::vector<int>& ends() const { return ends_; }
  bool is_end(int token) const { return absl::c_linear_search(ends_, token); }
  // Returns the most tokens that a hypothesis may have if its source has so many tokens, its frame
  // included.
  int MaxLength(size_t source_tokens) const;

  const StopRule& stop_rule() const { return *stop_rule_; }
  // Sets `edits` to what all rules do to the row of logits that follows a hypothesis.
  void FindEdits(const RowContext& context, LogitEdits* edits) const;

 private:
  const DecodingOptions options_;
  const Frame frame_;
  const std::vector<int> ends_;
  const int positions_;
  const uint64_t owner_;
  std::unique_ptr<const StopRule> stop_rule_;
  std::vector<std::unique_ptr<const LogitsRule>> rules_;
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_SEARCH_SEARCH_PLAN_H_
