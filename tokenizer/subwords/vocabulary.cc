// Builds the map from tokens to ids.
#include "tokenizer/subwords/vocabulary.h"

#include <bit>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"

namespace nibu::internal {

absl::StatusOr<Vocabulary> Vocabulary::Create(std::vector<std::string> tokens, int unk) {
  if (unk < 0 || static_cast<size_t>(unk) >= tokens.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the id ", unk, " of unknown tokens is not in a vocabulary of ", tokens.size(), " tokens"));
  }
  Vocabulary vocabulary;
  vocabulary.unk_ = unk;
  vocabulary.tokens_ = std::move(tokens);
  vocabulary.ids_.assign(std::bit_ceil(2 * vocabulary.tokens_.size()), -1);
  for (int id = 0; id < vocabulary.size(); ++id) {
    int& slot = vocabulary.ids_[vocabulary.SlotOf(vocabulary.Token(id))];
    if (slot < 0) slot = id;
  }
  return vocabulary;
}

size_t Vocabulary::SlotOf(absl::string_view token) const {
  const size_t mask = ids_.size() - 1;
  size_t slot = absl::HashOf(token) & mask;
  while (ids_[slot] >= 0 && Token(ids_[slot]) != token) slot = (slot + 1) & mask;
  return slot;
}

int Vocabulary::Id(absl::string_view token) const {
  const int id = ids_[SlotOf(token)];
  return id < 0 ? unk_ : id;
}

}  // namespace nibu::internal
