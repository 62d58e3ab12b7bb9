// A set of tokens of a vocabulary.
#ifndef NIBU_ENGINE_CORE_TOKEN_SET_H_
#define NIBU_ENGINE_CORE_TOKEN_SET_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/base/macros.h"

namespace nibu::internal {

// A bit set. Not thread-safe.
class TokenSet {
 public:
  // An empty set of the tokens 0 .. vocabulary - 1.
  explicit TokenSet(int vocabulary)
      : vocabulary_(vocabulary), words_((static_cast<size_t>(vocabulary) + 63) / 64) {}

  // REQUIRES: 0 <= token < vocabulary.
  void Add(int token) {
    ABSL_ASSERT(0 <= token && token < vocabulary_);
    uint64_t& word = words_[static_cast<size_t>(token) / 64];
    const uint64_t bit = uint64_t{1} << (token % 64);
    if ((word & bit) == 0) ++size_;
    word |= bit;
  }
  size_t size() const { return size_; }

  // Returns the tokens of the set in ascending order.
  std::vector<int> Ascending() const {
    std::vector<int> tokens;
    tokens.reserve(size_);
    for (size_t i = 0; i < words_.size(); ++i) {
      for (uint64_t word = words_[i]; word != 0; word &= word - 1) {
        tokens.push_back(static_cast<int>(64 * i) + std::countr_zero(word));
      }
    }
    return tokens;
  }

 private:
  int vocabulary_;
  std::vector<uint64_t> words_;
  size_t size_ = 0;
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_CORE_TOKEN_SET_H_
