// Builds the map from tokens to ids.
#include "tokenizer/subwords/vocabulary.h"

#include <utility>

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
  vocabulary.ids_.reserve(vocabulary.tokens_.size());
  for (int id = 0; id < vocabulary.size(); ++id) vocabulary.ids_.emplace(vocabulary.Token(id), id);
  return vocabulary;
}

int Vocabulary::Id(absl::string_view token) const {
  const auto found = ids_.find(token);
  return found == ids_.end() ? unk_ : found->second;
}

}  // namespace nibu::internal
