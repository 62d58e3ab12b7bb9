// Reads and changes the headers of .nibu files.
#ifndef NIBU_TESTS_MODELS_NATIVE_FILE_H_
#define NIBU_TESTS_MODELS_NATIVE_FILE_H_

#include <zlib.h>

#include <cstring>
#include <functional>
#include <string>

#include "nlohmann/json.hpp"

namespace nibu::internal::testing {

// Returns the file with another header and with correct sizes and checksums.
inline std::string WithHeaderText(const std::string& file, const std::string& header) {
  uint64_t offset = 0;
  std::memcpy(&offset, file.data() + 16, sizeof(offset));
  const uint64_t size = header.size();
  const auto checksum = static_cast<uint32_t>(
      crc32(0, reinterpret_cast<const unsigned char*>(header.data()), static_cast<uInt>(size)));
  std::string changed = file.substr(0, offset) + header;
  std::memcpy(changed.data() + 12, &checksum, sizeof(checksum));
  std::memcpy(changed.data() + 24, &size, sizeof(size));
  return changed;
}

// Returns the file's header.
inline nlohmann::json Header(const std::string& file) {
  uint64_t offset = 0;
  std::memcpy(&offset, file.data() + 16, sizeof(offset));
  return nlohmann::json::parse(file.substr(offset));
}

inline std::string WithHeader(const std::string& file,
                              const std::function<void(nlohmann::json*)>& change) {
  nlohmann::json json = Header(file);
  change(&json);
  return WithHeaderText(file, json.dump());
}

}  // namespace nibu::internal::testing

#endif  // NIBU_TESTS_MODELS_NATIVE_FILE_H_
