#ifndef NIBU_TOKENIZER_BETWEEN_SENTENCES_H_
#define NIBU_TOKENIZER_BETWEEN_SENTENCES_H_

#include "absl/strings/string_view.h"

namespace nibu {

// What stands between the translations `before` and `after` of two sentences with the white space
// `between` them: the same, but for the blank that some scripts write there and others (Chinese,
// Japanese) do not.
absl::string_view BetweenTranslations(absl::string_view between, absl::string_view before,
                                      absl::string_view after);

// What stands between two lines of a paragraph when they become one: a blank, or nothing in scripts
// that write none between words.
absl::string_view BetweenLines(absl::string_view before, absl::string_view after);

}  // namespace nibu

#endif  // NIBU_TOKENIZER_BETWEEN_SENTENCES_H_
