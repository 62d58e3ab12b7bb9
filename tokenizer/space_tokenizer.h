#ifndef NIBU_TOKENIZER_SPACE_TOKENIZER_H_
#define NIBU_TOKENIZER_SPACE_TOKENIZER_H_

#include <string>
#include <vector>

#include "tokenizer/tokenizer.h"

namespace nibu {

// Text that is in pieces already, separated by white space.
class SpaceTokenizer : public Tokenizer {
 public:
  absl::StatusOr<std::vector<std::string>> Encode(absl::string_view text) const override;
  absl::StatusOr<std::string> Decode(absl::Span<const std::string> pieces) const override;
};

}  // namespace nibu

#endif  // NIBU_TOKENIZER_SPACE_TOKENIZER_H_
