// Normalizes with ICU, whose record of its edits tells where each character comes from.
#include "tokenizer/unicode/nfkc.h"

#include <unicode/bytestream.h>
#include <unicode/edits.h>
#include <unicode/normalizer2.h>

namespace nibu::internal {

std::string Nfkc(absl::string_view text, std::vector<size_t>* sources) {
  UErrorCode status = U_ZERO_ERROR;
  const icu::Normalizer2* const nfkc = icu::Normalizer2::getNFKCInstance(status);
  std::string normalized;
  icu::StringByteSink<std::string> sink(&normalized);
  icu::Edits edits;
  if (U_SUCCESS(status)) {
    nfkc->normalizeUTF8(0, icu::StringPiece(text.data(), static_cast<int32_t>(text.size())), sink,
                        &edits, status);
  }
  sources->clear();
  auto edit = edits.getFineIterator();
  while (U_SUCCESS(status) && edit.next(status)) {
    for (int32_t i = 0; i < edit.newLength(); ++i) {
      const int32_t inside = edit.hasChange() ? 0 : i;
      sources->push_back(static_cast<size_t>(edit.sourceIndex() + inside));
    }
  }
  // Without ICU's data the text stays as it is.
  if (U_FAILURE(status)) {
    normalized = std::string(text);
    sources->clear();
    for (size_t i = 0; i < text.size(); ++i) sources->push_back(i);
  }
  sources->push_back(text.size());
  return normalized;
}

}  // namespace nibu::internal
