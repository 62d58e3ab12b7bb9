// Finds the protected parts of a text: URLs, paths, placeholders and the like, which come out of a
// translation as they went in.
#ifndef NIBU_TOOLS_TEXT_MARKED_PROTECT_H_
#define NIBU_TOOLS_TEXT_MARKED_PROTECT_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tokenizer/unicode/text_span.h"
#include "tools/text/options/engine_options.h"

namespace nibu::internal {

// Returns the spans of a text's protected parts, sorted. Parts that touch are one part, and none is
// blank. Any bytes are allowed. Threads may share a Protector.
using Protector = std::function<std::vector<TextSpan>(absl::string_view text)>;

// `pattern`: an RE2 expression whose matches are protected, too; empty: none. Returns
// InvalidArgument if RE2 refuses it.
absl::StatusOr<Protector> MakeProtector(const ProtectedKinds& kinds, const std::string& pattern);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_MARKED_PROTECT_H_
