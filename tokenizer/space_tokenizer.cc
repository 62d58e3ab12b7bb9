#include "tokenizer/space_tokenizer.h"

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace nibu {

absl::StatusOr<std::vector<std::string>> SpaceTokenizer::Encode(absl::string_view text) const {
  return std::vector<std::string>(
      absl::StrSplit(text, absl::ByAnyChar(" \t\r\n\v\f"), absl::SkipEmpty()));
}

absl::StatusOr<std::string> SpaceTokenizer::Decode(absl::Span<const std::string> pieces) const {
  return absl::StrJoin(pieces, " ");
}

}  // namespace nibu
