// The searches of reference/search.h in plain loops over lists of tokens.
#include "tests/engine/reference/search.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "tests/engine/reference/rules.h"

namespace nibu::internal {
namespace reference {
namespace {

constexpr double kInfiniteScore = std::numeric_limits<double>::infinity();

uint64_t SplitMix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9u;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

uint32_t HalfOfMurmur(uint32_t h) {
  h ^= h >> 16;
  h *= 0x85ebca6bu;
  h ^= h >> 13;
  return h * 0xc2b2ae35u;
}

// A list of tokens and their scores. The end token is one of them.
struct Path {
  Tokens tokens;
  std::vector<double> scores;
  double log_prob = 0;
  size_t given = 0;  // the number of tokens at the front that are a prefix

  Path Then(int token, double score) const {
    Path next = *this;
    next.tokens.push_back(token);
    next.scores.push_back(score);
    next.log_prob += score;
    return next;
  }
};

class Searcher {
 public:
  Searcher(const std::vector<Member>& models, const Request& request)
      : model_(models[0].model->config()),
        request_(request),
        options_(request.options),
        rules_(models, request),
        is_biased_(options_.prefix_bias_beta > 0) {}

  Answer Run() {
    Answer answer = Work();
    answer.largest = rules_.largest();
    return answer;
  }

 private:
  Answer Work() {
    if (request_.target) {
      answer_.hypotheses = {Finish(Score(*request_.target))};
      return answer_;
    }
    std::vector<Path> best = Once();
    if (options_.on_repetition == OnRepetition::kRetry && options_.no_repeat_ngram_size == 0 &&
        !best.empty() && Loops(Finish(best[0]).tokens)) {
      rules_.SetNoRepeatNgramSize(3);
      std::vector<Path> second = Once();
      rules_.SetNoRepeatNgramSize(0);
      answer_.retried = true;
      if (!second.empty() && !second[0].tokens.empty()) {
        second[0] = Score(second[0].tokens);
        answer_.took_retry = Decide(Total(second[0]), Total(best[0]));
        if (answer_.took_retry) best[0] = second[0];
      }
    }
    for (const Path& path : best) answer_.hypotheses.push_back(Finish(path));
    return answer_;
  }

  bool HasEnded(const Path& path) const {
    return path.tokens.size() > path.given && rules_.IsEnd(path.tokens.back());
  }

  // Returns a > b, and notes how close the decision was.
  bool Decide(double a, double b) {
    if (a != b) answer_.margin = std::min(answer_.margin, std::abs(a - b));
    return a > b;
  }

  // Returns the tokens that every hypothesis begins with.
  Path Start() const {
    Path start;
    if (is_biased_) return start;
    for (const int token : request_.target_prefix) {
      if (start.tokens.size() < rules_.longest()) start = start.Then(token, 0);
    }
    start.given = start.tokens.size();
    return start;
  }

  double Normalized(const Path& path) const {
    if (path.tokens.empty()) return 0;
    auto length = static_cast<double>(path.tokens.size());
    if (options_.search_compat == SearchCompat::kHuggingFace && options_.frame) {
      length += static_cast<double>(options_.frame->decoder_start.size() - 1);
    }
    return (path.log_prob - static_cast<double>(options_.word_penalty) * length) /
           std::pow(length, static_cast<double>(options_.length_penalty));
  }
  double Total(const Path& path) {
    double score = Normalized(path);
    if (options_.coverage_penalty == 0) return score;
    std::vector<double> covered(rules_.source_length());
    for (size_t t = 0; t < path.tokens.size(); ++t) {
      const std::vector<double> row = rules_.Attention(First(path.tokens, t));
      for (size_t s = 0; s < row.size(); ++s) covered[s] += row[s];
    }
    for (const double c : covered) {
      score += static_cast<double>(options_.coverage_penalty) *
               // The bound is the smallest normal float.
               std::log(std::min(std::max(c, 1.2e-38), 1.0));
    }
    return score;
  }

  std::vector<Path> Once() {
    if (Start().tokens.size() == rules_.longest()) return {Start()};
    if (options_.return_alternatives) return Alternatives();
    if (options_.sampling.is_on()) return Samples();
    return Best(Beam(Start()), static_cast<size_t>(options_.num_hypotheses));
  }

  // Returns the best paths in order. The margin covers their order and that of the first one cut
  // off.
  template <typename Score>
  std::vector<Path> Best(std::vector<Path> paths, size_t most, const Score& score) {
    std::vector<std::pair<double, size_t>> order;
    for (size_t i = 0; i < paths.size(); ++i) order.emplace_back(-score(paths[i]), i);
    std::sort(order.begin(), order.end());
    std::vector<Path> best;
    for (size_t i = 0; i < std::min(most, order.size()); ++i) {
      best.push_back(paths[order[i].second]);
      if (i + 1 < order.size() && best.back().tokens != paths[order[i + 1].second].tokens) {
        answer_.margin = std::min(answer_.margin, order[i + 1].first - order[i].first);
      }
    }
    return best;
  }
  std::vector<Path> Best(std::vector<Path> paths, size_t most) {
    return Best(std::move(paths), most, [this](const Path& path) { return Total(path); });
  }

