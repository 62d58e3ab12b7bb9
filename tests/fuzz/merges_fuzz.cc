// Fuzzes the merges of subword-nmt, and a text that they split: the file, a NUL, and the text.
#include <cstdint>
#include <cstdlib>

#include "absl/strings/string_view.h"
#include "tokenizer/subwords/merges.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using nibu::internal::SubwordMerges;
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  const size_t end = bytes.find('\0');
  static const auto& vocabulary =
      *new nibu::internal::Vocabulary(*nibu::internal::Vocabulary::Create({"<unk>", "a"}, 0));
  (void)SubwordMerges::IsMerges(bytes);
  const auto merges = SubwordMerges::FromText(bytes.substr(0, end), vocabulary);
  if (!merges.ok() || end == bytes.npos) return 0;
  std::vector<nibu::internal::TextSpan> spans;
  const auto pieces = (*merges)->Encode(bytes.substr(end + 1), &spans);
  for (const auto& span : spans) {
    if (span.begin >= span.end || span.end > bytes.size()) std::abort();
  }
  spans.clear();
  (void)(*merges)->Decode(pieces, &spans);
  if (spans.size() != pieces.size()) std::abort();
  return 0;
}
