// Finds a language token, ">>xx<<" (OPUS-MT) or "<2xx>" (MADLAD-400), in front of a line. It tells
// a multilingual model the target language.
#ifndef NIBU_TOKENIZER_SUBWORDS_LANGUAGE_TOKEN_H_
#define NIBU_TOKENIZER_SUBWORDS_LANGUAGE_TOKEN_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tokenizer/subwords/vocabulary.h"

namespace nibu::internal {

// Removes a language token that the vocabulary has, with the blanks around it, from the front of
// the text. Returns the token; empty if there is none, and the text is unchanged then.
std::string TakeLanguageToken(const Vocabulary& vocabulary, absl::string_view* text);

// Returns the language token that a text begins with, behind blanks, whether a vocabulary has it or
// not; empty if there is none.
absl::string_view LanguageTokenOf(absl::string_view text);

// Returns how many of a line's first pieces are its language token: 0, 1, or 2 where SentencePiece
// has put the start of a word, "▁", in front of the token.
size_t LanguagePrefix(const Vocabulary& vocabulary, absl::Span<const std::string> pieces);

}  // namespace nibu::internal

#endif  // NIBU_TOKENIZER_SUBWORDS_LANGUAGE_TOKEN_H_
