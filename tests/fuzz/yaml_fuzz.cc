// Fuzzes the YAML parser.
#include <cstdint>

#include "models/files/yaml.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  (void)nibu::internal::ParseYaml({reinterpret_cast<const char*>(data), size}, "input");
  return 0;
}
