#include "tokenizer/blank.h"

#include <unicode/uchar.h>
#include <unicode/utf8.h>

namespace nibu {

bool IsBlank(int32_t character) {
  return u_isUWhiteSpace(character) || character == 0x200b || character == 0xfeff;
}

size_t BlankPrefix(absl::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const size_t begin = i;
    int32_t character;
    U8_NEXT(text.data(), i, text.size(), character);
    if (!IsBlank(character)) return begin;
  }
  return text.size();
}

bool IsBlank(absl::string_view text) { return BlankPrefix(text) == text.size(); }

}  // namespace nibu
