// Tests of the catalog, and of ChooseModel: which models translate between which languages.
#include "tools/text/model/catalog.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/models/files.h"
#include "tests/paths.h"

namespace nibu::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

absl::StatusOr<std::shared_ptr<const Catalog>> Read(const std::vector<std::string>& models,
                                                    const std::string& folder = "",
                                                    const std::vector<std::string>& pinned = {},
                                                    std::vector<std::string>* warnings = nullptr) {
  std::vector<std::string> unused;
  return Catalog::Read(models, folder, pinned, nullptr, warnings != nullptr ? warnings : &unused);
}

// Returns the languages as "en: de en, de: de".
std::string Languages(const Catalog& catalog) {
  std::vector<std::string> languages;
  for (const ServedLanguage& language : catalog.languages()) {
    languages.push_back(absl::StrCat(language.code, ": ", absl::StrJoin(language.targets, " ")));
  }
  return absl::StrJoin(languages, ", ");
}

TEST(CatalogTest, LanguagesOfOneModel) {
  const auto catalog = *Read({CaptionsModelPath()});
  EXPECT_EQ(Languages(*catalog), "en: de en, de: de");
  EXPECT_EQ(catalog->FindLanguage("en")->name, "English");
  EXPECT_EQ(catalog->FindLanguage("EN-us")->code, "en");
  EXPECT_EQ(catalog->FindLanguage("deu_Latn")->code, "de");
  EXPECT_EQ(catalog->FindLanguage("zz"), nullptr);
  EXPECT_EQ(catalog->FindLanguage("auto"), nullptr);
  EXPECT_EQ(catalog->FindLanguage(""), nullptr);
  EXPECT_TRUE(catalog->FindRoute("en", "de").has_value());
  EXPECT_FALSE(catalog->FindRoute("de", "en").has_value());
  EXPECT_TRUE(catalog->models()[0]->is_pinned);
}

TEST(CatalogTest, TwoModelsInARow) {
  const std::string path = TestdataPath("de-en");
  // The model translates other languages, but the catalog cannot know this.
  const auto catalog = *Read({absl::StrCat("fr-en=", path), absl::StrCat("en-it=", path),
                              absl::StrCat("it-es=", path), absl::StrCat("en-zh_TW=", path),
                              absl::StrCat("en-zh=", path), absl::StrCat("en-pt_BR=", path)});
  EXPECT_EQ(catalog->FindLanguage("es")->targets, std::vector<std::string>{"es"});
  const auto names = [&](const char* source, const char* target) -> std::string {
    const auto route = catalog->FindRoute(source, target);
    if (!route.has_value()) return "none";
    const auto name = [](const ServedModel& model) {
      return absl::StrCat(model.sources.begin()->first, "-", model.targets.begin()->first);
    };
    if (route->second == nullptr) return name(*route->first);
    return absl::StrCat(name(*route->first), " ", name(*route->second));
  };
  EXPECT_EQ(names("fr", "en"), "fr-en");
  EXPECT_EQ(names("fr", "it"), "fr-en en-it");
  EXPECT_EQ(names("en", "es"), "en-it it-es");
  EXPECT_EQ(names("fr", "es"), "none");  // That takes three models.
  EXPECT_EQ(names("fr", "fr"), "none");
  EXPECT_EQ(catalog->FindLanguage("zh")->code, "zh-Hans");
  EXPECT_EQ(catalog->FindLanguage("ZT")->code, "zh-Hant");
  EXPECT_EQ(catalog->FindLanguage("zh-tw")->code, "zh-Hant");
  EXPECT_EQ(catalog->FindLanguage("pb")->code, "pt-BR");
  EXPECT_EQ(catalog->FindLanguage("zh-hant")->name, "Chinese (Traditional)");
}

