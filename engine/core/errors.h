// Errors of files: one line that says what is wrong, in which file, and what to do.
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

// What absl::StrCat makes of the parts, as a status: bytes or options that are wrong, or bytes that
// may be right, but that nibu does not read.
template <typename... Parts>
absl::Status Invalid(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}
template <typename... Parts>
absl::Status NotSupported(const Parts&... parts) {
  return absl::UnimplementedError(absl::StrCat(parts...));
}

// nlohmann's values do not survive a failed allocation: this one, of as much as a document of so
// many bytes may take, fails first, with std::bad_alloc.
inline void ReserveForJson(size_t bytes) { ProbeMemory((size_t{1} << 20) + 32 * bytes); }

// f(), a status or StatusOr; ResourceExhausted naming `path` where memory does not suffice.
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
