// Tests of StatusOfException: the status that says what was thrown.
#include "engine/core/exception_status.h"

#include <new>
#include <stdexcept>

#include "gtest/gtest.h"

namespace nibu::internal {
namespace {

template <typename T>
absl::Status StatusOf(const T& thrown) try {
  throw T(thrown);
} catch (...) {
  return StatusOfException();
}

TEST(ExceptionStatusTest, SaysWhatWasThrown) {
  EXPECT_TRUE(absl::IsResourceExhausted(StatusOf(std::bad_alloc())));
  EXPECT_EQ(StatusOf(std::runtime_error("no such thing")), absl::InternalError("no such thing"));
  EXPECT_TRUE(absl::IsInternal(StatusOf(3)));
  EXPECT_NE(StatusOf(3).message(), "");
}

}  // namespace
}  // namespace nibu::internal
