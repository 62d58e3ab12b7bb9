// Text to pieces and back.
#ifndef NIBU_TOKENIZER_TOKENIZER_H_
#define NIBU_TOKENIZER_TOKENIZER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace nibu {

// Immutable; threads may share it.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  // Any bytes are text; what is not UTF-8 becomes unknown characters.
  virtual absl::StatusOr<std::vector<std::string>> Encode(absl::string_view text) const = 0;
  virtual absl::StatusOr<std::string> Decode(absl::Span<const std::string> pieces) const = 0;
};

}  // namespace nibu

#endif  // NIBU_TOKENIZER_TOKENIZER_H_
