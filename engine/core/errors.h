// Makes the errors of files: one line that says what is wrong, in which file, and what to do.
#ifndef NIBU_ENGINE_CORE_ERRORS_H_
#define NIBU_ENGINE_CORE_ERRORS_H_

#include <new>
#include <stdexcept>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/core/exception_status.h"
#include "engine/core/huge_memory.h"

namespace nibu::internal {

// Returns a status whose message is what absl::StrCat makes of the parts, about bytes or options
// that are wrong.
template <typename... Parts>
absl::Status Invalid(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}
// Returns such a status about bytes that may be right, but that nibu does not read.
template <typename... Parts>
absl::Status NotSupported(const Parts&... parts) {
  return absl::UnimplementedError(absl::StrCat(parts...));
}

// Throws std::bad_alloc if there is not so much memory as parsing a JSON document of so many bytes
// may take. To be called before nlohmann's parser, whose values do not survive a failed allocation.
inline void ReserveForJson(size_t bytes) { ProbeMemory((size_t{1} << 20) + 32 * bytes); }

// Returns f(), which is a Status or StatusOr. If f runs out of memory: ResourceExhausted that names
// `path`. If it throws anything else: StatusOfException().
template <typename F>
auto WithinMemory(const std::string& path, F f) -> decltype(f()) {
  try {
    try {
      ReserveForJson(0);
      return f();
    } catch (const std::bad_alloc&) {
    } catch (const std::length_error&) {
    }
    return absl::ResourceExhaustedError(
        absl::StrCat(path, ": there is not enough memory for it; close other programs, or use a ",
                     "smaller model"));
  } catch (...) {
    return StatusOfException();
  }
}

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_CORE_ERRORS_H_
