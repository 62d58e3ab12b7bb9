// Tests of models whose files are replaced while they are served.
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/paths.h"
#include "tests/tools/serve/service_under_test.h"

namespace nibu::internal {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A server of the models in a folder, whose files the tests replace.
class ReloadTest : public testing::Test {
 protected:
  ReloadTest()
      : folder_(fs::path(testing::TempDir()) /
                testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::remove_all(folder_);
    Put("forth", CaptionsModelPath());
    Put("back", TestdataPath("de-en"));
    service_.service().store().Offer(*Read(), options_);
  }

  void Put(const std::string& name, const std::string& model) {
    fs::remove_all(folder_ / name);
    fs::create_directories(folder_ / name);
    fs::copy(model, folder_ / name);
  }
  // Puts the first half of a file in its place, as someone who copies it has done for a while. The
  // old file itself stays as it is, since it is still mapped.
  void Halve(const std::string& file) {
    const fs::path half = folder_ / "half";
    fs::copy(folder_ / file, half);
    fs::resize_file(half, fs::file_size(half) / 2);
    fs::rename(half, folder_ / file);
  }

  // Reads the catalog as the server does at SIGHUP.
  absl::StatusOr<std::shared_ptr<const Catalog>> Read() {
    std::optional<absl::StatusOr<std::shared_ptr<const Catalog>>> read;
    service_.service().store().ReadCatalog({}, folder_, {}, [&](auto catalog, auto warnings) {
      read = std::move(catalog);
      warnings_ = std::move(warnings);
    });
    service_.RunUntil([&] { return read.has_value(); });
    return *std::move(read);
  }
  absl::Status Reload() {
    const auto catalog = Read();
    if (!catalog.ok()) return catalog.status();
    std::optional<absl::Status> loaded;
    service_.service().store().Preload(*catalog, options_,
                                       [&](absl::Status status) { loaded = std::move(status); });
    service_.RunUntil([&] { return loaded.has_value(); });
    if (loaded->ok()) service_.service().store().Offer(*catalog, options_);
    return *loaded;
  }

  Json Translate(const std::string& text) {
    return service_.Ask({{"q", text}, {"source", "en"}, {"target", "de"}});
  }
  std::string TranslationOf(const std::string& text) {
    return Translate(text).value("translatedText", "none");
  }

  const fs::path folder_;
  TestService service_;
  StoreOptions options_ = TestService::Float32({});
  std::vector<std::string> warnings_;
};

TEST_F(ReloadTest, AHalfCopiedModelKeepsTheOldOneInService) {
  EXPECT_THAT(TranslationOf("A dog runs."), HasSubstr("Hund"));
  for (const char* file : {"forth/config.json", "forth/model.safetensors", "back/config.json"}) {
    Halve(file);
    EXPECT_THAT(Reload().message(), HasSubstr(file));
    EXPECT_THAT(TranslationOf(absl::StrCat("Two dogs and ", file, ".")), HasSubstr("Hunde"));
    Put("forth", CaptionsModelPath());
    Put("back", TestdataPath("de-en"));
  }
  EXPECT_TRUE(Reload().ok());
  EXPECT_THAT(warnings_, IsEmpty());
  // The new model was read whole before the old one went, so this does not matter any more.
  Halve("forth/model.safetensors");
  EXPECT_THAT(TranslationOf("A dog runs."), HasSubstr("Hund"));
}

// The models that are loaded for the new catalog do not take the place of those that serve.
TEST_F(ReloadTest, TheMostModelsInMemoryDoNotCountWhileModelsAreReplaced) {
  options_.max_models = 1;
  ASSERT_TRUE(Reload().ok());
  EXPECT_THAT(TranslationOf("A dog runs."), HasSubstr("Hund"));
  Halve("forth/model.safetensors");
  EXPECT_FALSE(Reload().ok());
  EXPECT_THAT(TranslationOf("Two dogs."), HasSubstr("Hunde"));
}

TEST_F(ReloadTest, ModelsMayGoAndBrokenOnesMayCome) {
  EXPECT_THAT(TranslationOf("A dog runs."), HasSubstr("Hund"));
  fs::remove_all(folder_ / "forth");
  fs::create_directories(folder_ / "new");
  EXPECT_TRUE(Reload().ok());
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("new: no config.json in it")));
  EXPECT_THAT(Translate("A dog runs.").value("error", ""), HasSubstr("is not available"));
}

// Clients take 400 as final, but the operator can repair a model.
TEST_F(ReloadTest, ABrokenModelIsNoFaultOfARequest) {
  Halve("forth/model.safetensors");
  const Json failed = Translate("A dog runs.");
  EXPECT_EQ(failed["status"], 500);
  EXPECT_EQ(failed["error"], "the translation failed; the server's log says why");
  Put("forth", CaptionsModelPath());
  EXPECT_THAT(TranslationOf("A dog runs."), HasSubstr("Hund"));
}

}  // namespace
}  // namespace nibu::internal
