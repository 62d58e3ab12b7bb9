// Fuzzes the reader of gzip files, which must not inflate more than the limit.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "absl/strings/match.h"
#include "models/files/gzip.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  if (!nibu::internal::IsGzip(bytes)) return 0;
  constexpr uint64_t kMost = 1 << 20;
  const auto inflated =
      nibu::internal::InflateFile(*nibu::internal::FileBytes::InMemory("input", bytes), kMost);
  if (!inflated.ok()) return 0;
  if (inflated->size() > kMost) std::abort();
  // FrontOf must inflate the beginning of the same text.
  if (!absl::StartsWith(*inflated, nibu::internal::FrontOf(bytes, 100))) std::abort();
  return 0;
}
