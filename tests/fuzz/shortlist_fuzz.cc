// Fuzzes the reader of lexical shortlists in all of their formats.
#include <cstdint>
#include <string>

#include "models/vocabulary/shortlist_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  nibu::internal::ModelVocabulary vocabulary;
  vocabulary.source_tokens = {"</s>", "<unk>", "x", "y"};
  vocabulary.target_tokens = {"</s>", "<unk>", "p", "q", "r"};
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const auto shortlist = nibu::internal::ReadShortlist(
      *nibu::internal::FileBytes::InMemory("input", bytes), vocabulary, {});
  if (shortlist.ok()) (void)(*shortlist)->Candidates({2, 3, 2, 1}, 5, {0});
  return 0;
}
