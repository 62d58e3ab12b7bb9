// Reports in which test, and where, a signal such as SIGSEGV ends a test program. A crash that
// happens once in a hundred runs leaves no other trace.
#include <unistd.h>

#include <cstring>

#include "absl/debugging/failure_signal_handler.h"
#include "absl/debugging/symbolize.h"
#include "gtest/gtest.h"

namespace nibu::internal {
namespace {

void Say(const char* text) { (void)!write(STDERR_FILENO, text, std::strlen(text)); }

// Writes the name of the current test. The failure handler calls it with its report, line by line,
// and with null once the report is complete, which is when the name is written.
void SayTest(const char* text) {
  const testing::TestInfo* const test = testing::UnitTest::GetInstance()->current_test_info();
  if (text != nullptr || test == nullptr) return;
  Say("in ");
  Say(test->test_suite_name());
  Say(".");
  Say(test->name());
  Say("\n");
}

[[maybe_unused]] const bool is_installed = [] {
  absl::InitializeSymbolizer("");
  absl::FailureSignalHandlerOptions options;
  options.writerfn = &SayTest;
  absl::InstallFailureSignalHandler(options);
  return true;
}();

}  // namespace
}  // namespace nibu::internal
