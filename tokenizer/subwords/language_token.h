// ">>xx<<" (OPUS-MT) or "<2xx>" (MADLAD-400) in front of a line: the target language of a
// multilingual model.
#ifndef NIBU_TOKENIZER_SUBWORDS_LANGUAGE_TOKEN_H_
#define NIBU_TOKENIZER_SUBWORDS_LANGUAGE_TOKEN_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tokenizer/subwords/vocabulary.h"

namespace nibu::internal {

// Takes a language token of the vocabulary off the front of the text, with the blanks around it,
// and returns it; empty when there is none.
std::string TakeLanguageToken(const Vocabulary& vocabulary, absl::string_view* text);

// How many of a line's first pieces say its language: 0, 1, or 2 where SentencePiece has put the
// start of a word, "▁", in front of the token.
size_t LanguagePrefix(const Vocabulary& vocabulary, absl::Span<const std::string> pieces);

}  // namespace nibu::internal

#endif  // NIBU_TOKENIZER_SUBWORDS_LANGUAGE_TOKEN_H_
