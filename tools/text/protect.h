// Parts of a text that are no words, and come out of a translation as they went in.
#ifndef NIBU_TOOLS_TEXT_PROTECT_H_
#define NIBU_TOOLS_TEXT_PROTECT_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tokenizer/unicode/text_span.h"
#include "tools/text/text_options.h"

namespace nibu::internal {

// The parts of a text: in order, apart from each other; what touches is one part. None is blank.
// Any bytes are text. Threads may share it.
using Protector = std::function<std::vector<TextSpan>(absl::string_view text)>;

// `pattern`: an RE2 expression of what is protected, too; empty: none. InvalidArgument: it is none.
absl::StatusOr<Protector> MakeProtector(const ProtectedKinds& kinds, const std::string& pattern);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_PROTECT_H_
