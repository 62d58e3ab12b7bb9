// Runs the beam search on made-up distributions, for its tests.
#ifndef NIBU_TESTS_ENGINE_SEARCH_SEARCH_CASE_H_
#define NIBU_TESTS_ENGINE_SEARCH_SEARCH_CASE_H_

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "engine/search/beam_search.h"
#include "gtest/gtest.h"

namespace nibu::internal {

// Options, and what a Translator adds to them for a sentence.
struct SearchCase : DecodingOptions {
  int max_length = 256;
  int eos = 0;

  // Returns a task that is valid until the next call.
  SearchTask task() const {
    plan_ = std::make_shared<const SearchPlan>(*this, SearchModel{.eos = eos});
    return {.plan = plan_.get(), .max_length = max_length};
  }

 private:
  mutable std::shared_ptr<const SearchPlan> plan_;
};

using Tokens = std::vector<int>;
// Returns the log-probabilities of all tokens that may follow a prefix.
using StepFunction = std::function<std::vector<float>(const Tokens& prefix)>;

inline std::vector<Candidate> Best(const std::vector<float>& log_probs, size_t k) {
  std::vector<Candidate> all;
  for (size_t t = 0; t < log_probs.size(); ++t) {
    all.push_back({static_cast<int>(t), log_probs[t]});
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.log_prob > b.log_prob; });
  all.resize(std::min(all.size(), k));
  return all;
}

// Runs the search on a made-up distribution.
inline std::vector<Hypothesis> Search(BeamSearch* search, const SearchCase& options,
                                      const StepFunction& step) {
  search->Reset(options.task());
  std::vector<Tokens> prefixes = {{}};
  int steps = 0;
  while (!search->done()) {
    std::vector<std::vector<Candidate>> lists;
    lists.reserve(prefixes.size());
    for (const Tokens& prefix : prefixes) {
      lists.push_back(Best(step(prefix), 2 * static_cast<size_t>(options.beam_size)));
    }
    const std::vector<absl::Span<const Candidate>> spans(lists.begin(), lists.end());
    search->Advance(spans);
    EXPECT_LE(search->live().size(), static_cast<size_t>(options.beam_size));
    std::vector<Tokens> next;
    for (const BeamSearch::Live& live : search->live()) {
      next.push_back(prefixes[static_cast<size_t>(live.parent)]);
      next.back().push_back(live.token);
    }
    prefixes = next;
    EXPECT_LE(++steps, options.max_length);
    if (steps > options.max_length) break;
  }
  return search->Finish();
}

}  // namespace nibu::internal

#endif  // NIBU_TESTS_ENGINE_SEARCH_SEARCH_CASE_H_
