// The objects behind the handles of the C interface, and functions that turn statuses and
// exceptions into its errors. The C interface uses only the public C++ interface.
#ifndef NIBU_TOOLS_TEXT_C_HANDLES_H_
#define NIBU_TOOLS_TEXT_C_HANDLES_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "nibu/c.h"
#include "nibu/nibu.h"

struct nibu_error {
  nibu_status status = NIBU_OK;
  std::string message;
  std::string option;
};

struct nibu_options {
  nibu::ModelOptions model;
  nibu::SpeedOptions speed;
  nibu::Options text;
};

struct nibu_model {
  std::shared_ptr<const nibu::Model> model;
  std::vector<std::pair<const char*, std::string>> facts = {};  // by name
  std::atomic<size_t> owners{1};
};

struct nibu_plan {
  std::shared_ptr<const nibu::Plan> plan;
  nibu::AlignmentKind alignment = nibu::AlignmentKind::kNone;
};

struct nibu_translator {
  std::unique_ptr<const nibu_plan> own = {};  // that of nibu_open, or null
  // Comes last, and so ends first: its destructor waits for requests, whose callbacks use `own`.
  std::unique_ptr<nibu::Translator> translator;

  // Returns the plan that a request has or, for NULL, the translator's own; null if it has none.
  const nibu_plan* PlanOf(const nibu_plan* plan) const {
    return plan != nullptr ? plan : own.get();
  }
};

// The C interface's step is the library's.
struct nibu_step {
  nibu::Step step;
};

struct nibu_request {
  nibu::Request request;     // all settings except the deadline
  double deadline = -1;      // in seconds from the submission; below 0: none
  double queue_timeout = 0;  // in seconds; below 0: as long as it takes
};

struct nibu_ticket {
  nibu::Ticket ticket;
};

struct nibu_result {
  struct Text {
    std::string source;
    nibu::Result result = {};
    // For each hypothesis, the numbers of its alignment, and the names of its warnings.
    std::vector<std::vector<size_t>> alignments = {};
    std::vector<std::string> warnings = {};
  };
  nibu::AlignmentKind alignment = nibu::AlignmentKind::kNone;
  bool is_scored = false;
  std::vector<Text> texts;
};

struct nibu_detector {
  std::unique_ptr<const nibu::LanguageDetector> detector;
};

struct nibu_languages {
  std::vector<nibu::DetectedLanguage> languages;
};

struct nibu_splitter {
  std::unique_ptr<const nibu::SentenceSplitter> splitter;
};

namespace nibu::internal {

// Returns a status as that of the C interface. If `error` is not null, sets *error to a new error,
// or to null if the status is OK or there is no memory.
nibu_status Report(const absl::Status& status, nibu_error** error) noexcept;
// Does the same with the exception that is being handled.
nibu_status ReportException(nibu_error** error) noexcept;

// Calls `body`, which returns an absl::Status, and reports the status or exception.
template <typename F>
nibu_status Guard(nibu_error** error, F body) noexcept {
  try {
    return Report(body(), error);
  } catch (...) {
    return ReportException(error);
  }
}

// Returns the pointer that `make` returns, or null if it throws.
template <typename F>
auto OrNull(F make) noexcept -> decltype(make()) {
  try {
    return make();
  } catch (...) {
    return nullptr;
  }
}

// Returns InvalidArgument, which says that an argument must not be NULL.
absl::Status Missing(absl::string_view argument);
// Clears a value that a function returns through a pointer. Returns Missing if the pointer is null.
template <typename T>
absl::Status Clear(T* output, absl::string_view argument) {
  if (output == nullptr) return Missing(argument);
  *output = T();
  return absl::OkStatus();
}
// Does what Guard does for a function that returns a value through a pointer, and clears that
// value.
template <typename T, typename F>
nibu_status Guard(T* output, absl::string_view argument, nibu_error** error, F body) noexcept {
  return Guard(error, [&] {
    absl::Status status = Clear(output, argument);
    return status.ok() ? body() : status;
  });
}
// Refuses a text without an address, unless its length is 0.
absl::Status CheckText(const char* text, size_t length, absl::string_view argument);
// Returns a text that CheckText has accepted, or one that ends at its NUL. NULL is an empty text.
inline absl::string_view TextOf(const char* text, size_t length) {
  return text == nullptr ? absl::string_view() : absl::string_view(text, length);
}
inline absl::string_view TextOf(const char* text) {
  return text == nullptr ? absl::string_view() : absl::string_view(text);
}

// Returns the contents of a string, which may be null, and sets its length.
inline const char* HandOut(const std::string* text, size_t* length) {
  if (length != nullptr) *length = text == nullptr ? 0 : text->size();
  return text == nullptr ? nullptr : text->c_str();
}

// Copies a text, with a NUL behind it, into memory that nibu_free frees. `length` may be null.
absl::Status CopyOut(absl::string_view text, char** copy, size_t* length);

// Returns a time in seconds; kForever if it is below 0 or very long.
std::chrono::nanoseconds Seconds(double seconds);
// Returns the request with its deadline, which begins now. `request` may be null.
Request RequestOf(const nibu_request* request);

// Sets a text's result, with its alignments and warnings in the form of the C interface.
void SetResult(Result result, nibu_result::Text* text);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_C_HANDLES_H_
