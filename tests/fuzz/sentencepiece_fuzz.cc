#include <cstdint>

#include "models/vocabulary/sentencepiece_pieces.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  (void)nibu::ReadSentencePieces({reinterpret_cast<const char*>(data), size}, "input");
  return 0;
}
