// Rethrows the exception that is being handled to find out what it is.
#include "engine/core/exception_status.h"

#include <exception>
#include <new>

namespace nibu::internal {

absl::Status StatusOfException() noexcept {
  try {
    try {
      throw;
    } catch (const std::bad_alloc&) {
      return absl::ResourceExhaustedError(
          "out of memory; free some, or use fewer threads or smaller batches");
    } catch (const std::exception& e) {
      return absl::InternalError(e.what());
    } catch (...) {
      return absl::InternalError("an exception was thrown that is no std::exception");
    }
  } catch (...) {  // no memory for a message
    return absl::Status(absl::StatusCode::kResourceExhausted, "");
  }
}

}  // namespace nibu::internal
