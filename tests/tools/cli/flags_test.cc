// Flags.
#include "tools/cli/flags.h"

#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "gtest/gtest.h"
#include "tests/paths.h"

ABSL_FLAG(int, test_number, 4, "A number.");
ABSL_FLAG(bool, test_switch, false, "A switch.");
ABSL_FLAG(nibu::internal::AutoBool, test_auto, nibu::internal::AutoBool(),
          "A switch with a mind of its own.");
ABSL_FLAG(std::string, test_text, "", "A text.");
ABSL_FLAG(int, test_hidden, 1, "Not of this program.");

namespace nibu::internal {
namespace {

ProgramInfo Program() {
  return {"test", "[flags]", "A test.", {{"All", "test_number test_switch test_auto test_text"}}};
}

using Arguments = std::vector<std::string>;

TEST(FlagsTest, OnlyWhatTheUserSaidIsWrongUsage) {
  EXPECT_EQ(ExitStatus(UsageError(absl::InvalidArgumentError("beam_size must be 1"))), 2);
  EXPECT_EQ(ExitStatus(UsageError(absl::ResourceExhaustedError("out of memory"))), 1);
  EXPECT_EQ(ExitStatus(UsageError(absl::OkStatus())), 0);
}

TEST(FlagsTest, ParsesEveryForm) {
  const auto rest =
      ParseFlags(Program(), Arguments{"a", "--test_number=7", "-test_switch", "--test_text", "x y",
                                      "--notest_auto", "-", "--", "--test_number=8"});
  ASSERT_TRUE(rest.ok()) << rest.status();
  EXPECT_EQ(*rest, Arguments({"a", "-", "--test_number=8"}));
  EXPECT_EQ(absl::GetFlag(FLAGS_test_number), 7);
  EXPECT_TRUE(absl::GetFlag(FLAGS_test_switch));
  EXPECT_EQ(absl::GetFlag(FLAGS_test_text), "x y");
  EXPECT_EQ(absl::GetFlag(FLAGS_test_auto).given, false);
  ASSERT_TRUE(ParseFlags(Program(), Arguments{"--notest_switch", "--test_auto"}).ok());
  EXPECT_FALSE(absl::GetFlag(FLAGS_test_switch));
  EXPECT_EQ(absl::GetFlag(FLAGS_test_auto).given, true);
}

TEST(FlagsTest, RefusesWithOneLine) {
  const auto refused = [](const std::string& argument) {
    const auto rest = ParseFlags(Program(), Arguments{argument});
    EXPECT_FALSE(rest.ok()) << argument;
    return std::string(rest.status().message());
  };
  EXPECT_EQ(refused("--test_numbr=3"), "unknown flag --test_numbr; did you mean --test_number?");
  EXPECT_EQ(refused("--test_num=3"), "unknown flag --test_num; did you mean --test_number?");
  EXPECT_EQ(refused("--qqqqqqqqqq"), "unknown flag --qqqqqqqqqq; see --help");
  EXPECT_EQ(refused("--x"), "unknown flag --x; see --help");
  EXPECT_EQ(refused("--=3"), "unknown flag --; see --help");
  EXPECT_NE(refused("--test_hidden=3").find("unknown flag"), std::string::npos);
  EXPECT_EQ(refused("--test_number"), "--test_number needs a value");
  EXPECT_NE(refused("--test_number=x").find("\"x\" is not a valid value"), std::string::npos);
  EXPECT_NE(refused("--test_auto=x").find("must be auto, true or false"), std::string::npos);
  EXPECT_NE(refused("--notest_number").find("unknown flag"), std::string::npos);
}

TEST(FlagsTest, ListsOfValues) {
  ProgramInfo lists = Program();
  lists.groups[0].lists = true;
  ASSERT_TRUE(SetFlag("test_number", "5").ok());
  ASSERT_TRUE(ParseFlags(lists, Arguments{"--test_text=a,,b"}).ok());
  EXPECT_EQ(FlagValues("test_number"), Arguments({"5"}));
  EXPECT_EQ(FlagValues("test_text"), Arguments({"a", "", "b"}));
  EXPECT_EQ(absl::GetFlag(FLAGS_test_text), "b");
  ASSERT_TRUE(ParseFlags(lists, Arguments{"--test_number", "1,20"}).ok());
  EXPECT_EQ(FlagValues("test_number"), Arguments({"1", "20"}));
  const auto refused = ParseFlags(lists, Arguments{"--test_number=1,,2"});
  EXPECT_EQ(std::string(refused.status().message()), "--test_number: \"\" is not a valid value");
  EXPECT_FALSE(ParseFlags(Program(), Arguments{"--test_number=1,2"}).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(SetFlag("test_number", "x")));
  EXPECT_TRUE(absl::IsInvalidArgument(SetFlag("test_nothing", "1")));
}

TEST(FlagsTest, HelpNamesEveryFlagAndDefault) {
  const std::string help = HelpText(Program());
  EXPECT_NE(help.find("--test_number=4\n      A number.\n"), std::string::npos) << help;
  EXPECT_NE(help.find("--test_auto=auto"), std::string::npos);
  EXPECT_EQ(help.find("test_hidden"), std::string::npos);
}

}  // namespace
}  // namespace nibu::internal
