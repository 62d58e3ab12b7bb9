#include "engine/search/beam_search.h"

#include <algorithm>
#include <limits>

namespace nibu {

void BeamSearch::Reset(const SearchOptions& options) {
  options_ = options;
  done_ = false;
  best_beam_finished_ = false;
  length_ = 0;
  nodes_.clear();
  live_.assign(1, {0, -1});
  live_nodes_.assign(1, -1);
  live_scores_.assign(1, 0.0f);
  finished_.clear();
}

void BeamSearch::Advance(absl::Span<const absl::Span<const Candidate>> candidates) {
  const auto beam = static_cast<size_t>(options_.beam_size);
  ++length_;
  ranked_.clear();
  for (size_t h = 0; h < candidates.size(); ++h) {
    for (const Candidate& c : candidates[h]) {
      const float score = live_scores_[h] + c.log_prob;
      if (score > -std::numeric_limits<float>::infinity()) {
        ranked_.push_back({static_cast<int>(h), c.token, c.log_prob, score});
      }
    }
  }
  const size_t n = std::min(2 * beam, ranked_.size());
  std::partial_sort(ranked_.begin(), ranked_.begin() + static_cast<long>(n), ranked_.end(),
                    [](const Ranked& a, const Ranked& b) {
                      if (a.score != b.score) return a.score > b.score;
                      if (a.parent != b.parent) return a.parent < b.parent;
                      return a.token < b.token;
                    });
  if (n == 0) {  // nothing can follow: what is there ends here
    --length_;
    for (size_t h = 0; h < live_.size(); ++h) {
      finished_.push_back({live_nodes_[h], live_scores_[h], length_});
    }
    done_ = true;
    return;
  }
  const bool last = length_ >= options_.max_length;
  next_nodes_.clear();
  next_scores_.clear();
  live_.clear();
  size_t spare = beam;
  const auto add_node = [&](const Ranked& r) {
    nodes_.push_back({live_nodes_[static_cast<size_t>(r.parent)], r.token, r.log_prob});
    return static_cast<int>(nodes_.size()) - 1;
  };
  for (size_t k = 0; k < std::min(beam, n); ++k) {
    size_t chosen = k;
    if (last || ranked_[k].token == options_.eos) {
      finished_.push_back({add_node(ranked_[k]), ranked_[k].score, length_});
      if (k == 0) best_beam_finished_ = true;
      while (spare < n && ranked_[spare].token == options_.eos) ++spare;
      if (last || spare >= n) continue;
      chosen = spare++;
    }
    const Ranked& r = ranked_[chosen];
    live_.push_back({r.parent, r.token});
    next_nodes_.push_back(add_node(r));
    next_scores_.push_back(r.score);
  }
  live_nodes_.swap(next_nodes_);
  live_scores_.swap(next_scores_);
  const auto most = static_cast<size_t>(HypothesesToFinish(options_.beam_size, options_.patience));
  done_ =
      last || live_.empty() ||
      (options_.length_penalty == 0.0f
           ? best_beam_finished_ && finished_.size() >= static_cast<size_t>(options_.num_hypotheses)
           : finished_.size() >= most);
}

std::vector<Hypothesis> BeamSearch::Finish() const {
  std::vector<Hypothesis> result;
  for (const Finished& f : finished_) {
    Hypothesis h;
    h.finished = f.node >= 0 && nodes_[static_cast<size_t>(f.node)].token == options_.eos;
    for (int i = f.node; i >= 0; i = nodes_[static_cast<size_t>(i)].parent) {
      const Node& node = nodes_[static_cast<size_t>(i)];
      if (node.token != options_.eos) h.tokens.push_back(node.token);
      h.token_scores.push_back(node.log_prob);
    }
    std::reverse(h.tokens.begin(), h.tokens.end());
    std::reverse(h.token_scores.begin(), h.token_scores.end());
    h.log_prob = f.log_prob;
    h.score = HypothesisScore(f.log_prob, static_cast<size_t>(f.length), options_.length_penalty);
    result.push_back(std::move(h));
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; });
  result.resize(std::min(result.size(), static_cast<size_t>(options_.num_hypotheses)));
  return result;
}

}  // namespace nibu
