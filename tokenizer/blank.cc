#include "tokenizer/blank.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/strip.h"

namespace nibu {
namespace {

constexpr absl::string_view kWide[] = {"\u0085", "\u00a0", "\u1680", "\u2000", "\u2001", "\u2002",
                                       "\u2003", "\u2004", "\u2005", "\u2006", "\u2007", "\u2008",
                                       "\u2009", "\u200a", "\u200b", "\u2028", "\u2029", "\u202f",
                                       "\u205f", "\u3000", "\ufeff"};

}  // namespace

bool IsBlank(absl::string_view text) {
  while (!text.empty()) {
    if (absl::ascii_isspace(static_cast<unsigned char>(text[0]))) {
      text.remove_prefix(1);
    } else if (std::none_of(std::begin(kWide), std::end(kWide), [&](absl::string_view space) {
                 return absl::ConsumePrefix(&text, space);
               })) {
      return false;
    }
  }
  return true;
}

}  // namespace nibu
