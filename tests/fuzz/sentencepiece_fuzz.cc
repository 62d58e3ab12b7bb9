// Fuzzes the reader of the pieces of a SentencePiece model.
#include <cstdint>

#include "models/vocabulary/vocabulary_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  (void)nibu::internal::ReadSentencePieces({reinterpret_cast<const char*>(data), size}, "input");
  return 0;
}
