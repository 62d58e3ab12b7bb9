// Implements nibu::SentenceSplitter with the sentence splitter of the tokenizer folder.
#include "nibu/sentences.h"

#include <algorithm>
#include <utility>

#include "engine/core/exception_status.h"
#include "engine/core/option_error.h"
#include "engine/core/status_macros.h"
#include "tokenizer/sentences/sentence_splitter.h"
#include "tokenizer/unicode/language_code.h"

namespace nibu {

absl::StatusOr<std::unique_ptr<const SentenceSplitter>> SentenceSplitter::Create(
    absl::string_view language) try {
  if (!language.empty() && !internal::IsLanguageCode(language)) {
    return internal::InvalidOption(
        "language", " must be a code such as en, de-DE or zho_Hans, not \"", language, "\"");
  }
  NIBU_ASSIGN_OR_RETURN(auto splitter, internal::SentenceSplitter::Create(language));
  return std::unique_ptr<const SentenceSplitter>(new SentenceSplitter(std::move(splitter)));
} catch (...) {
  return internal::StatusOfException();
}

SentenceSplitter::SentenceSplitter(std::unique_ptr<const internal::SentenceSplitter> splitter)
    : splitter_(std::move(splitter)) {}
SentenceSplitter::~SentenceSplitter() = default;

absl::StatusOr<std::vector<ByteSpan>> SentenceSplitter::Split(absl::string_view text) const try {
  std::vector<ByteSpan> sentences;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    for (const internal::TextSpan& span : splitter_->Split(text.substr(begin, end - begin))) {
      sentences.push_back({begin + span.begin, begin + span.end});
    }
    begin = end + 1;
  }
  return sentences;
} catch (...) {
  return internal::StatusOfException();
}

}  // namespace nibu
