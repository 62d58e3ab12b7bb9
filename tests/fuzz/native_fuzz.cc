// Fuzzes the reader of .nibu files, up to the building of small models.
#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "models/assembly/build_model.h"
#include "models/native/native.h"

namespace {

// Corrects the checksum of the header, so that changed bytes of the header are read.
void Repair(std::string* bytes) {
  if (bytes->size() < nibu::internal::kNativePreamble) return;
  uint64_t offset = 0;
  std::memcpy(&offset, bytes->data() + 16, sizeof(offset));
  if (offset > bytes->size()) return;
  const uint64_t size = bytes->size() - offset;
  const auto checksum = static_cast<uint32_t>(
      crc32_z(0, reinterpret_cast<const unsigned char*>(bytes->data()) + offset, size));
  std::memcpy(bytes->data() + 12, &checksum, sizeof(checksum));
  std::memcpy(bytes->data() + 24, &size, sizeof(size));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  Repair(&bytes);
  (void)nibu::internal::IsNative(bytes);
  const auto file = nibu::internal::FileBytes::InMemory("input", bytes);
  (void)nibu::internal::VerifyNative(*file);
  const auto opened = nibu::internal::OpenNative(file);
  if (!opened.ok() || !opened->config.Validate().ok()) return 0;
  if (opened->shortlist != nullptr) {
    (void)opened->shortlist->Candidates({0, 1, 2}, opened->config.vocab_target, {0});
  }
  if (opened->config.d_model <= 16 && opened->config.layers_decoder <= 2) {
    (void)nibu::internal::BuildModel(opened->config, opened->names,
                                     nibu::internal::ComputeType::kFloat32, opened->source.get());
  }
  return 0;
}
