// Errors about an option, which carry its name beside the message.
#ifndef NIBU_ENGINE_CORE_OPTION_ERROR_H_
#define NIBU_ENGINE_CORE_OPTION_ERROR_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace nibu::internal {

// The payload of a status that holds the option's name.
inline constexpr char kOptionPayload[] = "nibu/option";

// InvalidArgument about the option `name`: the message is the name followed by what absl::StrCat
// makes of the parts (" must be 1 to 8, not 9"), so that a caller may put "--" in front of it.
template <typename... Parts>
absl::Status InvalidOption(absl::string_view name, const Parts&... parts) {
  absl::Status status = absl::InvalidArgumentError(absl::StrCat(name, parts...));
  status.SetPayload(kOptionPayload, absl::Cord(name));
  return status;
}

// Returns the same error, which is about the option `name` unless it is about another one already.
// Its message stays as it is.
inline absl::Status WithOption(absl::string_view name, absl::Status status) {
  if (!status.ok() && !status.GetPayload(kOptionPayload).has_value()) {
    status.SetPayload(kOptionPayload, absl::Cord(name));
  }
  return status;
}

// Returns the name of the option that a status is about; empty if it is about none.
inline std::string OptionOf(const absl::Status& status) {
  return std::string(status.GetPayload(kOptionPayload).value_or(absl::Cord()));
}

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_CORE_OPTION_ERROR_H_
