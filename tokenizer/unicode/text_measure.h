#ifndef NIBU_TOKENIZER_UNICODE_TEXT_MEASURE_H_
#define NIBU_TOKENIZER_UNICODE_TEXT_MEASURE_H_

#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/string_view.h"

namespace nibu::internal {

// What can be compared between a text and its translation, whatever the languages.
struct TextMeasure {
  // Digits of any script without a break, as ASCII; a zero in front of one other is left out.
  struct Number {
    std::string digits;
    bool alone = true;  // else a part of 1,000 or 3.5 or 18:30
    bool operator<(const Number& other) const {
      return std::tie(digits, alone) < std::tie(other.digits, other.alone);
    }
  };

  double characters = 0;  // an ideograph is 3, another wide one 2: as many as letters would say it
  int sentence_ends = 0;  // full stops and the like, with what they close, before a blank or alone
  std::vector<Number> numbers = {};
};

// Any bytes. Takes time linear in the length.
TextMeasure Measure(absl::string_view text);

}  // namespace nibu::internal

#endif  // NIBU_TOKENIZER_UNICODE_TEXT_MEASURE_H_
