// Implements the versions, the errors and nibu_free of nibu/c.h.

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

#include "absl/strings/str_cat.h"
#include "tools/c/handles.h"

namespace nibu::internal {
namespace {

constexpr char kNoMemory[] = "out of memory";

nibu_status Fail(nibu_status status, absl::string_view message, const std::string& option,
                 nibu_error** error) noexcept {
  if (error == nullptr) return status;
  *error = nullptr;
  try {
    *error =
        std::make_unique<nibu_error>(nibu_error{status, std::string(message), option}).release();
  } catch (...) {  // There is no memory for the error, so the caller gets only the status.
  }
  return status;
}

}  // namespace

nibu_status Report(const absl::Status& status, nibu_error** error) noexcept {
  if (error != nullptr) *error = nullptr;
  if (status.ok()) return NIBU_OK;
  std::string option;
  try {
    option = OptionOfError(status);
  } catch (...) {  // There is no memory for the option's name, which the message has, too.
  }
  // The numbers are those of Abseil. A status has no message if there was no memory for it.
  const absl::string_view message = status.message();
  return Fail(static_cast<nibu_status>(status.code()), message.empty() ? kNoMemory : message,
              option, error);
}

nibu_status ReportException(nibu_error** error) noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return Fail(NIBU_RESOURCE_EXHAUSTED, kNoMemory, "", error);
  } catch (const std::exception& e) {
    return Fail(NIBU_INTERNAL, e.what(), "", error);
  } catch (...) {
    return Fail(NIBU_INTERNAL, "an exception was thrown that is no std::exception", "", error);
  }
}

absl::Status Missing(absl::string_view argument) {
  return absl::InvalidArgumentError(absl::StrCat(argument, " must not be NULL"));
}

absl::Status CheckText(const char* text, size_t length, absl::string_view argument) {
  return text == nullptr && length > 0 ? Missing(argument) : absl::OkStatus();
}

absl::Status CopyOut(absl::string_view text, char** copy, size_t* length) {
  *copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (*copy == nullptr) throw std::bad_alloc();
  if (!text.empty()) std::memcpy(*copy, text.data(), text.size());
  (*copy)[text.size()] = '\0';
  if (length != nullptr) *length = text.size();
  return absl::OkStatus();
}

std::chrono::nanoseconds Seconds(double seconds) {
  constexpr double kMost = 1e9;  // 31 years; their nanoseconds are an int64
  if (std::isnan(seconds)) return std::chrono::nanoseconds(0);
  if (seconds < 0 || seconds > kMost) return kForever;
  return std::chrono::nanoseconds(static_cast<int64_t>(seconds * 1e9));
}

}  // namespace nibu::internal

const char* nibu_version(void) { return nibu::Version(); }
int32_t nibu_version_number(void) { return nibu::VersionNumber(); }
int32_t nibu_abi_version(void) { return NIBU_ABI_VERSION; }

const char* nibu_error_message(const nibu_error* error) {
  return error == nullptr ? nibu::internal::kNoMemory : error->message.c_str();
}

nibu_status nibu_error_status(const nibu_error* error) {
  return error == nullptr ? NIBU_RESOURCE_EXHAUSTED : error->status;
}

const char* nibu_error_option(const nibu_error* error) {
  return error == nullptr ? "" : error->option.c_str();
}

void nibu_error_free(nibu_error* error) { delete error; }
void nibu_free(void* memory) { std::free(memory); }
