// The part of a search that belongs to one sentence.
#ifndef NIBU_ENGINE_SEARCH_SEARCH_TASK_H_
#define NIBU_ENGINE_SEARCH_SEARCH_TASK_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "engine/search/constraints.h"
#include "engine/search/search_plan.h"

namespace nibu::internal {

// The facts about one sentence that a search needs; those that sentences have in common are in the
// plan. It owns nothing: everything that it points to outlives the search.
struct SearchTask {
  const SearchPlan* plan = nullptr;
  // The most tokens of a hypothesis, the prefix and the end token included.
  int max_length = 256;
  // Every hypothesis begins with the prefix, or, with prefix_bias_beta, is biased to it.
  absl::Span<const int> prefix = {};
  absl::Span<const Constraint> constraints = {};
  // Says of each token id whether the token continues a word (Request::word_parts). Null: none
  // does.
  const std::vector<bool>* word_parts = nullptr;
  // The tokens that are to be scored instead of a search; then there are neither a prefix nor
  // constraints. Null: there is a search.
  const std::vector<int>* target = nullptr;
  // false: the target is scored with the model's own probabilities (see
  // DecodingOptions::score_as_search).
  bool has_rules = true;
  // The number of the target's first tokens that the search it comes from was forced to take.
  size_t forced_in_target = 0;
  // DecodingOptions::no_repeat_ngram_size, unless a pass sets it otherwise.
  int no_repeat_ngram_size = 0;
  uint64_t key = 0;  // Request::key, on which samples depend

  const DecodingOptions& options() const { return plan->options(); }

  // Returns the most open hypotheses that a beam may have. Each token of the constraints adds a
  // place to beam_size, as long as there are no more than kMostBeamRows in all.
  size_t width() const {
    const auto beam = static_cast<size_t>(options().beam_size);
    return std::min(std::max(kMostBeamRows, beam), beam + CountTokens(constraints));
  }
  static constexpr size_t kMostBeamRows = 32;

  bool is_biased() const { return options().prefix_bias_beta > 0; }
  // Returns the number of tokens with which every hypothesis begins. They need no logits.
  size_t forced() const { return is_biased() ? 0 : prefix.size(); }
  // Returns the number of tokens before the first one that a search chooses.
  size_t first_chosen() const { return target != nullptr ? forced_in_target : forced(); }
  bool is_word_part(int token) const {
    const auto id = static_cast<size_t>(token);
    return word_parts != nullptr && id < word_parts->size() && (*word_parts)[id];
  }
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_SEARCH_SEARCH_TASK_H_