// Each target language of such a model is served, with the option's value that chooses it.
TEST(CatalogTest, ModelsWithLanguageTokens) {
  const auto madlad = *Read({TestdataPath("madlad")});
  EXPECT_EQ(Languages(*madlad), "en: de en, de: de en");
  EXPECT_EQ(madlad->FindRoute("en", "de")->tgt_lang, "de");

  testing::TinyMarian tiny;
  tiny.vocabulary = {{"</s>", 0},   {"<unk>", 1}, {">>fra<<", 2}, {">>pt_BR<<", 3},
                     {">>it<<", 4}, {"d", 5},     {"<pad>", 6}};
  const testing::TempFolder folder;
  const auto write = [&](const char* name, const char* source, const char* target) {
    std::filesystem::create_directories(folder / name);
    tiny.tokenizer["source_lang"] = source;
    tiny.tokenizer["target_lang"] = target;
    tiny.Write(folder, name);
    return folder / name;
  };
  const auto romance = *Read({write("opus-mt-en-roa", "eng", "roa")});
  EXPECT_EQ(Languages(*romance), "en: en fr it pt-BR, fr: fr, it: it, pt-BR: pt-BR");
  EXPECT_EQ(romance->FindRoute("en", "fr")->tgt_lang, "fra");
  EXPECT_EQ(romance->FindRoute("en", "pt-BR")->tgt_lang, "pt_BR");
  const auto between = *Read({write("opus-mt-roa-roa", "roa", "roa")});
  EXPECT_EQ(between->FindRoute("fr", "it")->tgt_lang, "it");
  // Its name tells what its files do not.
  const auto named = *Read({write("opus-mt-en-mul", "", "")});
  EXPECT_EQ(named->FindRoute("en", "it")->tgt_lang, "it");
  const auto one = *Read({"en-fr=" + folder / "opus-mt-en-roa"});
  EXPECT_EQ(Languages(*one), "en: en fr, fr: fr");
  EXPECT_EQ(one->FindRoute("en", "fr")->tgt_lang, "fra");
}

TEST(CatalogTest, FoldersOfModels) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(::testing::TempDir()) / "models";
  fs::remove_all(folder);
  fs::create_directories(folder / "empty");
  fs::create_symlink(CaptionsModelPath(), folder / "captions");
  fs::create_symlink(TestdataPath("de-en"), folder / "back");
  std::vector<std::string> warnings;
  const auto catalog = *Read({}, folder, {"back"}, &warnings);
  EXPECT_EQ(Languages(*catalog), "en: de en, de: de en");
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("empty: no config.json in it")));
  std::vector<std::string> pinned;
  for (const auto& model : catalog->models()) {
    if (model->is_pinned) pinned.push_back(model->name);
  }
  EXPECT_THAT(pinned, ElementsAre("back"));
  EXPECT_THAT(Read({}, folder, {"other"}).status().message(), HasSubstr("no model other in it"));
  EXPECT_THAT(Read({}, folder / "empty").status().message(), HasSubstr("no model in it"));
  EXPECT_THAT(Read({}, folder / "none").status().message(), HasSubstr("none: No such file"));
  EXPECT_THAT(Read({"/no/such/model"}).status().message(), HasSubstr("/no/such/model"));
}

// Sets a variable of the environment, and restores it.
class Environment {
 public:
  Environment(const char* name, const std::string& value) : name_(name) {
    if (const char* const before = std::getenv(name)) before_ = before;
    setenv(name, value.c_str(), 1);
  }
  ~Environment() {
    if (before_.has_value()) {
      setenv(name_, before_->c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* const name_;
  std::optional<std::string> before_;
};

TEST(ChooseModelTest, DirectlyOrThroughEnglish) {
  const std::string folder = absl::StrCat(::testing::TempDir(), "/choose_model");
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  std::filesystem::create_directory_symlink(CaptionsModelPath(), folder + "/captions-en-de");
  std::filesystem::create_directory_symlink(TestdataPath("de-en"), folder + "/de-en");
  std::filesystem::create_directory_symlink(TestdataPath("m2m"), folder + "/m2m");
  std::ofstream(folder + "/notes.txt") << "no model";
  const Environment models("NIBU_MODELS", folder);
  const auto direct = ChooseModel("deu", "en");
  ASSERT_TRUE(direct.ok()) << direct.status();
  EXPECT_EQ(direct->path, folder + "/de-en");
  EXPECT_EQ(direct->pivot, "");
  const auto told = ChooseModel("de", "fr");
  ASSERT_TRUE(told.ok()) << told.status();
  EXPECT_EQ(told->path, folder + "/m2m");
  EXPECT_EQ(told->src_lang, "de");
  EXPECT_EQ(told->tgt_lang, "fr");
  std::filesystem::remove(folder + "/m2m");
  std::filesystem::create_directory_symlink(TestdataPath("m2m"), folder + "/en-fr");
  EXPECT_TRUE(absl::IsInvalidArgument(ChooseModel("de", "no language").status()));
  const auto none = ChooseModel("ja", "fi");
  EXPECT_TRUE(absl::IsNotFound(none.status()));
  EXPECT_THAT(std::string(none.status().message()), HasSubstr("nibu-get-model"));
  const Environment empty("NIBU_MODELS", "/no/such/folder");
  EXPECT_TRUE(absl::IsNotFound(ChooseModel("ja", "fi").status()));
}

}  // namespace
}  // namespace nibu::internal
