// Tests of the defaults that a model comes with: they are read, checked, and kept in every format.
#include "models/assembly/model_defaults.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "models/load_model.h"
#include "models/writers/hugging_face_writer.h"
#include "models/writers/native_writer.h"
#include "tests/models/files.h"
#include "tests/models/tiny_marian.h"

namespace nibu::internal {
namespace {

using ::testing::HasSubstr;
using testing::TempFolder;

constexpr char kAll[] =
    R"({"beam":3,"length_penalty":0.5,"word_penalty":-0.25,"max_length_factor":2.0,"length_ratio":1.25,"early_stopping":true})";

absl::StatusOr<ModelDefaults> Read(const std::string& text) {
  absl::StatusOr<ConfigFile> file = ConfigFile::Parse(text, "some.json");
  if (!file.ok()) return file.status();
  return ReadModelDefaults(*file, "beam");
}

TEST(ModelDefaults, AreReadAsTheyAreWritten) {
  for (const std::string text : {kAll, "{}", R"({"length_ratio":0.5})"}) {
    const auto defaults = Read(text);
    ASSERT_TRUE(defaults.ok()) << defaults.status();
    EXPECT_EQ(WriteModelDefaults(*defaults, "beam").dump(), text);
  }
}

TEST(ModelDefaults, EarlyStoppingIsTrueOrNot) {
  for (const char* value : {"false", "null", "\"never\""}) {
    const auto defaults = Read(absl::StrCat("{\"early_stopping\":", value, "}"));
    ASSERT_TRUE(defaults.ok()) << defaults.status();
    EXPECT_FALSE(defaults->early_stopping) << value;
  }
}

TEST(ModelDefaults, OutOfRange) {
  for (const auto& [text, expected] :
       {std::pair(R"({"beam":0})", "1 to 1024"), std::pair(R"({"length_ratio":0})", "0.1 to 10"),
        std::pair(R"({"length_ratio":"1"})", "length_ratio"),
        std::pair(R"({"length_penalty":1e9})", "-8 to 8"),
        std::pair(R"({"max_length_factor":-1})", "0 to 1000")}) {
    const absl::Status status = Read(text).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(status.message()), HasSubstr(expected)) << text;
    EXPECT_THAT(std::string(status.message()), HasSubstr("some.json")) << text;
  }
}

std::string DefaultsOf(const std::string& model) {
  const absl::StatusOr<OpenedModel> opened = OpenModel(model);
  if (!opened.ok()) return opened.status().ToString();
  return WriteModelDefaults(opened->defaults, "beam").dump();
}

TEST(ModelDefaults, StayWithAModelWhateverItsFormat) {
  const TempFolder folder;
  testing::TinyMarian().Write(folder);
  testing::WriteFile(folder / "generation_config.json",
                     std::string(kAll).replace(2, 4, "num_beams"));
  EXPECT_EQ(DefaultsOf(folder.path()), kAll);
  const auto opened = OpenModel(folder.path());
  ASSERT_TRUE(opened.ok()) << opened.status();
  ASSERT_TRUE(WriteNative(*opened, {}, folder / "a.nibu").ok());
  EXPECT_EQ(DefaultsOf(folder / "a.nibu"), kAll);
  ASSERT_TRUE(WriteHuggingFace(*opened, {}, folder / "hf").ok());
  EXPECT_EQ(DefaultsOf(folder / "hf"), kAll);
}

}  // namespace
}  // namespace nibu::internal
