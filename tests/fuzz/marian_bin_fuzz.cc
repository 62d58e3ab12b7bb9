// Fuzzes the reader of Marian's .bin files.
#include <cstdint>
#include <string>

#include "models/containers/marian_bin.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  (void)nibu::internal::ReadMarianBin(nibu::internal::FileBytes::InMemory("input", bytes));
  return 0;
}
