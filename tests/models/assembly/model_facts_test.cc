// Tests of the facts that a model's README, licence and JSON files state, sound or damaged.
#include "models/assembly/model_facts.h"

#include <random>
#include <string>

#include "absl/strings/ascii.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/models/files.h"

namespace nibu::internal {
namespace {

using ::testing::IsEmpty;
using testing::TempFolder;
using testing::WriteFile;

ModelFacts Of(const std::string& name, const std::string& bytes) {
  const TempFolder folder;
  WriteFile(folder / name, bytes);
  return ReadModelFacts(folder.path());
}

ModelFacts Readme(const std::string& text) { return Of("README.md", text); }

ModelFacts License(const std::string& text) { return {{"license", text}}; }

constexpr char kCard[] =
    "---\nlanguage:\n- en\n- no\ntags:\n- translation\nlicense: cc-by-4.0\n---\n# opus-mt-en-no\n";
constexpr char kArgos[] =
    R"({"package_version": "1.9", "argos_version": "1.5", "from_code": "en", "from_name": "English",
        "to_code": "de", "to_name": "German"})";

TEST(ModelFacts, FrontMatter) {
  EXPECT_EQ(Readme(kCard), (ModelFacts{{"languages", "en, no"}, {"license", "cc-by-4.0"}}));
  EXPECT_EQ(Readme("---\r\nlanguage: de\r\nlicense: [mit, gpl]\r\n---\r\n"),
            (ModelFacts{{"languages", "de"}, {"license", "mit, gpl"}}));
  EXPECT_EQ(Readme("---\nlicense: other\nlicense_name: my-own\n---\n"), License("my-own"));
}

TEST(ModelFacts, AReadmeTellsTheLicense) {
  EXPECT_EQ(Readme("# en-de version 1.0\n\nAuthors: A and B\n\nThe model is licensed CC-BY 4.0\n"),
            License("The model is licensed CC-BY 4.0"));
  EXPECT_EQ(Readme("# Model\n\nText\n\n## License\n\n**CC0**\n\nMore\n"), License("CC0"));
  EXPECT_EQ(Readme("| data | pairs | licence |\n|---|---|---|\n| a | 1 | GPL, no licence |\n\n## "
                   "Licence\n\nMIT\n"),
            License("MIT"));
  EXPECT_EQ(Readme("---\nlanguage: de\n---\nLicence: MIT"),
            (ModelFacts{{"languages", "de"}, {"license", "Licence: MIT"}}));
  EXPECT_EQ(Of("LICENSE", "\n   Attribution 4.0\n\nInternational"), License("Attribution 4.0"));
}

TEST(ModelFacts, JsonFilesTellLanguagesAndVersions) {
  EXPECT_EQ(Of("metadata.json", kArgos), (ModelFacts{{"package_version", "1.9"},
                                                     {"argos_version", "1.5"},
                                                     {"source_language", "en"},
                                                     {"target_language", "de"}}));
  EXPECT_EQ(Of("metadata.json", R"({"architecture": "tiny", "sourceLanguage": "bg",
                                    "targetLanguage": "en", "version": "1.0"})"),
            (ModelFacts{{"source_language", "bg"}, {"target_language", "en"}}));
  EXPECT_EQ(Of("tokenizer_config.json", R"({"source_lang": "eng", "target_lang": null})"),
            (ModelFacts{{"source_language", "eng"}}));
}

TEST(ModelFacts, NothingIsNoError) {
  for (const char* text :
       {"", "\n", "---", "---\n", "---\nlicense: mit", "---\nlicense: &a mit\n---\n",
        "---\nlicense: \"mit\n---\n", "---\n- license\n---\n", "---\nlicense: 3\n---\n",
        "---\nlicense: {a: b}\n---\n", "---\nlicense:\n---\n", "---\nlicense: \"\\x01 \"\n---\n",
        "# License", "text --- license"}) {
    // A front matter that cannot be read states no licence, but a line of text with the word does.
    const ModelFacts facts = Readme(text);
    for (const auto& [key, value] : facts) EXPECT_EQ(key, "license") << text;
  }
  EXPECT_THAT(Readme("---\nlicense:\n- [mit]\n---\n"), IsEmpty());
  EXPECT_THAT(Of("metadata.json", "[]"), IsEmpty());
  EXPECT_THAT(Of("metadata.json", "{\"from_code\": "), IsEmpty());
  EXPECT_THAT(ReadModelFacts("/no/such/directory"), IsEmpty());
}

// Facts are short lines of UTF-8, whatever bytes the files have.
TEST(ModelFacts, DamagedFilesGiveShortLinesOfUtf8) {
  std::mt19937 random(11);
  const TempFolder folder;
  for (int i = 0; i < 2000; ++i) {
    const bool is_readme = i % 2 == 0;
    std::string bytes = is_readme ? kCard : kArgos;
    for (int n = 0; n < 3; ++n) bytes[random() % bytes.size()] = static_cast<char>(random());
    if (i % 5 == 4) bytes.resize(random() % bytes.size());
    WriteFile(folder / (is_readme ? "README.md" : "metadata.json"), bytes);
    for (const auto& [key, value] : ReadModelFacts(folder.path())) {
      EXPECT_NO_THROW(nlohmann::json(value).dump());
      EXPECT_TRUE(!value.empty() && value.size() <= 200) << key;
      for (const char c : value) EXPECT_FALSE(absl::ascii_iscntrl(static_cast<unsigned char>(c)));
    }
  }
  const std::string text = "license: " + std::string(1 << 22, '\xe4') + "\n";
  EXPECT_EQ(Readme(text), License("license:"));
  EXPECT_EQ(Readme("---\n" + text + "---\n").size(), 1u);
  EXPECT_LE(Readme("licence" + std::string(1 << 22, 'x'))["license"].size(), 200u);
}

}  // namespace
}  // namespace nibu::internal
