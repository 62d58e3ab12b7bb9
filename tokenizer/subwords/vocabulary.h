// Maps tokens to ids and back.
#ifndef NIBU_TOKENIZER_SUBWORDS_VOCABULARY_H_
#define NIBU_TOKENIZER_SUBWORDS_VOCABULARY_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/base/macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace nibu::internal {

// The tokens of a model. Immutable; threads may share it.
class Vocabulary {
 public:
  // `tokens`: by id. `unk`: the id that stands for every token that is not listed. If a token is
  // listed twice, as in some published vocabularies, its first id counts. InvalidArgument: `unk` is
  // not the id of a token.
  static absl::StatusOr<Vocabulary> Create(std::vector<std::string> tokens, int unk);

  int size() const { return static_cast<int>(tokens_.size()); }
  int unk() const { return unk_; }
  bool Contains(absl::string_view token) const { return ids_[SlotOf(token)] >= 0; }
  // Returns unk() for a token that is not listed.
  int Id(absl::string_view token) const;
  // REQUIRES: 0 <= id < size().
  const std::string& Token(int id) const {
    ABSL_ASSERT(0 <= id && id < size());
    return tokens_[static_cast<size_t>(id)];
  }

 private:
  // Returns the slot of a token's id in ids_, or the free one where it would be.
  size_t SlotOf(absl::string_view token) const;

  std::vector<std::string> tokens_;
  // A hash table with open addressing: the ids of tokens, -1 in free slots, a power of two of them.
  // It refers to the tokens instead of holding them, which for 256,000 tokens is 2 MB where a
  // std::unordered_map has 16. (Abseil's maps do not survive a failed allocation.)
  std::vector<int> ids_ = {-1};
  int unk_ = 0;
};

}  // namespace nibu::internal

#endif  // NIBU_TOKENIZER_SUBWORDS_VOCABULARY_H_
