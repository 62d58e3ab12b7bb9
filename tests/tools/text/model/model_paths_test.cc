// Tests of the names of models: which path is found, and the error for a model that does not exist.
#include "tools/text/model/model_paths.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nibu/nibu.h"
#include "tests/paths.h"
#include "tests/tools/programs.h"

namespace nibu::internal {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

// Unsets variables of the environment and restores them.
class ModelPathsTest : public ::testing::Test {
 protected:
  static constexpr const char* kVariables[] = {"NIBU_MODELS", "XDG_DATA_HOME", "HOME"};

  ModelPathsTest()
      : folder_(fs::path(testing::TempDir()) / absl::StrCat("nibu_model_paths_", getpid())),
        working_(fs::current_path()) {
    for (const char* name : kVariables) {
      const char* value = std::getenv(name);
      saved_.push_back(value == nullptr ? "" : value);
      unsetenv(name);
    }
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "here");
    fs::current_path(folder_ / "here");
  }
  ~ModelPathsTest() override {
    fs::current_path(working_);
    fs::remove_all(folder_);
    for (size_t i = 0; i < saved_.size(); ++i) {
      unsetenv(kVariables[i]);
      if (!saved_[i].empty()) setenv(kVariables[i], saved_[i].c_str(), 1);
    }
  }

  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  void Set(const char* variable, const std::string& folder) const {
    setenv(variable, Path(folder).c_str(), 1);
  }
  // Adds a model of this name to a folder of models.
  void AddModel(const std::string& folder, const std::string& name) const {
    fs::create_directories(folder_ / folder);
    fs::create_directory_symlink(CaptionsModelPath(), folder_ / folder / name);
  }
  static std::string Error(const std::string& model) {
    EXPECT_EQ(FindModel(model), model);
    const absl::Status status = CheckModelExists(model);
    EXPECT_EQ(status.code(), absl::StatusCode::kNotFound) << model;
    const std::string message(status.message());
    EXPECT_EQ(message.find('\n'), std::string::npos);
    EXPECT_EQ(message.rfind(model + ": no such file or directory", 0), 0u) << message;
    return message;
  }

  fs::path folder_;
  fs::path working_;
  std::vector<std::string> saved_;
};

TEST_F(ModelPathsTest, TheFirstVariableThatIsSetNamesTheFolder) {
  EXPECT_EQ(ModelsFolder(), "");
  Set("HOME", "home");
  EXPECT_EQ(ModelsFolder(), Path("home/.local/share/nibu/models"));
  Set("XDG_DATA_HOME", "data");
  EXPECT_EQ(ModelsFolder(), Path("data/nibu/models"));
  setenv("NIBU_MODELS", "", 1);
  EXPECT_EQ(ModelsFolder(), Path("data/nibu/models"));
  Set("NIBU_MODELS", "models");
  EXPECT_EQ(ModelsFolder(), Path("models"));
}

TEST_F(ModelPathsTest, APathThatExistsWinsOverAName) {
  AddModel("models", "en-de");
  Set("NIBU_MODELS", "models");
  EXPECT_EQ(FindModel("en-de"), Path("models/en-de"));
  EXPECT_EQ(FindModel("en-de/"), Path("models/en-de"));
  EXPECT_EQ(FindModel("/"), "/");
  EXPECT_THAT(Error("./en-de"), Not(HasSubstr("of this name")));
  AddModel("here", "en-de");
  EXPECT_EQ(FindModel("en-de"), "en-de");
  EXPECT_EQ(FindModel("./en-de"), "./en-de");
  EXPECT_EQ(FindModel(Path("models/en-de")), Path("models/en-de"));
  // All files of a TensorFlow checkpoint begin with this path. Their reader has an error for them.
  std::ofstream("ckpt-1.index") << "any";
  EXPECT_EQ(CheckModelExists("ckpt-1"), absl::OkStatus());
  EXPECT_EQ(CheckModelExists("en-de"), absl::OkStatus());
}

