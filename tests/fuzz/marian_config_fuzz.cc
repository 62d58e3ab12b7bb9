// Fuzzes the reader of Marian's options. The input is a model.yml.
#include <cstdint>
#include <utility>

#include "models/files/yaml.h"
#include "models/formats/marian_config.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto json = nibu::internal::ParseYaml({reinterpret_cast<const char*>(data), size}, "input");
  if (!json.ok()) return 0;
  const auto yml = nibu::internal::ConfigFile::From(*std::move(json), "input");
  if (!yml.ok()) return 0;
  const auto config = nibu::internal::ReadMarianConfig(*yml);
  if (!config.ok() || !config->model.Validate().ok()) return 0;
  (void)nibu::internal::MarianNames(*config, nibu::internal::TensorSource("input"));
  return 0;
}
