// Tests that the same weights give the same translations in every container, and that the models of
// other systems give those systems' own outputs.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "tests/paths.h"
#include "tests/sanitizers.h"
#include "tests/tools/text/models.h"

namespace nibu::internal {
namespace {

const std::string kShared = SharedPath("");

std::vector<std::string> Lines(const std::string& path, size_t most) {
  std::ifstream in(path);
  std::vector<std::string> lines;
  for (std::string line; lines.size() < most && std::getline(in, line);) lines.push_back(line);
  return lines;
}

Options Greedy() {
  Options options;
  options.beam_size = 1;
  options.return_scores = false;
  options.split_sentences = false;
  options.protect = "none";
  return options;
}

// Returns the pieces of the best hypothesis of each line.
std::vector<std::string> Translate(LoadedModel loaded, const Options& options,
                                   const std::vector<std::string>& lines) {
  // The reference searches the whole vocabulary, and by log-probability alone.
  loaded.shortlist = nullptr;
  loaded.defaults = {};
  const auto model = ModelOf(std::move(loaded));
  EXPECT_TRUE(model.ok()) << model.status();
  std::vector<std::string> pieces;
  for (const nibu::Result& result : TranslateWith(NewTranslator().get(), *model, options, lines)) {
    pieces.push_back(absl::StrJoin(result.hypotheses[0].tokens, " "));
  }
  return pieces;
}

class FormatsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    NIBU_TOO_SLOW_FOR_SANITIZERS();
    if (!std::filesystem::exists(kShared)) GTEST_SKIP() << kShared << " is not there";
    source_ = Lines(kShared + "data/multi30k.test_2016_flickr.en", kLines);
  }

  // Returns how many lines of a model's greedy output differ from the reference's pieces.
  int Differences(const std::string& model, const std::string& reference) {
    absl::StatusOr<LoadedModel> loaded =
        LoadModel(kShared + "models/" + model, ComputeType::kFloat32);
    EXPECT_TRUE(loaded.ok()) << loaded.status();
    if (!loaded.ok()) return kLines;
    if (loaded->vocabulary.source_sentencepiece.empty()) {
      const std::string spm = kShared + "models/en-de-hf/source.spm";
      std::ifstream in(spm, std::ios::binary);
      loaded->vocabulary.source_sentencepiece.assign(std::istreambuf_iterator<char>(in), {});
      loaded->vocabulary.target_sentencepiece = loaded->vocabulary.source_sentencepiece;
    }
    const std::vector<std::string> pieces = Translate(*std::move(loaded), Greedy(), source_);
    const std::vector<std::string> expected = Lines(
        absl::StrCat(kShared, "golden/", reference, ".multi30k.test_2016_flickr.greedy.pieces"),
        kLines);
    EXPECT_EQ(pieces.size(), expected.size());
    int differences = 0;
    for (size_t i = 0; i < expected.size(); ++i) {
      const std::vector<std::string> scored = absl::StrSplit(expected[i], '\t');
      differences += pieces[i] != scored.at(1) ? 1 : 0;
    }
    return differences;
  }

  static constexpr int kLines = 200;
  std::vector<std::string> source_;
};

TEST_F(FormatsTest, OneModelInFiveContainers) {
  for (const char* model : {"en-de-hf", "en-de-hf-torch", "en-de-hf-torch-legacy", "en-de-ct2"}) {
    EXPECT_EQ(Differences(model, "en-de"), 0) << model;
  }
}

// An Argos Translate package of the same weights translates text alike.
TEST_F(FormatsTest, ArgosPackage) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(testing::TempDir()) / absl::StrCat("nibu_argos_", getpid());
  const fs::path package = folder / "translate-en_de-1_0";
  fs::create_directories(package);
  fs::copy(kShared + "models/en-de-ct2", package / "model");
  fs::copy_file(kShared + "models/en-de-hf/source.spm", package / "sentencepiece.model");
  std::ofstream(package / "metadata.json") << R"({"from_code": "en", "to_code": "de"})";
  std::vector<std::vector<std::string>> pieces;
  for (const std::string& path : {folder.string(), kShared + "models/en-de-hf"}) {
    auto loaded = LoadModel(path, ComputeType::kFloat32);
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    pieces.push_back(Translate(*std::move(loaded), Greedy(), source_));
  }
  EXPECT_EQ(pieces[0], pieces[1]);
  // The languages that the package states may be given as options.
  const auto model = LoadNibu(folder.string());
  const auto translator = NewTranslator();
  Options options;
  options.src_lang = "eng";
  options.tgt_lang = "de_DE";
  EXPECT_TRUE(translator->Prepare(model, options).ok());
  options.tgt_lang = "fr";
  EXPECT_EQ(translator->Prepare(model, options).status().message(),
            "tgt_lang=fr is not for this model, which is for de");
  fs::remove_all(folder);
}

TEST_F(FormatsTest, MarianModels) {
  EXPECT_EQ(Differences("en-de-marian", "marian-en-de"), 0);
  EXPECT_EQ(Differences("en-de-marian/model.npz", "marian-en-de"), 0);
  EXPECT_EQ(Differences("en-de-ssru-marian", "marian-en-de-ssru"), 0);
}

// The weights are the same except for their rounding. Marian's arithmetic rounds the inputs as
// well.
TEST_F(FormatsTest, MarianInt8) {
  EXPECT_LE(Differences("en-de-ssru-marian-int8", "marian-en-de-ssru-int8"), kLines / 5);
}

TEST_F(FormatsTest, CTranslate2Transliteration) {
  for (const char* type : {"", "-i16", "-i8"}) {
    for (const ComputeType compute_type : {ComputeType::kFloat32, ComputeType::kInt8}) {
      auto loaded = LoadModel(absl::StrCat(kShared, "models/ct2/v2/aren-transliteration", type),
                              compute_type);
      ASSERT_TRUE(loaded.ok()) << loaded.status();
      Options options = Greedy();
      options.tokenized = true;
      const std::vector<std::string> pieces =
          Translate(*std::move(loaded), options, {"آ ت ز م و ن"});
      EXPECT_EQ(pieces[0], "a t z m o n");
    }
  }
  const auto old = LoadModel(kShared + "models/ct2/v1/aren-transliteration", ComputeType::kFloat32);
  EXPECT_EQ(old.status().code(), absl::StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace nibu::internal
