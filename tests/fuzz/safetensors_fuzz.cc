// Fuzzes the reader of .safetensors files.
#include <cstdint>
#include <string>

#include "models/containers/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  (void)nibu::internal::ReadSafetensors(nibu::internal::FileBytes::InMemory("input", bytes));
  return 0;
}
