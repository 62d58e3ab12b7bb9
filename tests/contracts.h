// Tests of contracts: where a header's comment says REQUIRES, an ABSL_ASSERT ends the process if
// the caller breaks it. Each test breaks contracts on purpose.
#ifndef NIBU_TESTS_CONTRACTS_H_
#define NIBU_TESTS_CONTRACTS_H_

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace nibu {

// The fixture of these tests. Builds without assertions (NDEBUG, as in release) skip them and say
// so; the builds with sanitizers have assertions.
class ContractTest : public testing::Test {
 protected:
  void SetUp() override {
#ifdef NDEBUG
    GTEST_SKIP() << "this build has no assertions; those with sanitizers test contracts";
#endif
  }
};

}  // namespace nibu

// Expects that the statement ends the process at the assertion whose condition contains this text.
#define EXPECT_BROKEN(statement, condition)                                   \
  EXPECT_DEATH(statement, ::testing::AllOf(::testing::HasSubstr("Assertion"), \
                                           ::testing::HasSubstr(condition)))

#endif  // NIBU_TESTS_CONTRACTS_H_
