#include "tokenizer/blank.h"

#include <unicode/uchar.h>
#include <unicode/utf8.h>

namespace nibu {

bool IsBlank(int32_t character) {
  return u_isUWhiteSpace(character) || character == 0x200b || character == 0xfeff;
}

bool IsBlank(absl::string_view text) {
  for (size_t i = 0; i < text.size();) {
    int32_t character;
    U8_NEXT(text.data(), i, text.size(), character);
    if (!IsBlank(character)) return false;
  }
  return true;
}

}  // namespace nibu
