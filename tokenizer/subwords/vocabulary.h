// Maps tokens to ids and back.
#ifndef NIBU_TOKENIZER_SUBWORDS_VOCABULARY_H_
#define NIBU_TOKENIZER_SUBWORDS_VOCABULARY_H_

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/base/macros.h"
#include "absl/hash/hash.h"
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
  bool Contains(absl::string_view token) const { return ids_.contains(token); }
  // Returns unk() for a token that is not listed.
  int Id(absl::string_view token) const;
  // REQUIRES: 0 <= id < size().
  const std::string& Token(int id) const {
    ABSL_ASSERT(0 <= id && id < size());
    return tokens_[static_cast<size_t>(id)];
  }

 private:
  struct Hash : absl::Hash<absl::string_view> {
    using is_transparent = void;
  };

  std::vector<std::string> tokens_;
  // Abseil's maps are not used, because they do not survive a failed allocation.
  std::unordered_map<std::string, int, Hash, std::equal_to<>> ids_;
  int unk_ = 0;
};

}  // namespace nibu::internal

#endif  // NIBU_TOKENIZER_SUBWORDS_VOCABULARY_H_