TEST_F(ModelPathsTest, EveryModelOfAnEnsembleAndTheDraftMayBeNames) {
  AddModel("models", "one");
  AddModel("models", "two");
  AddModel("models", "draft");
  Set("NIBU_MODELS", "models");
  ModelOptions options;
  options.draft_model = "draft";
  const auto model = nibu::Model::Load("one,two", options);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ((*model)->info().path, Path("models/one"));
  EXPECT_THAT((*model)->info().ensemble, ElementsAre(Path("models/two")));
  options.draft_model = "drift";
  EXPECT_THAT(std::string(nibu::Model::Load("one,two", options).status().message()),
              HasSubstr("drift: no such file or directory"));
  EXPECT_THAT(std::string(nibu::Model::Load("one,three").status().message()),
              HasSubstr("three: no such file or directory"));
}

TEST_F(ModelPathsTest, TheErrorNamesTheCommand) {
  EXPECT_THAT(Error("opus-mt-en-fr"),
              EndsWith(": no such file or directory; tools/get_model.sh opus-mt-en-fr fetches it"));
  AddModel("models", "firefox-en-de");
  Set("NIBU_MODELS", "models");
  for (const std::string name : {"opus-mt-en-fr", "nllb-200-distilled-600M", "m2m100_418M",
                                 "madlad400-3b-mt", "firefox-en-fr", "argos-en-fr"}) {
    EXPECT_EQ(Error(name),
              absl::StrCat(name, ": no such file or directory, and no model of this ", "name in ",
                           Path("models"), "; tools/get_model.sh ", name, " fetches it"));
  }
  EXPECT_THAT(Error("fire-en-de"), HasSubstr("; did you mean firefox-en-de? tools/get_model.sh "));
  // Some names are nearly those of models, others are not.
  AddModel("models", "opus-mt-en-de");
  AddModel("models", "small");
  AddModel("models", ".argos-en-fr.part");
  EXPECT_THAT(
      Error("opus-mt-en-ed"),
      EndsWith("; did you mean opus-mt-en-de? tools/get_model.sh opus-mt-en-ed fetches it"));
  EXPECT_THAT(Error("opus-mt-ende/"),
              HasSubstr("of this name in " + Path("models") + "; did you mean opus-mt-en-de?"));
  for (const std::string name : {"opus-mt-en-fr", "argos-en-fr", "nope", "smut", "x"}) {
    EXPECT_THAT(Error(name), Not(HasSubstr("did you mean")));
  }
  EXPECT_THAT(Error("smal"), HasSubstr("did you mean small?"));
  EXPECT_THAT(Error("smlal"), HasSubstr("did you mean small?"));
  EXPECT_THAT(Error("https://host/a-b/m.zip"),
              EndsWith("; tools/get_model.sh https://host/a-b/m.zip fetches it"));
  EXPECT_THAT(Error("https://host/m.zip?a=1&b=$(x)"),
              EndsWith("; tools/get_model.sh 'https://host/m.zip?a=1&b=$(x)' fetches it"));
  EXPECT_THAT(Error("something/else"),
              EndsWith("; if it is a repository of Hugging Face, tools/get_model.sh something/else "
                       "fetches it"));
  // Only arguments that need no quotes are written without quotes in the command line.
  for (const std::string name : {"opus-mt-en-fr; rm x", "/no/such/model", "../x", "a/b/c",
                                 "opus-mt-$(x)", "-x", "https://host/'; rm x"}) {
    EXPECT_THAT(Error(name), EndsWith("; tools/get_model.sh fetches models, for example "
                                      "tools/get_model.sh opus-mt-en-fr"));
  }
}

TEST_F(ModelPathsTest, ProgramsFindModelsByName) {
  AddModel("data/nibu/models", "small");
  Set("XDG_DATA_HOME", "data");
  const std::string line = "A man is riding a bicycle.\n";
  const Outcome found = Translate("--model=small --compute_type=float32", line);
  EXPECT_EQ(found.out, "Ein Mann fährt Fahrrad.\n") << found.err;
  for (const std::string program : {"nibu-translate", "nibu-inspect", "nibu-convert --out=x.nibu",
                                    "nibu-bench", "nibu-score --tsv"}) {
    const std::string name = program.substr(0, program.find(' '));
    const std::string rest = program.substr(name.size());
    ExpectOneLineError(name, Shell(Program(name) + rest + " --model=opus-mt-en-fr", line), 1,
                       "tools/get_model.sh opus-mt-en-fr fetches it");
  }
}

}  // namespace
}  // namespace nibu::internal
