// Measures a text for comparing it with its translation.
#ifndef NIBU_TOKENIZER_UNICODE_TEXT_MEASURE_H_
#define NIBU_TOKENIZER_UNICODE_TEXT_MEASURE_H_

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/string_view.h"

namespace nibu::internal {

// The properties of a text that a translation into any language should nearly keep.
struct TextMeasure {
  // A run of digits of any script, written in ASCII. "07" is "7", since dates have both forms.
  struct Number {
    std::string digits;
    bool alone = true;  // false: it is a part of a number such as 1,000, 3.5 or 18:30
    bool operator<(const Number& other) const {
      return std::tie(digits, alone) < std::tie(other.digits, other.alone);
    }
  };

  // An ideograph counts as 3 and another wide character as 2, about as many as the letters of an
  // alphabet that would say the same.
  double characters = 0;
  // Full stops and stronger marks, several in a row as one, before a blank or the end of the text.
  // Quotes and brackets may close between them. A wide mark (。) needs no blank.
  int sentence_ends = 0;
  std::vector<Number> numbers = {};
  std::vector<int32_t> currencies = {};  // the signs of currencies
};

// Measures any bytes, in time linear in their number.
TextMeasure Measure(absl::string_view text);

}  // namespace nibu::internal

#endif  // NIBU_TOKENIZER_UNICODE_TEXT_MEASURE_H_
