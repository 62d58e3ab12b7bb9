#ifndef NIBU_ENGINE_CORE_EXCEPTION_STATUS_H_
#define NIBU_ENGINE_CORE_EXCEPTION_STATUS_H_

#include "absl/status/status.h"

namespace nibu::internal {

// For a catch (...): ResourceExhausted where there was no memory, else Internal with what the
// exception says; its message is empty only where there is no memory for one. Never throws.
absl::Status StatusOfException() noexcept;

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_CORE_EXCEPTION_STATUS_H_
