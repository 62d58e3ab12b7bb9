// Tests of command lines, configuration files and help that are made from rows of options.
#include "tools/cli/flags.h"

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/paths.h"
#include "tools/cli/help.h"

namespace nibu::internal {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

enum class Colour { kRed, kGreen };

// A struct of options. A new option is a field here and a row below.
struct TestOptions {
  int test_number = 4;
  bool test_switch = false;
  AutoBool test_auto;
  std::string test_text;
  std::vector<std::string> test_words;
  Colour test_colour = Colour::kRed;
  std::optional<float> test_model;
  int test_hidden = 1;
  int test_old = 0;
  std::string config;
};

absl::Span<const OptionRow> Rows() {
  static const auto& rows = *new std::vector<OptionRow>(OptionRows({
      Row<&TestOptions::test_number>({.help = "A number. It counts.", .group = "All", .least = 1}),
      Row<&TestOptions::test_switch>(
          {.help = "A switch.", .group = "All", .excludes = "test_text test_number=7"}),
      Row<&TestOptions::test_auto>({.help = "A switch with a mind of its own.", .group = "All"}),
      Row<&TestOptions::test_text>({.help = "A text.", .group = "All"}),
      Row<&TestOptions::test_words>({.help = "Words.", .group = "All"}),
      Row<&TestOptions::test_colour>({.help = "A colour.",
                                      .group = "Others",
                                      .values = "red green",
                                      .needs = "test_number=8"}),
      Row<&TestOptions::test_model>(
          {.help = "A model's default.", .group = "Others", .default_value = "0.5"}),
      Row<&TestOptions::test_hidden>(
          {.help = "An option of another program.", .group = "All", .programs = "other"}),
      Row<&TestOptions::test_old>(
          {.help = "An old number.", .group = "All", .replacement = "use --test_number"}),
      Row<&TestOptions::config>({.help = "A file of options.", .group = "All", .programs = "test"}),
  }));
  return rows;
}

ProgramInfo Program(TestOptions* options) {
  return {"nibu-test", "test", "[flags]", "A test.", {{Rows(), options}}};
}

using Arguments = std::vector<std::string>;

std::string Refusal(const Arguments& arguments) {
  TestOptions options;
  const auto rest = ParseFlags(Program(&options), arguments);
  EXPECT_FALSE(rest.ok());
  return std::string(rest.status().message());
}

std::string ConfigFile(const std::string& text) {
  const std::string path = ::testing::TempDir() + "/flags_test.yml";
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

TEST(FlagsTest, OnlyWhatTheUserSaidIsWrongUsage) {
  EXPECT_EQ(ExitStatus(UsageError(absl::InvalidArgumentError("beam_size must be 1"))), 2);
  EXPECT_EQ(ExitStatus(UsageError(absl::ResourceExhaustedError("out of memory"))), 1);
  EXPECT_EQ(ExitStatus(UsageError(absl::OkStatus())), 0);
}

TEST(FlagsTest, ParsesEveryForm) {
  TestOptions options;
  const auto rest =
      ParseFlags(Program(&options), Arguments{"a", "--test_number=7", "--test_text", "x y",
                                              "--notest_auto", "--test_words=a,,b", "--test_model",
                                              "0.25", "-", "--", "--test_number=8"});
  ASSERT_TRUE(rest.ok()) << rest.status();
  EXPECT_EQ(*rest, Arguments({"a", "-", "--test_number=8"}));
  EXPECT_EQ(options.test_number, 7);
  EXPECT_EQ(options.test_text, "x y");
  EXPECT_EQ(options.test_auto, false);
  EXPECT_EQ(options.test_words, Arguments({"a", "", "b"}));
  EXPECT_EQ(options.test_model, 0.25f);
  EXPECT_TRUE(WasGiven("test_text"));
  EXPECT_FALSE(WasGiven("test_colour"));
  TestOptions others;
  const Arguments switches = {"-test_switch", "--test_auto", "--test_number=8",
                              "--test_colour=green"};
  ASSERT_TRUE(ParseFlags(Program(&others), switches).ok());
  EXPECT_TRUE(others.test_switch);
  EXPECT_EQ(others.test_auto, true);
  EXPECT_EQ(others.test_colour, Colour::kGreen);
  ASSERT_TRUE(ParseFlags(Program(&others), Arguments{"--notest_switch", "--test_auto=auto"}).ok());
  EXPECT_FALSE(others.test_switch);
  EXPECT_EQ(others.test_auto, std::nullopt);
}

TEST(FlagsTest, RefusesWithOneLine) {
  const auto refused = [](const std::string& argument) { return Refusal({argument}); };
  EXPECT_EQ(refused("--test_numbr=3"), "unknown flag --test_numbr; did you mean --test_number?");
  EXPECT_EQ(refused("--test_num=3"), "unknown flag --test_num; did you mean --test_number?");
  EXPECT_EQ(refused("--qqqqqqqqqq"), "unknown flag --qqqqqqqqqq; see --help=all");
  EXPECT_EQ(refused("--x"), "unknown flag --x; see --help=all");
  EXPECT_EQ(refused("--=3"), "unknown flag --; see --help=all");
  EXPECT_THAT(refused("--test_hidden=3"), HasSubstr("unknown flag"));
  EXPECT_EQ(refused("--test_number"), "--test_number needs a value");
  EXPECT_EQ(refused("--test_number=x"), "--test_number: \"x\" is not a number");
  EXPECT_EQ(refused("--test_number=0"), "--test_number must be at least 1, not 0");
  EXPECT_EQ(refused("--test_number=2.5"),
            "--test_number must be a whole number from 1 to 2147483647, not 2.5");
  EXPECT_EQ(refused("--test_number=99999999999"),
            "--test_number must be a whole number from 1 to 2147483647, not 99999999999");
  EXPECT_EQ(refused("--test_colour=blue"), "--test_colour must be red or green, not \"blue\"");
  EXPECT_EQ(refused("--test_auto=x"), "--test_auto must be auto, true or false, not \"x\"");
  EXPECT_THAT(refused("--notest_number"), HasSubstr("unknown flag"));
}

TEST(FlagsTest, OptionsExcludeAndNeedOthers) {
  EXPECT_EQ(Refusal({"--test_switch", "--test_text=x"}),
            "--test_switch and --test_text do not go together");
  EXPECT_EQ(Refusal({"--test_switch", "--test_number=7"}),
            "--test_switch and --test_number=7 do not go together");
  EXPECT_EQ(Refusal({"--test_colour=green"}),
            "--test_colour means nothing without --test_number=8");
  TestOptions options;
  EXPECT_TRUE(ParseFlags(Program(&options), Arguments{"--test_switch", "--test_text="}).ok());
}

TEST(FlagsTest, ListsOfValues) {
  TestOptions options;
  ProgramInfo lists = Program(&options);
  lists.lists = "test_number test_text";
  ASSERT_TRUE(ParseFlags(lists, Arguments{"--test_text=a,,b"}).ok());
  EXPECT_EQ(FlagValues("test_number"), Arguments({"4"}));
  EXPECT_EQ(FlagValues("test_text"), Arguments({"a", "", "b"}));
  EXPECT_EQ(options.test_text, "b");
  ASSERT_TRUE(ParseFlags(lists, Arguments{"--test_number", "1,20"}).ok());
  EXPECT_EQ(FlagValues("test_number"), Arguments({"1", "20"}));
  const auto refused = ParseFlags(lists, Arguments{"--test_number=1,,2"});
  EXPECT_EQ(std::string(refused.status().message()), "--test_number: \"\" is not a number");
  EXPECT_EQ(Refusal({"--test_number=1,2"}), "--test_number: \"1,2\" is not a number");
  EXPECT_TRUE(absl::IsInvalidArgument(SetFlag("test_number", "x")));
  EXPECT_TRUE(absl::IsInvalidArgument(SetFlag("test_nothing", "1")));
}

TEST(FlagsTest, ConfigFileComesBehindTheCommandLine) {
  const std::string path = ConfigFile(
      "# options\ntest_number: 9\ntest_switch: true\ntest_words: [a, 1, true]\n\"test_model\": "
      "2\n");
  TestOptions options;
  const auto parsed =
      ParseFlags(Program(&options), Arguments{"--test_number=5", "--config=" + path});
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(options.test_number, 5);
  EXPECT_TRUE(options.test_switch);
  EXPECT_EQ(options.test_words, Arguments({"a", "1", "true"}));
  EXPECT_EQ(options.test_model, 2);
  EXPECT_TRUE(WasGiven("test_switch"));
}

TEST(FlagsTest, ConfigFileHasValuesAsTheyAreWritten) {
  for (const char* value : {"1.10", "0777", "1e5", "18446744073709551615", "true", "0x10"}) {
    TestOptions options;
    const std::string path = ConfigFile(absl::StrCat("test_text: ", value));
    ASSERT_TRUE(ParseFlags(Program(&options), Arguments{"--config=" + path}).ok());
    EXPECT_EQ(options.test_text, value);
  }
  TestOptions options;
  ASSERT_TRUE(ParseFlags(Program(&options), Arguments{"--config="}).ok());
  const std::string map = ConfigFile("{test_number: 2, test_words: [a, 1.10]}");
  ASSERT_TRUE(ParseFlags(Program(&options), Arguments{"--config=" + map}).ok());
  EXPECT_EQ(options.test_words, Arguments({"a", "1.10"}));
}

TEST(FlagsTest, ConfigFileIsRefusedWithItsLine) {
  const auto refused = [](const std::string& text) {
    return Refusal({"--config=" + ConfigFile(text)});
  };
  const std::string path = ConfigFile("");
  EXPECT_EQ(refused("test_number: 2\ntest_numbr: 3\n"),
            path + ": line 2: unknown option test_numbr; did you mean test_number?");
  EXPECT_EQ(refused("\n\ntest_number: 0\n"),
            path + ": line 3: test_number must be at least 1, not 0");
  EXPECT_EQ(refused("test_number: {a: 1}"),
            path + ": line 1: test_number must be a value or a list of values");
  EXPECT_EQ(refused("test_number:"),
            path + ": line 1: test_number must be a value or a list of values");
  EXPECT_THAT(refused("config: x.yml"), HasSubstr("line 1: unknown option config"));
  EXPECT_THAT(refused("test_hidden: 3"), HasSubstr("unknown option test_hidden"));
  EXPECT_THAT(refused("test_text: |\n  foo: 1\n? foo\n: 1"),
              HasSubstr("line 3: unknown option foo"));
  EXPECT_THAT(refused("{\"test_number\": 2,\n \"foo\": 3}"),
              HasSubstr("line 2: unknown option foo"));
  EXPECT_THAT(refused("- 1"), HasSubstr("must be a map"));
  TestOptions options;
  for (const char* text : {"test_number:", "a: 1\na: 2", "- 1", "test_number: x", "a: [1"}) {
    const auto parsed = ParseFlags(Program(&options), Arguments{"--config=" + ConfigFile(text)});
    EXPECT_EQ(ExitStatus(parsed.status()), 2) << text;
  }
  EXPECT_THAT(refused("a: 1\na: 2"), HasSubstr("line 2"));
  EXPECT_EQ(refused("test_switch: true\ntest_text: x"),
            "--test_switch and --test_text do not go together");
  EXPECT_THAT(Refusal({"--config=/nowhere/x.yml"}), HasSubstr("/nowhere/x.yml"));
}

TEST(FlagsTest, EveryKindOfHelpHasTheOption) {
  TestOptions options;
  const ProgramInfo program = Program(&options);
  for (const auto& [kind, text] :
       {std::pair("", "--test_number=4             A number.\n"),
        {"all", "--test_number=4\n      A number. It counts. Range: 1 or more.\n"},
        {"man", "\\fB\\-\\-test_number\\fR=\\fI4\\fR\nA number. It counts. Range: 1 or more.\n"},
        {"markdown", "| `--test_number` | `4` | A number. It counts. Range: 1 or more. |\n"},
        {"bash", "--test_number="},
        {"zsh", "'--test_number=[A number.]:test_number:"}}) {
    const auto help = HelpText(program, kind);
    ASSERT_TRUE(help.ok()) << help.status();
    EXPECT_THAT(*help, HasSubstr(text)) << kind;
    EXPECT_THAT(*help, Not(HasSubstr("test_hidden"))) << kind;
  }
  EXPECT_THAT(*HelpText(program, "all"),
              HasSubstr("A colour. One of red, green. It needs --test_number=8.\n"));
  EXPECT_THAT(*HelpText(program, "all"), HasSubstr("--test_auto=auto"));
  EXPECT_THAT(*HelpText(program, "all"), HasSubstr("--test_model=0.5"));
  EXPECT_EQ(ExitStatus(HelpText(program, "pdf").status()), 2);
}

// The environment stands between the configuration file and the command line.
// An option warns for a release before it goes, however it is given, and works as before.
TEST(FlagsTest, OldOptionsWarn) {
  TestOptions options;
  const auto warning = [&](const Arguments& arguments) {
    ::testing::internal::CaptureStderr();
    EXPECT_TRUE(ParseFlags(Program(&options), arguments).ok());
    return ::testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(warning({"--test_number=2"}), "");
  const char kSaid[] = ": warning: the next release has no --test_old; use --test_number\n";
  EXPECT_THAT(warning({"--test_old=2"}), EndsWith(kSaid));
  EXPECT_EQ(options.test_old, 2);
  EXPECT_THAT(warning({"--config=" + ConfigFile("test_old: 3\n")}), EndsWith(kSaid));
  EXPECT_EQ(options.test_old, 3);
  EXPECT_THAT(*HelpText(Program(&options), "all"),
              HasSubstr("The next release does not have it; use --test_number."));
}

TEST(FlagsTest, Environment) {
  const auto parsed = [](const Arguments& arguments, bool has_environment = true) {
    TestOptions options;
    ProgramInfo program = Program(&options);
    program.has_environment = has_environment;
    const auto result = ParseFlags(program, arguments);
    return result.ok() ? absl::StrCat(options.test_number) : std::string(result.status().message());
  };
  const std::string file = "--config=" + ConfigFile("test_number: 5");
  EXPECT_EQ(parsed({file}), "5");
  setenv("NIBU_TEST_NUMBER", "6", 1);
  EXPECT_EQ(parsed({file}), "6");
  EXPECT_TRUE(WasGiven("test_number"));
  EXPECT_EQ(parsed({file, "--test_number=7"}), "7");
  EXPECT_EQ(parsed({file}, /*has_environment=*/false), "5");
  setenv("NIBU_TEST_NUMBER", "x", 1);
  EXPECT_THAT(parsed({}), HasSubstr("NIBU_TEST_NUMBER: "));
  setenv("NIBU_TEST_NUMBER", "", 1);
  EXPECT_EQ(parsed({file}), "5");
  unsetenv("NIBU_TEST_NUMBER");
  setenv("NIBU_CONFIG", ConfigFile("test_number: 8").c_str(), 1);
  EXPECT_EQ(parsed({}), "8");
  unsetenv("NIBU_CONFIG");
}

}  // namespace
}  // namespace nibu::internal
