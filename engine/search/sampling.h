// The options of sampling, and the noise that decides a sample.
#ifndef NIBU_ENGINE_SEARCH_SAMPLING_H_
#define NIBU_ENGINE_SEARCH_SAMPLING_H_

#include <cstddef>
#include <cstdint>

namespace nibu::internal {

// With sampling, each token is drawn at random, by the tokens' probabilities.
struct Sampling {
  int topk = 1;              // draw from this many of the best tokens; 0: from all; 1: no sampling
  float topp = 1.0f;         // draw from the best tokens that together have this probability
  float temperature = 1.0f;  // logits are divided by it; above 0
  static constexpr float kMostTemperature = 1e6f;
  uint64_t seed = 0;

  bool is_on() const { return topk != 1; }
};

// The noise of one sample in one step. It depends on the constructor's arguments alone, so that a
// sample does not depend on the batch that it is decoded in.
class Noise {
 public:
  // `key`: Request::key. `hypothesis`: the number of the sample. `step`: the number of tokens in
  // front of the one that is drawn.
  Noise(uint64_t seed, uint64_t key, size_t hypothesis, size_t step)
      : state_(Mix(Mix(Mix(Mix(seed) ^ key) ^ hypothesis) ^ step)) {}

  // The seed from which the noise of each token is made.
  uint32_t seed() const { return static_cast<uint32_t>(state_ >> 32); }

 private:
  // SplitMix64 (Steele et al. 2014).
  static uint64_t Mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
  }

  uint64_t state_;
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_SEARCH_SAMPLING_H_
