// transformers' generate() in plain loops, for tests: greedy and beam search with the logits
// processors that a generation_config.json asks for, in transformers' order.
#ifndef NIBU_TESTS_TOOLS_TEXT_MODEL_HUGGING_FACE_GENERATE_H_
#define NIBU_TESTS_TOOLS_TEXT_MODEL_HUGGING_FACE_GENERATE_H_

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "nlohmann/json.hpp"

namespace nibu::internal::testing {

class Generate {
 public:
  using Ids = std::vector<int>;
  using Scores = std::vector<double>;

  nlohmann::json config;                     // generation_config.json, every token id included
  bool has_forced = false;                   // a token is forced behind the start
  Ids start;                                 // the decoder's start and that token
  Ids never;                                 // tokens that are forbidden besides those of `config`
  std::function<Scores(const Ids&)> logits;  // of the token that follows start and others

  // Returns the ids of the best sequence behind `start`, without the one that ends it.
  Ids operator()() const {
    std::vector<Path> done;
    std::vector<Path> open = {{start, 0}};
    const auto beams = static_cast<size_t>(Int("num_beams", 1));
    while (Continue(beams, &open, &done)) continue;
    const auto best = std::max_element(done.begin(), done.end(),
                                       [this](auto& a, auto& b) { return Total(a) < Total(b); });
    Ids ids(best->ids.begin() + static_cast<long>(start.size()), best->ids.end());
    if (!ids.empty() && IsEnd(ids.back())) ids.pop_back();
    return ids;
  }

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  struct Path {
    Ids ids;  // all that the decoder is given, the start included
    double sum;
  };

  int Int(const char* name, int absent) const {
    const auto it = config.find(name);
    return it == config.end() || it->is_null() ? absent : it->get<int>();
  }
  Ids List(const char* name) const {
    const auto it = config.find(name);
    if (it == config.end() || it->is_null()) return {};
    return it->is_array() ? it->get<Ids>() : Ids{it->get<int>()};
  }
  double Total(const Path& path) const {
    return path.sum / std::pow(path.ids.size() - 1.0, config.value("length_penalty", 1.0));
  }
  static bool Has(const Ids& ids, int id) {
    return std::find(ids.begin(), ids.end(), id) != ids.end();
  }
  static bool EndsWith(const Ids& ids, const Ids& end) {
    return ids.size() >= end.size() &&
           std::equal(end.begin(), end.end(), ids.end() - static_cast<long>(end.size()));
  }
  bool IsEnd(int id) const { return Has(List("eos_token_id"), id); }
  size_t MaxLength() const {
    return static_cast<size_t>(Int("max_new_tokens", Int("max_length", 257) - 1) + 1);
  }

  // The processors. `scores` are logits in greedy search, and log-probabilities in beam search.
  void Process(const Ids& ids, Scores* scores) const {
    const auto forbid = [&](int id) { (*scores)[static_cast<size_t>(id)] = -kInfinity; };
    const auto all = static_cast<int>(scores->size());
    const double penalty = config.value("repetition_penalty", 1.0);
    const auto n = static_cast<size_t>(Int("no_repeat_ngram_size", 0));
    for (int t = 0; t < all; ++t) {
      double& score = (*scores)[static_cast<size_t>(t)];
      if (Has(ids, t)) score = score < 0 ? score * penalty : score / penalty;
    }
    for (int t = 0; t < all; ++t) {
      Ids next = ids;
      next.push_back(t);
      for (size_t first = 0; n > 0 && first + n < next.size(); ++first) {
        const auto begin = next.begin() + static_cast<long>(first);
        if (EndsWith(next, Ids(begin, begin + static_cast<long>(n)))) forbid(t);
      }
      for (const Ids& words : config.value("bad_words_ids", std::vector<Ids>())) {
        if (EndsWith(next, words) && !(words.size() == 1 && IsEnd(t))) forbid(t);
      }
    }
    const int shortest = Int("min_new_tokens", Int("min_length", 0) - 1) + 1;
    // nibu itself has a least length of 1 behind the start.
    const size_t least = std::max(static_cast<size_t>(std::max(shortest, 0)), start.size() + 1);
    for (const int end : List("eos_token_id")) {
      if (ids.size() < least) forbid(end);
    }
    if (const Ids last = List("forced_eos_token_id");
        ids.size() + 1 == MaxLength() && !last.empty()) {
      std::fill(scores->begin(), scores->end(), -kInfinity);
      for (const int end : last) (*scores)[static_cast<size_t>(end)] = 0;
    }
    for (const int id : List("suppress_tokens")) forbid(id);
    for (const int id : never) forbid(id);
    if (ids.size() == (has_forced ? 2u : 1u)) {
      for (const int id : List("begin_suppress_tokens")) forbid(id);
    }
  }

  // Makes a step, and returns whether another one follows.
  bool Continue(size_t beams, std::vector<Path>* open, std::vector<Path>* done) const {
    std::vector<Path> next;
    for (const Path& path : *open) {
      Scores scores = logits(path.ids);
      double sum = 0;
      for (const double logit : scores) sum += std::exp(logit);
      for (double& score : scores) score -= beams > 1 ? std::log(sum) : 0;
      Process(path.ids, &scores);
      for (size_t t = 0; t < scores.size(); ++t) {
        if (scores[t] == -kInfinity) continue;
        next.push_back(path);
        next.back().ids.push_back(static_cast<int>(t));
        next.back().sum += scores[t];
      }
    }
    std::stable_sort(next.begin(), next.end(), [](auto& a, auto& b) { return a.sum > b.sum; });
    if (beams == 1) next.resize(std::min<size_t>(next.size(), 1));
    const size_t ends = List("eos_token_id").size();
    next.resize(std::min(next.size(), (1 + ends) * beams));
    open->clear();
    for (size_t rank = 0; rank < next.size() && open->size() < beams; ++rank) {
      const bool ends_here = IsEnd(next[rank].ids.back());
      if (!ends_here) open->push_back(next[rank]);
      if (ends_here && rank < beams) done->push_back(next[rank]);
    }
    if (open->empty()) return false;
    std::stable_sort(done->begin(), done->end(),
                     [this](auto& a, auto& b) { return Total(a) > Total(b); });
    done->resize(std::min(done->size(), beams));
    const bool full = done->size() == beams;
    const bool stops = full && (config.value("early_stopping", false) ||
                                Total(done->back()) >= Total(open->front()));
    if (stops) return false;
    if (open->front().ids.size() < MaxLength()) return true;
    done->insert(done->end(), open->begin(), open->end());
    return false;
  }
};

}  // namespace nibu::internal::testing

#endif  // NIBU_TESTS_TOOLS_TEXT_MODEL_HUGGING_FACE_GENERATE_H_
