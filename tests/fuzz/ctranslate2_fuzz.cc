// Fuzzes the readers of CTranslate2's model.bin and of the configuration in it.
#include <cstdint>
#include <string>

#include "models/containers/ctranslate2_bin.h"
#include "models/formats/ctranslate2.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  (void)nibu::internal::IsCTranslate2Bin(bytes);
  auto file =
      nibu::internal::ReadCTranslate2Bin(nibu::internal::FileBytes::InMemory("input", bytes));
  if (!file.ok()) return 0;
  const auto config = nibu::internal::ReadCTranslate2Config(file->spec, &file->source);
  if (!config.ok()) return 0;
  (void)config->Validate();
  (void)nibu::internal::CTranslate2Names(*config, file->source);
  return 0;
}
