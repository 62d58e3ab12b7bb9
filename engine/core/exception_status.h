// Turns exceptions into statuses.
#ifndef NIBU_ENGINE_CORE_EXCEPTION_STATUS_H_
#define NIBU_ENGINE_CORE_EXCEPTION_STATUS_H_

#include "absl/status/status.h"

namespace nibu::internal {

// Returns a status for the exception that is being handled; to be called in a catch (...).
// std::bad_alloc: ResourceExhausted. Other exceptions: Internal with the exception's message. If
// there is no memory for a message: ResourceExhausted without one. Never throws.
absl::Status StatusOfException() noexcept;

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_CORE_EXCEPTION_STATUS_H_
