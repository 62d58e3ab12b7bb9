#ifndef NIBU_ENGINE_OPS_SAMPLING_H_
#define NIBU_ENGINE_OPS_SAMPLING_H_

#include <cstddef>
#include <cstdint>

namespace nibu::internal {

// Tokens drawn at random, by their probabilities, in place of the best ones.
struct Sampling {
  int topk = 1;              // among the best so many; 0: all; 1: no sampling
  float topp = 1.0f;         // among the best that together have so much of their probability
  float temperature = 1.0f;  // logits are divided by it
  uint64_t seed = 0;

  bool is_on() const { return topk != 1; }
};

// Noise is a function of what it is for, and of nothing else.
class Noise {
 public:
  Noise() = default;
  // `key`: of a request; `step`: of the sentence.
  Noise(uint64_t seed, uint64_t key, size_t hypothesis, size_t step)
      : state_(Mix(Mix(Mix(Mix(seed) ^ key) ^ hypothesis) ^ step)) {}

  // Of all tokens.
  uint32_t seed() const { return static_cast<uint32_t>(state_ >> 32); }

 private:
  // SplitMix64 (Steele et al. 2014).
  static uint64_t Mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
  }

  uint64_t state_ = 0;
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_OPS_SAMPLING_H_