  // Returns the best continuations of all live paths, those with the highest S first.
  std::vector<Path> Continuations(const std::vector<Path>& live) {
    std::vector<Path> all;
    for (const Path& path : live) {
      const auto log_probs = rules_.LogProbs(path.tokens, rules_.MayEnd(path.tokens.size()));
      for (size_t t = 0; t < log_probs.size(); ++t) {
        if (log_probs[t] > -kInfiniteScore)
          all.push_back(path.Then(static_cast<int>(t), log_probs[t]));
      }
    }
    // About half of the decisions that enter the margin do not matter, but they are few.
    const size_t looked_at = (1 + rules_.ends().size()) * static_cast<size_t>(options_.beam_size);
    return Best(all, looked_at, [](const Path& path) { return path.log_prob; });
  }

  // Returns all hypotheses that a beam search finishes.
  std::vector<Path> Beam(const Path& start) {
    const auto beam = static_cast<size_t>(options_.beam_size);
    size_t width = beam;
    std::vector<Path> live = {start};
    std::vector<Path> done;
    bool best_has_ended = false;
    while (true) {
      const std::vector<Path> ranked = Continuations(live);
      if (ranked.empty()) {  // No token can follow.
        done.insert(done.end(), live.begin(), live.end());
        return done;
      }
      const bool last = ranked[0].tokens.size() == rules_.longest();
      const bool behind_prefix = start.given > 0 && live[0].tokens.size() == start.given;
      live.clear();
      for (const Path& path : ranked) {
        if (!HasEnded(path) && live.size() < beam) live.push_back(path);
      }
      const std::vector<Path> first(
          ranked.begin(), ranked.begin() + static_cast<long>(std::min(width, ranked.size())));
      for (size_t rank = 0; rank < first.size(); ++rank) {
        if (!HasEnded(first[rank]) || (behind_prefix && rank > 0 && !last)) continue;
        done.push_back(first[rank]);
        if (rank == 0) best_has_ended = true;
      }
      switch (options_.search_compat) {
        case SearchCompat::kMarian:
          live.clear();
          std::copy_if(first.begin(), first.end(), std::back_inserter(live),
                       [this](const Path& path) { return !HasEnded(path); });
          width = live.size();
          if (last) done.insert(done.end(), live.begin(), live.end());
          if (last || width == 0) return done;
          break;
        case SearchCompat::kHuggingFace:
          if (IsDone(done, live)) return done;
          if (last) done.insert(done.end(), live.begin(), live.end());
          if (last) return done;
          break;
        case SearchCompat::kNibu:
        case SearchCompat::kCTranslate2:
          for (const Path& path : first) {
            if (last && !HasEnded(path)) done.push_back(path);
          }
          if (last || live.empty()) return done;
          if (options_.length_penalty == 0 && options_.coverage_penalty == 0 &&
              options_.word_penalty == 0) {
            if (best_has_ended && done.size() >= static_cast<size_t>(options_.num_hypotheses)) {
              return done;
            }
          } else if (done.size() >= static_cast<size_t>(std::max(
                                        1L, std::lround(options_.beam_size * options_.patience)))) {
            return done;
          }
          break;
      }
    }
  }

  // Returns whether Hugging Face's search is done: as many hypotheses as the beam have finished
  // and, without early_stopping, no live one would be better than they are now.
  bool IsDone(const std::vector<Path>& done, const std::vector<Path>& live) {
    const auto beam = static_cast<size_t>(options_.beam_size);
    if (live.empty()) return true;
    if (done.size() < beam) return false;
    if (options_.early_stopping) return true;
    std::vector<double> scores;
    scores.reserve(done.size());
    for (const Path& path : done) scores.push_back(Normalized(path));
    std::sort(scores.rbegin(), scores.rend());
    return Decide(scores[beam - 1], Normalized(live[0]));
  }

  std::vector<Path> Alternatives() {
    const Path start = Start();
    const auto log_probs = rules_.LogProbs(start.tokens, /*may_end=*/false);
    std::vector<Path> next;
    for (size_t t = 0; t < log_probs.size(); ++t) {
      if (log_probs[t] > -kInfiniteScore)
        next.push_back(start.Then(static_cast<int>(t), log_probs[t]));
    }
    if (next.empty()) return {start};
    next = Best(next, static_cast<size_t>(options_.num_hypotheses),
                [](const Path& path) { return path.log_prob; });
    const auto least = static_cast<double>(options_.min_alternative_expansion_prob);
    std::vector<Path> alternatives;
    for (const Path& path : next) {
      const bool is_less = least > 0 && Decide(least, std::exp(path.scores.back()));
      if (is_less && !alternatives.empty()) continue;  // The first alternative is always kept.
      std::vector<Path> ended = {path};
      if (path.tokens.size() < rules_.longest()) ended = Best(Beam(path), 1);
      alternatives.insert(alternatives.end(), ended.begin(), ended.end());
    }
    return alternatives;
  }

