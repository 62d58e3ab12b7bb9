// Finds the protected parts of a text: URLs, paths, placeholders and the like, which come out of a
// translation as they went in.
#ifndef NIBU_TOOLS_TEXT_MARKED_PROTECT_H_
#define NIBU_TOOLS_TEXT_MARKED_PROTECT_H_

#include <cstdint>
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

// The kind of word that the model reads in place of a protected part.
enum class StandIn : uint8_t {
  kNone,    // nothing: the part is no word of its sentence (":)", a time code)
  kName,    // "Tom"
  kNumber,  // "25"
  kAny,     // a name or a number, as what follows it says; StandInFor returns one of these
};

// Returns whether a part is a sign that is one only at the edge of a text: "→ Next", "— Hello".
bool IsEdgeSign(absl::string_view part);

// Returns whether a part is a message of ICU with texts in it: {n, plural, one {# file} ...}
bool HasTexts(absl::string_view part);

// Returns whether a part may stand beside a sentence without being a word of it, as names of users,
// #tags and URLs do.
bool StandsApart(absl::string_view part);

// Returns the amounts of money, times and numbers of two digits or more: "$19.99", "5 €", "7:45
// p.m.".
std::vector<TextSpan> FindAmounts(absl::string_view text);

// Returns what stands for a part with the text `behind` it. The part may have tags in it.
StandIn StandInFor(absl::string_view part, absl::string_view behind);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_MARKED_PROTECT_H_
