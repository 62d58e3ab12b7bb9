// The checksum by which a benchmark says what text it has translated.
#ifndef NIBU_TOOLS_BENCH_SHA256_H_
#define NIBU_TOOLS_BENCH_SHA256_H_

#include <string>

#include "absl/strings/string_view.h"

namespace nibu::internal {

// Returns the SHA-256 (FIPS 180-4) of bytes in hexadecimal, as sha256sum prints it.
std::string Sha256(absl::string_view bytes);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_BENCH_SHA256_H_