  std::vector<Path> Samples() {
    std::vector<Path> samples;
    for (size_t n = 0; n < static_cast<size_t>(options_.num_hypotheses); ++n) {
      Path path = Start();
      while (path.tokens.size() < rules_.longest() && !HasEnded(path)) {
        const auto row = rules_.Logits(path.tokens, rules_.MayEnd(path.tokens.size()));
        const int token = Draw(row.logits, n, path.tokens.size());
        if (token < 0) break;
        path = path.Then(token, row.logits[static_cast<size_t>(token)] - row.log_sum);
      }
      samples.push_back(path);
      if (path.tokens.size() == path.given) return samples;  // No sample can have a token.
    }
    return Best(samples, samples.size());
  }

  int Draw(const std::vector<double>& logits, size_t hypothesis, size_t step) {
    const Sampling& sampling = options_.sampling;
    const auto temperature = static_cast<double>(sampling.temperature);
    std::vector<std::pair<double, int>> order;  // -logit, token
    for (int t = 0; t < model_.vocab_target; ++t) {
      const double logit = logits[static_cast<size_t>(t)];
      if (logit > -kInfiniteScore) order.emplace_back(-logit, t);
    }
    if (order.empty()) return -1;
    std::sort(order.begin(), order.end());
    const auto k = static_cast<size_t>(sampling.topk);
    if (k > 0 && k < order.size()) {
      Decide(order[k].first, order[k - 1].first);
      order.resize(k);
    }
    if (sampling.topp < 1) {
      std::vector<double> weights;
      double all = 0;
      for (const auto& [logit, token] : order) {
        weights.push_back(std::exp((order[0].first - logit) / temperature));
        all += weights.back();
      }
      double sum = 0;
      size_t kept = 0;
      do {
        sum += weights[kept++];
      } while (kept < order.size() && Decide(static_cast<double>(sampling.topp), sum / all));
      if (kept < order.size()) Decide(order[kept].first, order[kept - 1].first);
      order.resize(kept);
    }
    std::vector<std::pair<double, int>> noisy;
    noisy.reserve(order.size());
    for (const auto& [logit, token] : order) {
      noisy.emplace_back(
          -logit / temperature + Gumbel(sampling, request_.key, hypothesis, step, token), token);
    }
    std::sort(noisy.rbegin(), noisy.rend());
    // The distance counts in logits, which a low temperature magnifies.
    if (noisy.size() > 1) {
      const double distance = noisy[0].first - noisy[1].first;
      answer_.margin = std::min(answer_.margin, distance * std::min(1.0, temperature));
    }
    return noisy[0].second;
  }

  // Scores the given tokens by the model and its rules.
  Path Score(const Tokens& target) {
    const size_t given = request_.target ? 0 : Start().given;
    Path path;
    for (size_t i = 0; i < target.size(); ++i) {
      const bool is_end = i + 1 == target.size() && i >= given && rules_.IsEnd(target[i]);
      const auto log_probs = rules_.LogProbs(path.tokens, rules_.MayEnd(i) || is_end);
      path = path.Then(target[i], i < given ? 0 : log_probs[static_cast<size_t>(target[i])]);
    }
    path.given = given;
    return path;
  }

  Found Finish(const Path& path) {
    Found found;
    found.finished = HasEnded(path);
    found.tokens = found.finished ? Without(path.tokens, 1) : path.tokens;
    found.token_scores = path.scores;
    found.log_prob = path.log_prob;
    found.score = Total(path);
    if (options_.return_attention) {
      for (size_t t = 0; t < path.tokens.size(); ++t) {
        found.attention.push_back(rules_.Attention(First(path.tokens, t)));
      }
    }
    return found;
  }

  const ModelConfig& model_;
  const Request& request_;
  const DecodingOptions& options_;
  Rules rules_;
  const bool is_biased_;
  Answer answer_;
};

}  // namespace

Answer Search(const std::vector<Member>& models, const Request& request) {
  return Searcher(models, request).Run();
}

bool Loops(const std::vector<int>& tokens) {
  for (size_t n = 1; n <= 16; ++n) {
    const size_t enough = std::max<size_t>(4 * n, 16);
    for (size_t begin = 0; begin + enough <= tokens.size(); ++begin) {
      bool repeats = true;
      for (size_t i = begin + n; i < begin + enough; ++i) {
        repeats = repeats && tokens[i] == tokens[i - n];
      }
      if (repeats) return true;
    }
  }
  return false;
}

double Gumbel(const Sampling& sampling, uint64_t key, size_t hypothesis, size_t step, int token) {
  uint64_t state = SplitMix(sampling.seed) ^ key;
  state = SplitMix(state) ^ hypothesis;
  state = SplitMix(state) ^ step;
  const auto noise = static_cast<uint32_t>(SplitMix(state) >> 32);
  uint32_t h = HalfOfMurmur(static_cast<uint32_t>(token) + noise) ^ noise;
  h = HalfOfMurmur(h);
  h ^= h >> 16;
  const double u = (static_cast<double>(h >> 9) + 0.5) / (1 << 23);
  return -std::log(-std::log(u));
}

}  // namespace reference
}  // namespace nibu::internal
