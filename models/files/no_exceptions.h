// The doors of models let no exception out.
#ifndef NIBU_MODELS_FILES_NO_EXCEPTIONS_H_
#define NIBU_MODELS_FILES_NO_EXCEPTIONS_H_

#include <new>
#include <stdexcept>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace nibu {

// f(), a status or StatusOr; ResourceExhausted naming `path` where memory does not suffice.
template <typename F>
auto WithinMemory(const std::string& path, F f) -> decltype(f()) {
  try {
    return f();
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  }
  return absl::ResourceExhaustedError(
      absl::StrCat(path, ": there is not enough memory for it; close other programs, or use a ",
                   "smaller model"));
}

}  // namespace nibu

#endif  // NIBU_MODELS_FILES_NO_EXCEPTIONS_H_
