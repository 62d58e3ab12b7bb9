// What makes a translation suspicious.
#ifndef NIBU_TOOLS_TEXT_WATCH_H_
#define NIBU_TOOLS_TEXT_WATCH_H_

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "engine/search/beam_search.h"
#include "nibu/result.h"
#include "tokenizer/sentences/number_words.h"

namespace nibu::internal {

// How source and target say numbers; null: not known, and a small number may be a word on the other
// side.
struct SaidNumbers {
  const NumberWords* source = nullptr;
  const NumberWords* target = nullptr;
};

// Of one sentence's hypothesis, whose text is `target`; all but kTruncated and kProtected. It
// depends on nothing else. Lengths are judged in the model's own tokens, of which so many are
// expected, and in characters: both have to be off, since either alone may differ between
// languages.
Warnings Watch(absl::string_view source, float expected_tokens, absl::string_view target,
               const Hypothesis& hypothesis, const SaidNumbers& said = {});

// Whether each of the parts (not empty) is in the text as often as in all of them.
bool HasEachOnce(absl::Span<const std::string> parts, absl::string_view text);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_WATCH_H_
