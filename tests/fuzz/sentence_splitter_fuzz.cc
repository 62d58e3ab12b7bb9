// Fuzzes the sentence splitters of several languages. The input is a line, and nothing may be lost.
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "tokenizer/sentences/sentence_splitter.h"
#include "tokenizer/unicode/characters.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::unique_ptr<nibu::internal::SentenceSplitter> splitters[] = {
      *nibu::internal::SentenceSplitter::Create("en"),
      *nibu::internal::SentenceSplitter::Create("de"),
      *nibu::internal::SentenceSplitter::Create("hy"),
      *nibu::internal::SentenceSplitter::Create("zh")};
  const absl::string_view line(reinterpret_cast<const char*>(data), size);
  for (const auto& splitter : splitters) {
    size_t end = 0;
    for (const nibu::internal::TextSpan& span : splitter->Split(line)) {
      if (span.begin < end || span.end <= span.begin || span.end > size) std::abort();
      if (!nibu::internal::IsBlank(line.substr(end, span.begin - end))) std::abort();
      end = span.end;
    }
    if (!nibu::internal::IsBlank(line.substr(end))) std::abort();
  }
  return 0;
}
