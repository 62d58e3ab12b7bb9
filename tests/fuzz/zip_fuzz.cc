// Fuzzes the reader of zip archives. All members are read and their checksums checked.
#include <cstdint>
#include <string>

#include "models/files/zip.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const auto archive =
      nibu::internal::ZipArchive::Open(nibu::internal::FileBytes::InMemory("input", bytes));
  if (!archive.ok()) return 0;
  for (const auto& [name, member] : archive->members()) {
    absl::string_view content;
    (void)archive->Read(member, true, &content);
  }
  return 0;
}
