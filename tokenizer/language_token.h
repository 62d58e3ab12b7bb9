// ">>xx<<" in front of a line: the target language of a multilingual OPUS-MT model.
#ifndef NIBU_TOKENIZER_LANGUAGE_TOKEN_H_
#define NIBU_TOKENIZER_LANGUAGE_TOKEN_H_

#include <string>

#include "absl/strings/string_view.h"
#include "tokenizer/vocabulary.h"

namespace nibu {

// ">>" ... "<<" without blanks.
bool IsLanguageToken(absl::string_view token);

// Takes a language token of the vocabulary off the front of the text, with the blanks around it,
// and returns it; empty when there is none.
std::string TakeLanguageToken(const Vocabulary& vocabulary, absl::string_view* text);

}  // namespace nibu

#endif  // NIBU_TOKENIZER_LANGUAGE_TOKEN_H_
