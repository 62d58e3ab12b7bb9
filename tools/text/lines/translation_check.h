// Decides whether a translation looks suspicious: too short or long, looping, with other numbers.
#ifndef NIBU_TOOLS_TEXT_LINES_TRANSLATION_CHECK_H_
#define NIBU_TOOLS_TEXT_LINES_TRANSLATION_CHECK_H_

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

// The number words of source and target. Null if the language is not known; then any small number
// may be a word on the other side.
struct SaidNumbers {
  const NumberWords* source = nullptr;
  const NumberWords* target = nullptr;
};

// Returns the warnings about a sentence's hypothesis, whose text is `target`, except kTruncated and
// kProtected. They depend on nothing but the arguments. `expected_tokens`: how many tokens the
// model is expected to generate. Lengths are compared in tokens and in characters, and both have to
// be off, since one alone may differ between languages.
Warnings CheckTranslation(absl::string_view source, float expected_tokens, absl::string_view target,
                          const Hypothesis& hypothesis, const SaidNumbers& said = {});

// Returns whether a translation has its source's numbers, times and amounts of money: the digits of
// each number, or its words; 7 p.m. or 19; no other currency, nor none where the source has
// one; and no more digits that touch a word in front of them.
bool HasSameNumbers(absl::string_view source, absl::string_view target, const SaidNumbers& said);

// Returns whether each of `parts` occurs in the text as often as in `parts` (once, unless parts are
// equal or contain each other). REQUIRES: none is empty.
bool HasEachOnce(absl::Span<const std::string> parts, absl::string_view text);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_LINES_TRANSLATION_CHECK_H_
