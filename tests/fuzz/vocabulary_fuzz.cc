// Fuzzes the readers of vocabularies: lines of two formats, lines with counts, a JSON array, and
// {token: id}.
#include <cstdint>

#include "models/files/json.h"
#include "models/formats/ctranslate2.h"
#include "models/formats/fairseq.h"
#include "models/vocabulary/vocabulary_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  (void)nibu::internal::ReadCTranslate2Vocabulary(bytes, "input");
  (void)nibu::internal::ReadFairseqDictionary(bytes, "input");
  (void)nibu::internal::ReadTokenLines(bytes, "input");
  const auto json = nibu::internal::ParseJson(bytes, "input");
  if (json.ok()) (void)nibu::internal::TokensById(*json, "input", 3, "the model");
  return 0;
}
