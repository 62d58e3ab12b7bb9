// The stop rules: a class for each, in the order of stop_rule.h, which describes them.
#include "engine/search/stop_rule.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <vector>

namespace nibu::internal {
namespace {

class NibuStopRule final : public StopRule {
 public:
  explicit NibuStopRule(const DecodingOptions& options) : options_(options) {}
  bool ends_greedy_at_once() const override {
    return HypothesesToFinish(1, options_.patience) == 1;
  }
  bool refills_beam() const override { return true; }
  bool finishes_continuations() const override { return true; }
  bool IsDone(const Beam& beam, int /*length*/) const override {
    if (beam.open.empty()) return true;
    if (options_.length_penalty == 0.0f && options_.word_penalty == 0.0f &&
        options_.coverage_penalty == 0.0f) {
      return beam.best_finished &&
             beam.finished.size() >= static_cast<size_t>(options_.num_hypotheses);
    }
    const int enough = HypothesesToFinish(options_.beam_size, options_.patience);
    return beam.finished.size() >= static_cast<size_t>(enough);
  }

 private:
  const DecodingOptions& options_;
};

class MarianStopRule final : public StopRule {
 public:
  bool ends_greedy_at_once() const override { return true; }
  bool refills_beam() const override { return false; }
  bool finishes_continuations() const override { return true; }
  bool IsDone(const Beam& beam, int /*length*/) const override { return beam.open.empty(); }
};

class HuggingFaceStopRule final : public StopRule {
 public:
  explicit HuggingFaceStopRule(const DecodingOptions& options) : options_(options) {}
  bool ends_greedy_at_once() const override { return false; }
  bool refills_beam() const override { return true; }
  bool finishes_continuations() const override { return false; }
  bool IsDone(const Beam& beam, int length) const override {
    if (beam.open.empty()) return true;
    const auto most = static_cast<size_t>(options_.beam_size);
    if (beam.finished.size() < most) return false;
    if (options_.early_stopping) return true;
    // Compare the worst of the best `most` finished hypotheses with the best open one.
    std::vector<float> scores;
    for (const FinishedHypothesis& f : beam.finished) {
      scores.push_back(HypothesisScore(options_, f.log_prob, static_cast<size_t>(f.length)));
    }
    std::nth_element(scores.begin(), scores.begin() + static_cast<long>(most) - 1, scores.end(),
                     std::greater<>());
    float best = beam.open[0].log_prob;
    for (const OpenHypothesis& h : beam.open) best = std::max(best, h.log_prob);
    return scores[most - 1] >= HypothesisScore(options_, best, static_cast<size_t>(length));
  }

 private:
  const DecodingOptions& options_;
};

}  // namespace

std::unique_ptr<const StopRule> StopRule::Make(const DecodingOptions& options) {
  switch (options.search_compat) {
    case SearchCompat::kNibu:
    case SearchCompat::kCTranslate2:
      break;
    case SearchCompat::kMarian:
      return std::make_unique<MarianStopRule>();
    case SearchCompat::kHuggingFace:
      return std::make_unique<HuggingFaceStopRule>(options);
  }
  return std::make_unique<NibuStopRule>(options);
}

}  // namespace nibu::internal
