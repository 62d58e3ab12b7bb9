// Tests that a sanitizer build leaves out say so in their first line, with these macros;
// tools/dev/skipped.sh lists them after a run. Files that use threads say so in a line "// Threads:
// the thread sanitizer runs this file.": tests/CMakeLists.txt compiles no other test files for the
// thread sanitizer.
#ifndef NIBU_TESTS_SANITIZERS_H_
#define NIBU_TESTS_SANITIZERS_H_

#include "absl/base/config.h"
#include "gtest/gtest.h"

namespace nibu::internal {

#ifdef ABSL_HAVE_ADDRESS_SANITIZER
inline constexpr bool kAddressSanitizer = true;
#else
inline constexpr bool kAddressSanitizer = false;
#endif
#ifdef ABSL_HAVE_THREAD_SANITIZER
inline constexpr bool kThreadSanitizer = true;
#else
inline constexpr bool kThreadSanitizer = false;
#endif
inline constexpr bool kSanitized = kAddressSanitizer || kThreadSanitizer;

}  // namespace nibu::internal

// Skips a test that translates so many lines that it takes minutes under a sanitizer, while others
// run the same code with fewer lines.
#define NIBU_TOO_SLOW_FOR_SANITIZERS() \
  if (nibu::internal::kSanitized) GTEST_SKIP() << "too slow under a sanitizer"

// Skips a test of a file with threads that itself uses one thread only.
#define NIBU_NOTHING_FOR_THREAD_SANITIZER() \
  if (nibu::internal::kThreadSanitizer)     \
  GTEST_SKIP() << "one thread: nothing for the thread sanitizer"

#endif  // NIBU_TESTS_SANITIZERS_H_
