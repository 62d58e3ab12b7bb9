// Macros that return from a function with the error of a status, if it is one. They evaluate their
// expression once.
#ifndef NIBU_ENGINE_CORE_STATUS_MACROS_H_
#define NIBU_ENGINE_CORE_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#define NIBU_CONCAT_INNER(a, b) a##b
#define NIBU_CONCAT(a, b) NIBU_CONCAT_INNER(a, b)

// Usage: NIBU_RETURN_IF_ERROR(DoIt());
#define NIBU_RETURN_IF_ERROR(expression)       \
  do {                                         \
    absl::Status nibu_status = (expression);   \
    if (!nibu_status.ok()) return nibu_status; \
  } while (false)

// Usage: NIBU_ASSIGN_OR_RETURN(auto value, Make());
#define NIBU_ASSIGN_OR_RETURN(lhs, expression) \
  NIBU_ASSIGN_OR_RETURN_INNER(NIBU_CONCAT(nibu_status_or_, __LINE__), lhs, expression)
#define NIBU_ASSIGN_OR_RETURN_INNER(statusor, lhs, expression) \
  auto statusor = (expression);                                \
  if (!statusor.ok()) return std::move(statusor).status();     \
  lhs = *std::move(statusor)

#endif  // NIBU_ENGINE_CORE_STATUS_MACROS_H_
