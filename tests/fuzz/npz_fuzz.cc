// Fuzzes the reader of NumPy's .npz files.
#include <cstdint>
#include <string>

#include "models/containers/npz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  (void)nibu::internal::ReadNpz(nibu::internal::FileBytes::InMemory("input", bytes));
  return 0;
}
