// Parts of a text that are no words, and come out of a translation as they went in.
#ifndef NIBU_TOOLS_TEXT_PROTECT_H_
#define NIBU_TOOLS_TEXT_PROTECT_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tokenizer/text_span.h"
#include "tools/text/text_options.h"

namespace re2 {
class RE2;
}

namespace nibu {

// Immutable; threads may share it.
class Protector {
 public:
  // `pattern`: an RE2 expression of what is protected, too; empty: none. InvalidArgument: it is
  // none.
  static absl::StatusOr<std::unique_ptr<const Protector>> Create(const ProtectedKinds& kinds,
                                                                 const std::string& pattern);
  // In order, apart from each other: what touches is one part. None is blank. Any bytes are text.
  std::vector<TextSpan> Find(absl::string_view text) const;

 private:
  std::shared_ptr<const re2::RE2> own_;    // the user's; null: none
  std::shared_ptr<const re2::RE2> kinds_;  // null: none
};

}  // namespace nibu

#endif  // NIBU_TOOLS_TEXT_PROTECT_H_
