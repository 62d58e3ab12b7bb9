// Finds tokens in a block of logits.
#include "engine/core/logits.h"

#include <algorithm>

namespace nibu::internal {

int LogitTokens::Find(int token) const {
  if (listed_ == nullptr) return token >= first_ && token < first_ + count_ ? token - first_ : -1;
  const int* const found = std::lower_bound(listed_, listed_ + count_, token);
  return found < listed_ + count_ && *found == token ? static_cast<int>(found - listed_) : -1;
}

}  // namespace nibu::internal
