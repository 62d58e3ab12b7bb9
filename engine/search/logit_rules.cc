#include "engine/search/logit_rules.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace nibu::internal {
namespace {

bool EndsWith(absl::Span<const int> tokens, absl::Span<const int> end) {
  return tokens.size() >= end.size() && tokens.last(end.size()) == end;
}

}  // namespace

bool HasRules(const DecodingOptions& options) {
  return options.repetition_penalty != 1 || options.no_repeat_ngram_size > 0 ||
         !options.suppress_sequences.empty();
}

void FindRules(const DecodingOptions& options, absl::Span<const int> tokens,
               std::vector<int>* suppressed, std::vector<int>* repeated) {
  if (options.repetition_penalty != 1) {
    repeated->assign(tokens.begin(), tokens.end());
    std::sort(repeated->begin(), repeated->end());
    repeated->erase(std::unique(repeated->begin(), repeated->end()), repeated->end());
  }
  const auto n = static_cast<size_t>(options.no_repeat_ngram_size);
  if (n > 0 && tokens.size() >= n) {
    const absl::Span<const int> last = tokens.last(n - 1);
    for (size_t end = n - 1; end < tokens.size(); ++end) {
      if (EndsWith(tokens.first(end), last)) suppressed->push_back(tokens[end]);
    }
  }
  for (const std::vector<int>& sequence : options.suppress_sequences) {
    const auto before = absl::MakeConstSpan(sequence).first(sequence.size() - 1);
    if (EndsWith(tokens, before)) suppressed->push_back(sequence.back());
  }
}

void Widen(float beta, absl::Span<const Candidate> best, absl::Span<const Candidate> wanted,
           std::vector<Candidate>* all) {
  all->assign(wanted.begin(), wanted.end());
  for (const Candidate& c : best) {
    const auto same = [&c](const Candidate& w) { return w.token == c.token; };
    if (std::none_of(wanted.begin(), wanted.end(), same)) all->push_back(c);
  }
  if (beta > 0) {
    for (Candidate& c : *all) c.log_prob += std::log1p(-beta);
    float& favoured = all->front().log_prob;
    if (favoured > -std::numeric_limits<float>::infinity()) {
      favoured = std::log(std::exp(favoured) + beta);
    }
  }
  std::sort(all->begin(), all->end(), [](const Candidate& a, const Candidate& b) {
    return a.log_prob != b.log_prob ? a.log_prob > b.log_prob : a.token < b.token;
  });
}

}  // namespace nibu::internal
