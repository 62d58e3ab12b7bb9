// Fuzzes the reader of zipped Argos Translate packages. The input is such a package.
#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "models/formats/argos.h"

namespace {

template <typename T>
T At(const std::string& bytes, size_t at) {
  T value{};
  if (at <= bytes.size() && sizeof(T) <= bytes.size() - at) {
    std::memcpy(&value, bytes.data() + at, sizeof(T));
  }
  return value;
}

// Corrects the checksums of stored members (zip.h says where they lie), so that changed bytes
// behind them are read.
void Repair(std::string* bytes) {
  for (size_t entry = 0; (entry = bytes->find("PK\1\2", entry)) != std::string::npos; ++entry) {
    const size_t member = At<uint32_t>(*bytes, entry + 42);
    const size_t data =
        member + 30 + At<uint16_t>(*bytes, member + 26) + At<uint16_t>(*bytes, member + 28);
    const size_t size = At<uint32_t>(*bytes, entry + 20);
    if (data > bytes->size() || size > bytes->size() - data || entry + 20 > bytes->size()) continue;
    const auto crc = static_cast<uint32_t>(
        crc32_z(0, reinterpret_cast<const unsigned char*>(bytes->data()) + data, size));
    std::memcpy(bytes->data() + entry + 16, &crc, sizeof(crc));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  Repair(&bytes);
  const auto package = nibu::internal::FindZippedArgos(
      nibu::internal::FileBytes::InMemory("input.argosmodel", bytes));
  if (!package.ok() || !package->has_value()) return 0;
  const auto opened = nibu::internal::OpenArgos(**package);
  if (opened.ok()) (void)opened->config.Validate();
  return 0;
}
