// A span of a text's bytes.
#ifndef NIBU_TOKENIZER_UNICODE_TEXT_SPAN_H_
#define NIBU_TOKENIZER_UNICODE_TEXT_SPAN_H_

#include <cstddef>

namespace nibu::internal {

// The bytes [begin, end) of a text.
struct TextSpan {
  size_t begin;
  size_t end;
  bool operator==(const TextSpan& other) const = default;
};

}  // namespace nibu::internal

#endif  // NIBU_TOKENIZER_UNICODE_TEXT_SPAN_H_
